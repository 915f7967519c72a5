"""The tool that makes Stockfish fail in mid-search: `tools.proofs.evaluator_faults`."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tools.proofs import evaluator_faults

NO_POSITIONS = np.empty(0)


class Process:
    """An evaluator of one thread; without `pid`, its Stockfish is still to start."""

    name = "stockfish"

    def __init__(self, pid: int | None) -> None:
        self.pid = pid

    def evaluate(self, positions: np.ndarray) -> None:
        """Take no time."""


class Searching:
    """A player whose last thread alone evaluates, once before the fault and once after it."""

    fault_is_over = threading.Event()

    def __init__(self, options: object, warn: object) -> None:
        evaluators = [Process(7), Process(None), Process(8)]
        games = [SimpleNamespace(evaluator=each) for each in evaluators]
        self.equipment = SimpleNamespace(evaluators=evaluators, games=games)

    def search(self, limits: object, stop: object) -> Any:
        """Evaluate, wait until both processes were struck, and evaluate again."""
        last = self.equipment.games[-1].evaluator
        last.evaluate(NO_POSITIONS)
        assert self.fault_is_over.wait(60)
        last.evaluate(NO_POSITIONS)
        return SimpleNamespace(move="e2e4")

    def prepare(self) -> None:
        """Nothing to prepare."""

    def new_game(self, side: int, position: object) -> None:
        """Nothing to forget."""

    def close(self) -> None:
        """Nothing to end."""


def test_all_processes_are_struck_and_the_expansions_of_all_threads_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluator_faults, "Player", Searching)
    monkeypatch.setattr(evaluator_faults, "unwrapped", lambda evaluator: evaluator)
    monkeypatch.setattr(evaluator_faults, "FAULT_AT", 0.0)
    Searching.fault_is_over.clear()
    struck = []

    def fault(pid: int) -> None:
        struck.append(pid)
        if pid == 8:
            Searching.fault_is_over.set()

    _, after, warnings, then = evaluator_faults.search("stockfish", fault)
    assert struck == [7, 8]
    assert after < float("inf"), "no expansion was seen after the fault"
    assert not warnings and then == "stockfish"


def test_gaps_are_told_apart_by_the_fault() -> None:
    gaps = evaluator_faults.longest_gaps([1.0, 1.1, 1.4, 2.0, 2.1], 1.5)
    assert gaps == pytest.approx((0.3, 0.5))
    assert evaluator_faults.longest_gaps([], 1.5) == (0.0, float("inf"))
