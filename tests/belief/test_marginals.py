"""How often each enemy piece is on each square of a belief, against a look at every piece."""

from __future__ import annotations

from collections.abc import Iterable

import chess
import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief.belief import Belief
from obscuro.belief.marginals import CHUNK, SQUARES, marginals, piece_counts
from obscuro.rules.account import plies
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import PLANES
from obscuro.rules.position import from_board, to_board

LINE = "e4 d5 exd5 Nf6 Nc3 g6 Bc4 Bg7 Nf3 O-O"  # with Black's castling rights known and unknown


def board_after(sans: str) -> FogOfWarBoard:
    board = FogOfWarBoard()
    for san in sans.split():
        board.push_san(san)
    return board


def belief_after(sans: str, side: chess.Color) -> Belief:
    board = board_after(sans)
    belief = Belief(from_board(FogOfWarBoard()), int(not side), weighted=True)
    for ply in plies(board, side):
        assert ply.observation is not None
        if ply.move is not None:
            belief.after_own_move(ply.move, ply.observation)
        else:
            belief.after_opponent_move(ply.observation)
    return belief


def naive_counts(
    positions: npt.NDArray[np.uint64], enemy: chess.Color, weights: Iterable[float] | None = None
) -> npt.NDArray[np.float64]:
    """Count by looking at every square of every position; weights: what each counts, not 1."""
    counts = np.zeros((len(PLANES), SQUARES))
    for words, weight in zip(positions, weights or [1.0] * len(positions), strict=True):
        for square, piece in to_board(words).piece_map().items():
            if piece.color == enemy:
                counts[0, square] += weight
                counts[piece.piece_type, square] += weight
    return counts


@pytest.mark.parametrize("side", chess.COLORS)
@pytest.mark.parametrize("plies_made", [0, 1, 5, 6])
def test_counts_equal_those_of_a_look_at_every_piece(side: chess.Color, plies_made: int) -> None:
    belief = belief_after(" ".join(LINE.split()[:plies_made]), side)
    expected = naive_counts(belief.positions, not side)
    assert np.array_equal(piece_counts(belief.records), expected)


@pytest.mark.parametrize("side", chess.COLORS)
def test_marginals_are_the_shares_of_the_positions(side: chess.Color) -> None:
    belief = belief_after(LINE, side)
    assert belief.weights is not None
    weights = belief.weights.tolist()
    even, weighted = marginals(belief)
    assert np.allclose(even, naive_counts(belief.positions, not side) / len(belief))
    assert weighted is not None and weighted.max() == 1.0
    expected = naive_counts(belief.positions, not side, weights) / sum(weights)
    assert np.allclose(weighted, expected, atol=1e-6)
    assert not np.allclose(even, weighted, atol=1e-3)


def test_a_belief_without_weights_has_no_weighted_marginals() -> None:
    even, weighted = marginals(Belief(from_board(FogOfWarBoard()), 0))
    assert weighted is None
    assert even[PLANES.index("king")].nonzero()[0].tolist() == [chess.E8]


def test_many_records_are_counted_in_parts() -> None:
    records = np.zeros((2 * CHUNK + 3, 3), dtype=np.uint64)
    records[:, 2] = 1 << 8  # a pawn on a2
    records[CHUNK:, 0] = 1 << 63  # a king on h8
    counts = piece_counts(records)
    assert counts[1, 8] == len(records)
    assert counts[6, 63] == CHUNK + 3
    assert counts.sum() == 2 * (2 * len(records) - CHUNK)  # each piece is also one of any type
    weights = np.zeros(len(records), dtype=np.float32)
    weights[CHUNK:] = 0.5
    counts = piece_counts(records, weights)
    assert counts[1, 8] == counts[6, 63] == (CHUNK + 3) / 2


def test_a_rook_that_may_castle_is_a_rook() -> None:
    counts = piece_counts(belief_after("", chess.WHITE).records)
    assert counts[PLANES.index("rook")].nonzero()[0].tolist() == [chess.A8, chess.H8]
