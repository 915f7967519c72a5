"""The shares of pieces equal a plain count over the positions, one piece at a time."""

from __future__ import annotations

from fractions import Fraction

import chess
import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief.belief import Belief
from obscuro.rules.account import plies
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, to_board
from obscuro.viewer.two_beliefs import CHUNK, PLANES, SQUARES, levels, piece_counts

LINE = "e4 d5 exd5 Nf6 Nc3 g6 Bc4 Bg7 Nf3 O-O"  # with Black's castling rights known and unknown


def belief_after(sans: str, side: chess.Color) -> Belief:
    board = FogOfWarBoard()
    for san in sans.split():
        board.push_san(san)
    belief = Belief(from_board(FogOfWarBoard()), int(not side))
    for ply in plies(board, side):
        assert ply.observation is not None
        if ply.move is not None:
            belief.after_own_move(ply.move, ply.observation)
        else:
            belief.after_opponent_move(ply.observation)
    return belief


def naive_counts(positions: npt.NDArray[np.uint64], enemy: chess.Color) -> npt.NDArray[np.int64]:
    """Count by looking at every square of every position."""
    counts = np.zeros((len(PLANES), SQUARES), dtype=np.int64)
    for words in positions:
        for square, piece in to_board(words).piece_map().items():
            if piece.color == enemy:
                counts[0, square] += 1
                counts[piece.piece_type, square] += 1
    return counts


@pytest.mark.parametrize("side", chess.COLORS)
@pytest.mark.parametrize("plies_made", [0, 1, 5, 6])
def test_counts_equal_those_of_a_look_at_every_piece(side: chess.Color, plies_made: int) -> None:
    belief = belief_after(" ".join(LINE.split()[:plies_made]), side)
    expected = naive_counts(belief.positions, not side)
    assert np.array_equal(piece_counts(belief.records), expected)


def test_many_records_are_counted_in_parts() -> None:
    records = np.zeros((2 * CHUNK + 3, 3), dtype=np.uint64)
    records[:, 2] = 1 << 8  # a pawn on a2
    records[CHUNK:, 0] = 1 << 63  # a king on h8
    counts = piece_counts(records)
    assert counts[1, 8] == len(records)
    assert counts[6, 63] == CHUNK + 3
    assert counts.sum() == 2 * (2 * len(records) - CHUNK)  # each piece is also one of any type


def test_a_rook_that_may_castle_is_a_rook() -> None:
    counts = piece_counts(belief_after("", chess.WHITE).records)
    assert counts[PLANES.index("rook")].nonzero()[0].tolist() == [chess.A8, chess.H8]


def test_levels_are_near_the_shares_and_keep_what_is_certain_apart() -> None:
    positions = 100_000
    counts = np.array([0, 1, 50_000, 99_999, 100_000])
    assert levels(counts, positions).tolist() == [0, 1, 128, 254, 255]
    for count in range(0, positions, 997):
        level = int(levels(np.array([count]), positions)[0])
        assert abs(Fraction(level, 255) - Fraction(count, positions)) <= Fraction(1, 255)


def test_an_empty_belief_has_no_shares() -> None:
    with pytest.raises(ValueError, match="without positions"):
        levels(np.zeros(1, dtype=np.int64), 0)
