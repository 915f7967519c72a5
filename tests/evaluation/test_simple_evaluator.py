"""The simple evaluation, material and sight after captures, against the same said in python-chess."""

import chess
import numpy as np
import pytest

from obscuro.evaluation.scale import value_of_mate, value_of_pawns
from obscuro.evaluation.simple_evaluator import SimpleEvaluator
from tests.evaluation.naive import by_move, expect_children, game_boards, words_of
from tests.evaluation.nnue.naive_search import MATED, CaptureSearch
from tests.evaluation.test_material import naive_pawns


class NaiveSearch(CaptureSearch):
    """The naive search of captures over material and sight."""

    def __init__(self) -> None:
        self.nodes = 0

    def standing(self, board: chess.Board) -> int:
        return round(208 * naive_pawns(board, board.turn))


def naive_value(board: chess.Board, tau: float) -> float:
    """What a child is worth to the side that moved."""
    units = -NaiveSearch().value(board)
    if abs(units) < MATED - 1000:
        return value_of_pawns(units / 208, tau)
    plies = MATED - abs(units) + 1
    return value_of_mate((plies + 1) // 2 if units > 0 else -(plies // 2))


@pytest.mark.parametrize("tau", [6.0, 3.0])
def test_values_are_those_of_the_naive_evaluation(tau: float) -> None:
    boards = game_boards(seed=7, count=25)
    values = SimpleEvaluator(tau).evaluate(words_of(boards))
    assert expect_children(values, boards, lambda child: naive_value(child, tau)) > 200


def values_of(fen: str) -> dict[str, float]:
    found = by_move(SimpleEvaluator().evaluate(words_of([chess.Board(fen)])), 0)
    return {move: 6 * float(np.arctanh(value)) for move, (value, _) in found.items()}


def test_a_recapture_is_seen() -> None:
    # Material alone would take the defended pawn.
    pawns = values_of("4k3/8/3p4/4p3/8/5N2/8/4K3 w - - 0 1")
    assert pawns["f3e5"] == pytest.approx(-1, abs=0.5)  # a pawn for a knight, of 3 against 2
    assert pawns["f3d4"] < -1.5  # walks into a capture
    assert pawns["e1e2"] > 0.5


def test_a_promotion_that_cannot_be_stopped_is_seen() -> None:
    pawns = values_of("7k/8/P7/8/8/8/8/K7 w - - 0 1")
    assert pawns["a6a7"] < 2  # Black moves first, and a depth of one shows no second move of ours
    pawns = values_of("7k/8/8/8/8/8/p7/7K w - - 0 1")
    assert pawns["h1h2"] < -7


def test_a_capture_that_mates_is_seen() -> None:
    # The knight keeps the rook from a1, or can step between.
    board = chess.Board("r5k1/8/8/8/8/1N6/5PPP/B5K1 w - - 0 1")
    found = by_move(SimpleEvaluator().evaluate(words_of([board])), 0)
    assert found["b3d4"][0] == pytest.approx(value_of_mate(-1), abs=1e-7)
    assert found["b3d2"][0] > -0.9
