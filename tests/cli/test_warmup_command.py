"""`obscuro warmup` with a stand-in for the engine."""

import argparse
from typing import cast

import pytest
from rich.console import Console

from obscuro.cli import warmup_command as warmup
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.network import NetworkError
from tests.cli.conftest import written
from tests.matches.scripted import FakePlayer


def test_says_each_step_and_where_the_kernels_are(console: Console, monkeypatch: object) -> None:
    engine = FakePlayer()
    code = warmup.run(
        argparse.Namespace(), make=lambda options, warn: engine, fetch=list, console=console
    )
    assert code == 0
    assert engine.prepared and engine.closed == 1
    lines = written(console).splitlines()
    assert lines[:2] == ["Stockfish's network", "one step"]
    assert lines[-1].startswith("Ready after ")


def test_shows_a_bar_on_a_terminal(terminal: Console) -> None:
    engine = FakePlayer()
    warmup.run(
        argparse.Namespace(), make=lambda options, warn: engine, fetch=list, console=terminal
    )
    assert "one step" in written(terminal)


def test_goes_on_without_a_network(console: Console) -> None:
    def fetch() -> list[InstalledNetwork]:
        raise NetworkError("there is none", "get one")

    engine = FakePlayer()
    code = warmup.run(
        argparse.Namespace(), make=lambda options, warn: engine, fetch=fetch, console=console
    )
    assert code == 0
    assert engine.prepared
    assert "note: there is none; get one" in written(console).splitlines()


def test_compiles_what_evaluates_by_the_network(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    monkeypatch.setattr(warmup, "compile_network_kernels", lambda: compiled.append(True))
    installed = cast(InstalledNetwork, None)
    warmup.run(
        argparse.Namespace(),
        make=lambda options, warn: FakePlayer(),
        fetch=lambda: [installed],
        console=console,
    )
    assert compiled == [True]
