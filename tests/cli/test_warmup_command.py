"""`obscuro warmup` with a stand-in for the engine."""

import argparse
from collections.abc import Callable
from typing import cast

import pytest
from rich.console import Console

from obscuro.cli import warmup_command as warmup
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.network import NetworkError
from tests.cli.conftest import written
from tests.matches.scripted import FakePlayer


def run(console: Console, fetch: Callable[[], list[InstalledNetwork]] = list) -> str:
    """Warm up and check that the engine was prepared; return what was written."""
    engine = FakePlayer()
    code = warmup.run(
        argparse.Namespace(player="obscuro"),
        make=lambda options, warn: engine,
        fetch=fetch,
        console=console,
    )
    assert (code, engine.prepared, engine.closed) == (0, True, 1)
    return written(console)


def test_it_names_each_step_and_where_the_kernels_are(console: Console, terminal: Console) -> None:
    lines = run(console).splitlines()
    assert lines[:2] == ["Stockfish's network", "one step"]
    assert lines[-1].startswith("Ready after ")
    assert "one step" in run(terminal)


def test_goes_on_without_a_network(console: Console) -> None:
    def fetch() -> list[InstalledNetwork]:
        raise NetworkError("there is none", "get one")

    assert "note: there is none; get one" in run(console, fetch).splitlines()


def test_compiles_what_evaluates_by_the_network(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    monkeypatch.setattr(warmup, "compile_network_kernels", lambda: compiled.append(True))
    run(console, lambda: [cast(InstalledNetwork, None)])
    assert compiled == [True]
