"""Which inputs are on, against the naive inference."""

from __future__ import annotations

import chess

from obscuro.evaluation.nnue.accumulator import feature, king_square, view
from obscuro.rules.position import from_board
from tests.evaluation.naive import game_boards
from tests.evaluation.nnue import naive


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
