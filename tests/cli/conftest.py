"""Consoles that write to a string: plain, as into a file, or like a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console


@pytest.fixture
def console() -> Console:
    """Not a terminal, 80 columns wide."""
    return Console(file=io.StringIO(), width=80, highlight=False, markup=False)


@pytest.fixture
def terminal() -> Console:
    """A terminal with colours, 80 columns wide."""
    return Console(
        file=io.StringIO(),
        width=80,
        height=24,
        highlight=False,
        markup=False,
        force_terminal=True,
        color_system="256",
        _environ={"TERM": "xterm"},
    )


def written(console: Console) -> str:
    """All that was written to a console."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
