"""Material and sight, against the same said in python-chess."""

import math

import chess
import numpy as np
import pytest

from obscuro.evaluation.material import SEEN_SQUARE_PAWNS, MaterialEvaluator
from tests.evaluation.naive import by_move, expect_children, game_boards, words_of
from tests.reference import vision

PAWNS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


def naive_pawns(board: chess.Board, color: chess.Color) -> float:
    pawns = sum(
        worth * (len(board.pieces(piece, color)) - len(board.pieces(piece, not color)))
        for piece, worth in PAWNS.items()
    )
    seen = len(vision(board, color)) - len(vision(board, not color))
    return pawns + SEEN_SQUARE_PAWNS * seen


@pytest.mark.parametrize("tau", [6.0, 3.0])
def test_values_are_those_of_the_naive_evaluation(tau: float) -> None:
    boards = game_boards(seed=5, count=60)
    values = MaterialEvaluator(tau).evaluate(words_of(boards))

    def value_of(child: chess.Board) -> float:
        value = math.tanh(naive_pawns(child, not child.turn) / tau)
        return min(max(value, -0.9999), 0.9999)

    expect_children(values, boards, value_of, find_mates=False)


def pawns_after(fen: str, move: str) -> float:
    """What the mover has after a move, in pawns."""
    value, terminal = by_move(MaterialEvaluator().evaluate(words_of([chess.Board(fen)])), 0)[move]
    assert not terminal
    return 6 * math.atanh(value)


def squares_seen(fen: str, move: str) -> int:
    """How many squares more the mover then sees than the enemy, by the reference."""
    board = chess.Board(fen)
    board.push_uci(move)
    return len(vision(board, not board.turn)) - len(vision(board, board.turn))


@pytest.mark.parametrize(("piece", "weight"), [("P", 1), ("N", 3), ("B", 3), ("R", 5), ("Q", 9)])
def test_each_piece_has_its_weight(piece: str, weight: int) -> None:
    # Ours, and the enemy's, on a square from which it attacks neither king.
    for letter, sign in ((piece, 1), (piece.lower(), -1)):
        fen = f"7k/8/8/8/8/1{letter}6/8/3K4 w - - 0 1"
        expected = sign * weight + SEEN_SQUARE_PAWNS * squares_seen(fen, "d1e1")
        assert pawns_after(fen, "d1e1") == pytest.approx(expected, abs=1e-4)


def test_what_each_side_sees_counts() -> None:
    # The same material: a rook that sees two lines, ours or the enemy's, against one walled in.
    ours_is_free = "r6k/p7/8/8/8/8/8/3K2R1 w - - 0 1"
    theirs_is_free = "6rk/8/8/8/8/8/P7/R2K4 w - - 0 1"
    for fen in (ours_is_free, theirs_is_free):
        found = pawns_after(fen, "d1e2")
        material = -1 if fen == ours_is_free else 1  # the pawn of the wall
        seen = SEEN_SQUARE_PAWNS * squares_seen(fen, "d1e2")
        assert found - material == pytest.approx(seen, abs=1e-4)
    difference = (pawns_after(ours_is_free, "d1e2") + 1) - (pawns_after(theirs_is_free, "d1e2") - 1)
    assert difference > 4 * SEEN_SQUARE_PAWNS


def test_both_sides_see_the_same_value() -> None:
    boards = game_boards(seed=6, count=50)
    mirrored = [board.mirror() for board in boards]
    evaluator = MaterialEvaluator()
    values = evaluator.evaluate(words_of(boards))
    mirror_values = evaluator.evaluate(words_of(mirrored))
    for index in range(len(boards)):
        ours = sorted(by_move(values, index).values())
        theirs = sorted(by_move(mirror_values, index).values())
        assert ours == theirs


def test_a_piece_is_worth_more_than_sight() -> None:
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    found = by_move(MaterialEvaluator().evaluate(words_of([board])), 0)
    assert max(found, key=lambda move: found[move]) == "e4d5"


def test_no_positions() -> None:
    values = MaterialEvaluator().evaluate(np.empty((0, 8), dtype=np.uint64))
    assert values.offsets.tolist() == [0]
