"""The network's inputs and both sides' sums, against the naive network."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from obscuro.evaluation.nnue.accumulator import feature, king_square, refresh, update, view
from obscuro.rules.make import make_move
from obscuro.rules.position import find_move, from_board, from_fen, legal_moves, to_board
from tests.evaluation.naive import game_boards
from tests.evaluation.nnue import made_up, naive
from tests.reference import goes_on


def features(board: chess.Board, perspective: int) -> list[int]:
    king = king_square(tuple(from_board(board)), perspective)
    mirror, first = view(perspective, king)
    return [
        feature(mirror, first, piece.color == (perspective == 0), int(piece.piece_type) - 1, square)
        for square, piece in board.piece_map().items()
    ]


def test_features_are_those_of_the_naive_inference() -> None:
    for board in game_boards(seed=3, count=60):
        assert features(board, 0) == naive.features(board, chess.WHITE)
        assert features(board, 1) == naive.features(board, chess.BLACK)


def test_every_place_of_the_king() -> None:
    for square in chess.SQUARES:
        board = chess.Board.empty()
        board.set_piece_at(square, chess.Piece(chess.KING, chess.WHITE))
        other = chess.A1 if chess.square_distance(square, chess.A1) > 1 else chess.H8
        board.set_piece_at(other, chess.Piece(chess.KING, chess.BLACK))
        assert features(board, 0) == naive.features(board, chess.WHITE)
        assert features(board, 1) == naive.features(board, chess.BLACK)


CASTLING = "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1"
CHESS960 = [
    "rk3r2/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/RK3R2 w FAfa - 0 1",
    "4rkr1/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/2R1KR2 b FCge - 0 1",
]
EN_PASSANT = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 1"
EN_PASSANT_BLACK = "rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR b KQkq d3 0 1"
PROMOTION = "1n2k3/P1P5/8/8/8/8/p1p5/1N2K3 w - - 0 1"


def expect_sums(work: object, frame: int, board: chess.Board) -> None:
    """Compare a frame with the naive sums, to the last bit."""
    found, psqt = made_up.sums(work, frame)
    for perspective, color in ((0, chess.WHITE), (1, chess.BLACK)):
        expected, expected_psqt = naive.accumulate(made_up.network(), board, color)
        assert found[perspective].reshape(-1).tolist() == expected.tolist()
        assert psqt[perspective].tolist() == expected_psqt.tolist()


def test_from_scratch_they_are_those_of_the_naive_inference() -> None:
    work = made_up.workspace()
    for board in game_boards(seed=4, count=40):
        made_up.place(work, 3, board)
        expect_sums(work, 3, board)


def test_the_memory_does_not_show() -> None:
    boards = game_boards(seed=5, count=30)
    used = made_up.workspace()
    for board in boards:
        made_up.place(used, 0, board)
    for board in boards:
        fresh = made_up.workspace()
        made_up.place(fresh, 0, board)
        made_up.place(used, 0, board)
        for one, other in zip(made_up.sums(fresh, 0), made_up.sums(used, 0), strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        (CASTLING, ["e1g1", "e8c8"]),
        (CASTLING, ["e1c1", "e8g8"]),
        (CASTLING, ["e1e2", "e8d8", "e2f1"]),
        (EN_PASSANT, ["e5f6", "e7f6"]),
        (EN_PASSANT_BLACK, ["e4d3", "c2d3"]),
        (PROMOTION, ["a7b8q", "a2b1n", "c7c8r"]),
        (PROMOTION, ["a7a8b", "c2c1q"]),
        (PROMOTION, ["c7b8n", "c2b1r"]),
        (CHESS960[0], ["b1f1", "b8a8"]),
        (CHESS960[0], ["b1a1", "b8f8"]),
        (CHESS960[1], ["f8e8", "e1f1"]),
        (CHESS960[1], ["f8g8", "e1c1"]),
    ],
)
def test_rare_moves(fen: str, moves: list[str]) -> None:
    work = made_up.workspace()
    row = from_fen(fen)
    made_up.place(work, 0, to_board(row))
    for frame, uci in enumerate(moves):
        move = find_move(row, uci)
        assert move is not None
        pos = tuple(row)
        row = np.array(make_move(pos, move), dtype=np.uint64)
        update(made_up.weights(), work, frame, frame + 1, pos, tuple(row), np.uint32(move))
        expect_sums(work, frame + 1, to_board(row))


@pytest.mark.parametrize("seed", range(12))
def test_a_game_of_moves_leads_where_a_refresh_does(seed: int) -> None:
    rng = random.Random(seed)
    work, fresh = made_up.workspace(), made_up.workspace()
    row = from_board(game_boards(seed, 1)[0] if seed % 2 else chess.Board())
    if seed >= 8:
        row = from_fen(CHESS960[seed % 2])
    made_up.place(work, 0, to_board(row))
    frame = 0
    for _ in range(150):
        pos = tuple(row)
        move = np.uint32(rng.choice(list(legal_moves(row))))
        child = np.array(make_move(pos, move), dtype=np.uint64)
        if not goes_on(to_board(child)):
            break
        following = (frame + 1) % 8
        update(made_up.weights(), work, frame, following, pos, tuple(child), move)
        for perspective in (0, 1):
            refresh(made_up.weights(), fresh, 0, tuple(child), perspective)
        for one, other in zip(made_up.sums(work, following), made_up.sums(fresh, 0), strict=True):
            assert np.array_equal(one, other)
        row, frame = child, following
