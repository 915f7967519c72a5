"""The tools that measure evaluators."""

from __future__ import annotations

import itertools

import chess
import numpy as np
import pytest

from obscuro.evaluation.material import MaterialEvaluator
from tests.evaluation.naive import needs_stockfish, words_of
from tools.proofs import evaluator_faults
from tools.speed import cache_gain


def test_gaps_are_told_before_a_fault_and_from_it_on() -> None:
    done = [1.0, 1.1, 1.3, 1.9, 2.0]
    before, after = evaluator_faults.longest_gaps(done, 1.5)
    assert before == pytest.approx(0.2)
    assert after == pytest.approx(0.4)  # from the fault to the next batch
    assert evaluator_faults.longest_gaps([], 1.0) == (0.0, float("inf"))


@needs_stockfish
def test_a_fault_in_a_search_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator_faults, "MOVETIME", 300)
    monkeypatch.setattr(evaluator_faults, "FAULT_AT", 0.05)
    struck: list[int] = []
    program = evaluator_faults.stockfish_path()
    assert program is not None
    before, after, warnings, name = evaluator_faults.search(program, struck.append)
    assert len(struck) == 1 and struck[0] > 0
    assert before >= 0 and after > 0
    assert (warnings, name) == ([], "stockfish")


def test_batches_are_recorded_as_they_come_and_timed_whole() -> None:
    batches: list[np.ndarray] = []
    recorder = cache_gain.Recorder(MaterialEvaluator(), batches)
    positions = words_of([chess.Board()])
    for _ in range(3):
        recorder.evaluate(positions)
    positions[:] = 0
    assert [len(batch) for batch in batches] == [1, 1, 1]
    assert (batches[0] == words_of([chess.Board()])).all()
    ticks = itertools.count()
    assert cache_gain.seconds(MaterialEvaluator(), batches, lambda: next(ticks)) == 1.0
