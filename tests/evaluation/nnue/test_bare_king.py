"""What a won ending against a bare king is worth, held against a reading by python-chess."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from obscuro.evaluation.nnue import nnue_evaluator as bare_king
from obscuro.evaluation.nnue.nnue_evaluator import (
    NO_SIDE,
    NnueEvaluator,
    side_of_won_bare_king,
    won_ending_pawns,
)
from obscuro.evaluation.scale import value_of_pawns
from obscuro.rules.tables import TABLES
from tests.evaluation.naive import by_move, naive_children, words_of
from tests.evaluation.nnue import made_up
from tests.evaluation.nnue.naive_search import CaptureSearch

UNITS = {chess.PAWN: 208, chess.KNIGHT: 781, chess.BISHOP: 825, chess.ROOK: 1276, chess.QUEEN: 2538}
KING_SIDE = {chess.WHITE: 0, chess.BLACK: 1}


def as_kernel(board: chess.Board) -> tuple[np.uint64, ...]:
    return tuple(made_up.words(board))


def naive_pawns(board: chess.Board, weak: chess.Color, units: int) -> float:
    """The same without bitboards."""
    king, other = board.king(weak), board.king(not weak)
    assert king is not None and other is not None
    empty = board.copy()
    empty.remove_piece_at(king)  # it does not hide squares behind it
    danger = {square for square in chess.SQUARES if empty.is_attacked_by(not weak, square)}
    steps = {
        s: [t for t in chess.SQUARES if chess.square_distance(s, t) == 1] for s in chess.SQUARES
    }
    region, edge = {king}, [king]
    while edge:
        for square in steps[edge.pop()]:
            if square not in region | danger and board.color_at(square) is None:
                region.add(square)
                edge.append(square)
    pawns = bare_king.CONFINED_PAWNS * (64 - len(region)) / 64
    pawns += bare_king.NEAR_PAWNS * (7 - chess.square_distance(king, other))
    if board.turn == weak:
        lost = [square for square in steps[king] if square in danger]
        pawns += bare_king.EXPOSED_PAWNS * len(lost) / len(steps[king])
    if board.pawns and not (board.rooks | board.queens):
        calm, slope = bare_king.CALM_PAWNS, bare_king.CALM_SLOPE
        return units / 208 if units / 208 < calm else calm + slope * (units / 208 - calm)
    units = sum(worth * len(board.pieces(piece, not weak)) for piece, worth in UNITS.items())
    return pawns + units / 208


def endings(count: int) -> list[chess.Board]:
    """Boards with a bare king of either colour and one to four enemies beside theirs."""
    chance = random.Random(7)
    boards = []
    while len(boards) < count:
        board = chess.Board(None)
        board.turn = chance.choice(chess.COLORS)
        weak = chance.choice(chess.COLORS)
        squares = chance.sample(chess.SQUARES, chance.randint(3, 6))
        board.set_piece_at(squares[0], chess.Piece(chess.KING, weak))
        board.set_piece_at(squares[1], chess.Piece(chess.KING, not weak))
        for square in squares[2:]:
            board.set_piece_at(square, chess.Piece(chance.randint(1, 5), not weak))
        if board.is_valid():
            boards.append(board)
    return boards


def test_pawns_are_the_naive_ones() -> None:
    for number, board in enumerate(endings(300)):
        weak = chess.WHITE if board.occupied_co[chess.WHITE].bit_count() == 1 else chess.BLACK
        units = 600 + 10 * number
        found = won_ending_pawns(TABLES, as_kernel(board), KING_SIDE[weak], units)
        assert found == pytest.approx(naive_pawns(board, weak, units)), board.fen()


@pytest.mark.parametrize(
    ("fen", "units", "side"),
    [
        ("8/8/8/4k3/8/4K3/4R3/8 b - - 0 1", 900, 1),
        ("8/8/8/4k3/8/4K3/4R3/8 w - - 0 1", -900, 1),
        ("8/8/8/4k3/8/4K3/4R3/8 w - - 0 1", -499, NO_SIDE),
        ("8/8/8/4k3/8/4K3/4R3/8 w - - 0 1", 900, NO_SIDE),  # the side with the rook is lost
        ("8/8/8/4k3/4p3/4K3/4R3/8 b - - 0 1", 900, NO_SIDE),
        ("8/8/8/4k3/4r3/4K3/8/8 w - - 0 1", 900, 0),
        ("8/8/8/4k3/8/4K3/8/8 w - - 0 1", 0, NO_SIDE),
    ],
)
def test_only_a_bare_king_that_is_lost_is_another_matter(fen: str, units: int, side: int) -> None:
    assert side_of_won_bare_king(as_kernel(chess.Board(fen)), units) == side


def test_a_rook_is_worth_most_where_the_king_has_few_squares() -> None:
    far, near = (
        won_ending_pawns(TABLES, as_kernel(chess.Board(fen)), 1, 900)
        for fen in ("K7/R7/8/4k3/8/8/8/8 w - - 0 1", "K7/8/3R4/4k3/8/8/8/8 w - - 0 1")
    )
    assert near > far > 1276 / 208


@pytest.mark.parametrize("units", [500, 1300, 2500, 4000])
def test_a_queen_is_worth_more_than_the_pawn_that_becomes_one(units: int) -> None:
    pawn, queen = (
        won_ending_pawns(TABLES, as_kernel(chess.Board(fen)), 0, units)
        for fen in ("8/8/8/8/7K/1k6/p7/8 w - - 0 1", "8/8/8/8/7K/1k6/8/q7 w - - 0 1")
    )
    assert queen > pawn


def test_the_evaluator_values_lost_bare_kings_so_and_all_else_by_the_network() -> None:
    evaluator = NnueEvaluator(network=made_up.network())
    boards = endings(120)
    values = evaluator.evaluate(words_of(boards))
    changed = 0
    for index, board in enumerate(boards):
        found = by_move(values, index)
        for move, child in naive_children(board, find_mates=True).items():
            if child.value is not None:
                continue
            units = -CaptureSearch(made_up.network()).value(child.board)
            side = side_of_won_bare_king(as_kernel(child.board), units)
            if abs(units) > 30_000:
                continue
            if side == NO_SIDE:
                assert found[move][0] == pytest.approx(value_of_pawns(units / 208, 6.0), abs=1e-6)
                continue
            weak = chess.WHITE if side == 0 else chess.BLACK
            pawns = naive_pawns(child.board, weak, abs(units)) * (1 if units > 0 else -1)
            assert found[move][0] == pytest.approx(value_of_pawns(pawns, 6.0), abs=1e-6)
            changed += 1
    assert changed > 60
