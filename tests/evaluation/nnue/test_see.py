"""Exchanges on one square, against an enumeration on boards."""

from __future__ import annotations

import chess
import pytest

from obscuro.evaluation.nnue.captures import captured_piece, exchange_pays
from obscuro.rules.position import find_move, from_board
from obscuro.rules.tables import TABLES
from tests.evaluation.naive import game_boards
from tests.evaluation.nnue.naive_search import exchange
from tests.reference import fog_moves


def pays(board: chess.Board, uci: str) -> bool:
    row = from_board(board)
    move = find_move(row, uci)
    assert move is not None
    return bool(exchange_pays(TABLES, tuple(row), move, captured_piece(tuple(row), move)))


@pytest.mark.parametrize(
    ("fen", "move", "expected"),
    [
        ("4k3/8/3p4/4p3/8/5N2/8/4K3 w - - 0 1", "f3e5", False),  # a knight for a defended pawn
        ("4k3/8/3p4/4n3/8/5N2/8/4K3 w - - 0 1", "f3e5", True),  # a knight for a knight
        ("4k3/8/3p4/4n3/8/6B1/8/4K3 w - - 0 1", "g3e5", False),  # a bishop is a little more
        ("4r1k1/8/8/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", True),  # the rook behind joins in
        ("4r1k1/4r3/8/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", False),
        ("8/8/3k4/4p3/8/8/4R3/4K3 w - - 0 1", "e2e5", False),  # the king takes back
        ("8/8/3k4/4p3/8/8/4R3/4QK2 w - - 0 1", "e2e5", True),  # and may not where it is defended
        ("4k3/8/8/4p3/3K4/8/8/8 w - - 0 1", "d4e5", True),
        ("4k3/8/3p4/4p3/3K4/8/8/8 w - - 0 1", "d4e5", False),  # our king may not either
        ("4k3/8/3p4/8/8/5N2/8/4K3 w - - 0 1", "f3e5", False),  # nothing is won, and it is lost
        ("4k3/8/8/8/8/5N2/8/4K3 w - - 0 1", "f3e5", True),
    ],
)
def test_known_exchanges(fen: str, move: str, expected: bool) -> None:
    board = chess.Board(fen)
    assert pays(board, move) is expected
    assert pays(board.mirror(), chess.Move.from_uci(move).uci().translate(MIRROR)) is expected


MIRROR = str.maketrans("12345678", "87654321")


def test_all_moves_of_random_games() -> None:
    found = {True: 0, False: 0}
    for board in game_boards(seed=9, count=400):
        for move in fog_moves(board):
            is_king = board.piece_type_at(move.to_square) == chess.KING
            if is_king or move.promotion or board.is_en_passant(move) or board.is_castling(move):
                continue
            expected = exchange(board, move) >= 0
            assert pays(board, move.uci()) is expected, (board.fen(), move)
            if board.piece_at(move.to_square) is not None:
                found[expected] += 1
    assert min(found.values()) > 100
