"""`obscuro warmup` with a stand-in for the engine."""

import argparse

from rich.console import Console

from obscuro.cli import warmup
from tests.arena.scripted import FakePlayer
from tests.cli.conftest import written


def test_says_each_step_and_where_the_kernels_are(console: Console, monkeypatch: object) -> None:
    engine = FakePlayer()
    code = warmup.run(argparse.Namespace(), make=lambda options, warn: engine, console=console)
    assert code == 0
    assert engine.prepared and engine.closed == 1
    lines = written(console).splitlines()
    assert lines[0] == "one step"
    assert lines[-1].startswith("Ready after ")


def test_shows_a_bar_on_a_terminal(terminal: Console) -> None:
    engine = FakePlayer()
    warmup.run(argparse.Namespace(), make=lambda options, warn: engine, console=terminal)
    assert "one step" in written(terminal)
