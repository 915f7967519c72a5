"""Both sides' beliefs along a recorded game, beside what the engine said when it played it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief.belief import Belief
from obscuro.rules.account import plies
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, to_board
from obscuro.viewer.game_file import read_game
from obscuro.viewer.make_document import read_remark
from obscuro.viewer.two_beliefs import (
    CHUNK,
    PLANES,
    SQUARES,
    SideKnowledge,
    TwoBeliefs,
    heat_maps,
    levels,
    piece_counts,
)
from tests.docs.pages import ROOT

GAME = ROOT / "docs" / "pictures" / "game.pgn"
SHOWN = ROOT / "docs" / "pictures" / "shown.pgn"
LINE = "e4 d5 exd5 Nf6 Nc3 g6 Bc4 Bg7 Nf3 O-O"  # with Black's castling rights known and unknown


def replay(
    board: FogOfWarBoard, moves: list[chess.Move], max_positions: int
) -> Iterator[dict[chess.Color, SideKnowledge]]:
    """Yield what both sides know at the start and after each move, which is made on the board."""
    beliefs = TwoBeliefs(board, max_positions)
    try:
        yield beliefs.known(board)
        for move in moves:
            board.push(move)
            yield beliefs.after_ply(board)
    finally:
        beliefs.close()


@pytest.mark.parametrize("file", [GAME, SHOWN], ids=["game", "shown"])
def test_sizes_are_those_that_the_engine_reported(file: Path) -> None:
    game = read_game(file)
    board = game.board()
    assert isinstance(board, FogOfWarBoard)
    nodes = list(game.mainline())[:40]
    compared = 0
    known = replay(board, [node.move for node in nodes], 1_000_000)
    for node, sides in zip(nodes, known, strict=False):
        belief = sides[not node.turn()].belief
        report = read_remark(node).report
        if report.exact:
            assert belief is not None and belief.exact
            assert belief.size == report.belief
            compared += 1
    assert compared > 30


def test_the_true_pieces_are_among_the_possible_ones() -> None:
    game = read_game(GAME)
    board = game.board()
    assert isinstance(board, FogOfWarBoard)
    for sides in replay(board, list(game.mainline_moves())[:30], 1_000_000):
        for color, known in sides.items():
            assert known.belief is not None
            for square in chess.SquareSet(board.occupied_co[not color]):
                piece = board.piece_type_at(square)
                assert piece is not None
                assert known.belief.even.shares[piece, square] > 0
                if known.belief.weighted is not None:
                    assert known.belief.weighted.shares[piece, square] > 0
                if known.observation.seen >> square & 1:
                    assert known.belief.even.shares[piece, square] == 255


def test_a_belief_past_its_cap_is_a_sample_and_says_so() -> None:
    moves = list(read_game(GAME).mainline_moves())[:12]
    *_, last = replay(FogOfWarBoard(), moves, 50)
    for known in last.values():
        assert known.belief is not None
        assert not known.belief.exact
        assert known.belief.size <= 50


def test_a_belief_that_is_too_large_has_no_weights_and_a_sample_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moves = list(read_game(GAME).mainline_moves())[:12]
    for most, weighted, expected in ((1_000_000, 2_000_000, True), (50, 50, True), (50, 5, False)):
        monkeypatch.setattr("obscuro.belief.posterior.MOST_WEIGHTED", weighted)
        *_, last = replay(FogOfWarBoard(), moves, most)
        belief = last[chess.BLACK].belief
        assert belief is not None and belief.size > 1
        assert (belief.weighted is not None) == expected


@pytest.mark.parametrize(("move", "over"), [("e7e8", True), ("e7e6", False)])
def test_there_is_no_belief_once_the_game_is_over(move: str, over: bool) -> None:
    board = FogOfWarBoard("4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1")
    *_, last = replay(board, [chess.Move.from_uci(move)], 1000)
    for color, known in last.items():
        assert known.observation == board.observation(color)
        assert (known.belief is None) == over


def test_a_draw_by_repetition_ends_no_belief() -> None:
    moves = [chess.Move.from_uci(uci) for uci in ("g1f3", "g8f6", "f3g1", "f6g8") * 2]
    board = FogOfWarBoard()
    *_, last = replay(board, moves, 1000)
    assert board.outcome() is not None
    assert all(known.belief is not None for known in last.values())


# -- the shares of pieces -------------------------------------------------------------------


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
def test_weights_count_as_in_a_look_at_every_piece(side: chess.Color) -> None:
    board, belief = board_after(LINE), belief_after(LINE, side)
    assert belief.weights is not None
    weights = belief.weights.tolist()
    assert max(weights) > 2 * min(weights)
    expected = naive_counts(belief.positions, not side, weights)
    assert np.allclose(piece_counts(belief.records, belief.weights), expected)
    even, weighted = heat_maps(belief, board)
    assert weighted is not None
    near = np.abs(weighted.shares / 255 - expected / sum(weights)) <= 1 / 255
    assert near.all()
    assert not np.array_equal(even.shares, weighted.shares)
    truth = [bool((words == from_board(board)).all()) for words in belief.positions].index(True)
    assert even.truth == 1 / len(belief)
    assert math.isclose(weighted.truth, weights[truth] / len(belief), rel_tol=1e-4)


def test_a_position_that_is_not_in_the_belief_has_no_share() -> None:
    even, weighted = heat_maps(belief_after("e4 d5", chess.BLACK), board_after("d4 d5"))
    assert weighted is not None
    assert (even.truth, weighted.truth) == (0.0, 0.0)


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


def test_levels_are_near_the_shares_and_keep_what_is_certain_apart() -> None:
    positions = 100_000
    counts = np.array([0.0, 1, 50_000, 99_999, 100_000])
    assert levels(counts, counts, positions).tolist() == [0, 1, 128, 254, 255]
    for count in range(0, positions, 997):
        one = np.array([float(count)])
        level = int(levels(one, one, positions)[0])
        assert abs(Fraction(level, 255) - Fraction(count, positions)) <= Fraction(1, 255)


def test_no_weight_makes_the_possible_impossible_or_certain() -> None:
    counts = np.array([0.0, 1, 99, 100])
    weights = np.array([0.0, 1e-9, 100 - 1e-9, 100.00001])
    assert levels(weights, counts, 100).tolist() == [0, 1, 254, 255]


def test_an_empty_belief_has_no_shares() -> None:
    with pytest.raises(ValueError, match="without positions"):
        levels(np.zeros(1), np.zeros(1), 0)
