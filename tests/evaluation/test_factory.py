"""Going on without Stockfish, and making evaluators by name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.factory import BUILT_IN, FAILURES, FallbackEvaluator, make_evaluator
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from tests.evaluation.fakes import QUICK, fake_search
from tests.evaluation.naive import STOCKFISH, needs_stockfish, words_of

POSITIONS = words_of([chess.Board()])
NOTHING = ChildValues(
    np.zeros(1, dtype=np.int64),
    np.zeros(0, dtype=np.uint32),
    np.zeros(0, dtype=np.float32),
    np.zeros(0, dtype=np.uint8),
)


class Scripted:
    """An evaluator that fails when it is told to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fails = False
        self.batches = 0
        self.closed = False

    def start(self) -> None:
        if self.fails:
            raise EvaluatorFailed("it is out of order")

    def evaluate(self, positions: np.ndarray) -> ChildValues:
        self.batches += 1
        self.start()
        return NOTHING

    def close(self) -> None:
        self.closed = True


class Pair:
    """A FallbackEvaluator, its two parts, and its warnings."""

    def __init__(self) -> None:
        self.first, self.second = Scripted("first"), Scripted("second")
        self.warnings: list[str] = []
        self.both = FallbackEvaluator(self.first, self.second, self.warnings.append)

    def evaluate(self, times: int = 1) -> None:
        for _ in range(times):
            self.both.evaluate(POSITIONS)


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_the_first_is_used_while_it_works(pair: Pair) -> None:
    pair.both.start()
    pair.evaluate(3)
    assert (pair.first.batches, pair.second.batches, pair.warnings) == (3, 0, [])
    assert pair.both.name == "first"


def test_what_does_not_start_is_given_up_with_one_warning(pair: Pair) -> None:
    pair.first.fails = True
    pair.both.start()
    pair.evaluate(3)
    assert (pair.first.batches, pair.second.batches) == (0, 3)
    assert pair.warnings == ["it is out of order; evaluating by second from now on"]
    assert pair.both.name == "second"


def test_a_failed_batch_does_not_end_it(pair: Pair) -> None:
    for _ in range(3 * FAILURES):
        pair.first.fails = True
        pair.evaluate(FAILURES - 1)
        pair.first.fails = False
        pair.evaluate()
    assert pair.both.name == "first"
    assert pair.warnings == ["it is out of order; second evaluates this batch"]


def test_failing_again_and_again_ends_it(pair: Pair) -> None:
    pair.first.fails = True
    pair.evaluate(10)
    assert (pair.first.batches, pair.second.batches) == (FAILURES, 10)
    assert pair.both.name == "second"
    assert [warning.endswith("from now on") for warning in pair.warnings] == [False, True]


def test_a_new_start_tries_again(pair: Pair) -> None:
    pair.first.fails = True
    pair.both.start()
    pair.first.fails = False
    pair.both.start()
    pair.evaluate()
    assert pair.both.name == "first"
    assert pair.first.batches == 1


def test_close_closes_both(pair: Pair) -> None:
    pair.both.close()
    assert pair.first.closed
    assert pair.second.closed


def test_nonsense_from_stockfish_leads_to_material(tmp_path: Path) -> None:
    warnings: list[str] = []
    path = fake_search(tmp_path, "say('bestmove e2e4\\n')")
    evaluator = FallbackEvaluator(
        StockfishEvaluator(path, limits=QUICK), MaterialEvaluator(), warnings.append
    )
    expected = MaterialEvaluator().evaluate(POSITIONS)
    while evaluator.name != "material":
        found = evaluator.evaluate(POSITIONS)
        np.testing.assert_array_equal(found.values, expected.values)
    assert len(warnings) == 1
    assert warnings[0].endswith("evaluating by material from now on")
    evaluator.close()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_name_makes_an_evaluator(name: str) -> None:
    evaluator = make_evaluator(name)
    evaluator.start()
    assert len(evaluator.evaluate(POSITIONS).values) == 20
    evaluator.close()
    evaluator.close()


def test_a_name_that_is_none() -> None:
    with pytest.raises(ValueError, match="there are stockfish, nnue, simple, material"):
        make_evaluator("oracle")


def test_without_stockfish_material_takes_over(tmp_path: Path) -> None:
    warnings: list[str] = []
    missing = str(tmp_path / "none")
    evaluator = make_evaluator("stockfish", stockfish=missing, on_warning=warnings.append)
    evaluator.start()
    assert evaluator.name == "material"
    assert len(evaluator.evaluate(POSITIONS).values) == 20
    assert warnings == [
        f"Stockfish is missing: there is no program {missing}; evaluating by material from now on"
    ]
    evaluator.close()


def test_without_a_network_and_stockfish_material_takes_over(tmp_path: Path) -> None:
    warnings: list[str] = []
    missing = str(tmp_path / "none")
    evaluator = make_evaluator("nnue", stockfish=missing, on_warning=warnings.append)
    evaluator.start()
    assert evaluator.name == "material"
    assert len(evaluator.evaluate(POSITIONS).values) == 20
    assert len(warnings) == 1
    assert warnings[0].startswith("no network: ")
    assert warnings[0].endswith("; evaluating by material from now on")
    evaluator.close()


def test_where_the_network_can_not_be_read_stockfish_takes_over(tmp_path: Path) -> None:
    warnings: list[str] = []
    without_network = fake_search(tmp_path, "go()")
    evaluator = make_evaluator("nnue", stockfish=without_network, on_warning=warnings.append)
    evaluator.start()
    assert evaluator.name == "stockfish"
    assert len(warnings) == 1
    assert warnings[0].endswith("; evaluating by stockfish from now on")
    evaluator.close()


def test_a_fallback_that_costs_something_starts_when_it_is_needed() -> None:
    first, second = Scripted("first"), Scripted("second")
    second.fails = True
    both = FallbackEvaluator(first, second, lambda warning: None, start_both=False)
    both.start()
    assert len(both.evaluate(POSITIONS).values) == 0
    first.fails = True
    with pytest.raises(EvaluatorFailed):
        both.start()


@needs_stockfish
def test_a_killed_stockfish_is_replaced_with_one_warning() -> None:
    warnings: list[str] = []
    stockfish = StockfishEvaluator(STOCKFISH, limits=QUICK, on_warning=warnings.append)
    evaluator = FallbackEvaluator(stockfish, MaterialEvaluator(), warnings.append)
    evaluator.start()
    assert stockfish.pid is not None
    os.kill(stockfish.pid, signal.SIGKILL)
    for _ in range(3):
        assert len(evaluator.evaluate(POSITIONS).values) == 20
    while stockfish.pid is None:
        evaluator.evaluate(POSITIONS)
    evaluator.evaluate(POSITIONS)
    assert evaluator.name == "stockfish"
    assert warnings == [
        "Stockfish was lost (it was killed by SIGKILL), and another one is starting"
    ]
    evaluator.close()


def test_choosing_loads_no_numba() -> None:
    program = (
        "import sys, obscuro.evaluation.factory, obscuro.evaluation.scale, "
        "obscuro.evaluation.stockfish.process\n"
        "print('numba' in sys.modules, 'numpy' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.stdout.split() == ["False", "False"], result.stderr
