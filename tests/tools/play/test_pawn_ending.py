"""King and pawn against king, held against textbook positions."""

from __future__ import annotations

import chess
import pytest

from tools.play.pawn_ending import PAWNS, is_won, won_positions


@pytest.mark.parametrize(
    ("fen", "won"),
    [
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", True),  # the king on the sixth rank before its pawn
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", True),
        ("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", False),  # the opposition
        ("8/8/8/4k3/8/4K3/4P3/8 b - - 0 1", True),
        ("k7/8/KP6/8/8/8/8/8 w - - 0 1", False),  # b7+ and stalemate
        ("8/8/8/8/k7/8/7P/K7 w - - 0 1", True),  # outside the pawn's square
        ("8/8/8/8/k7/8/7P/K7 b - - 0 1", True),
        ("8/8/8/8/1k6/8/7P/K7 b - - 0 1", False),
        ("7k/8/8/8/8/8/7P/K7 w - - 0 1", False),  # a rook's pawn, the king in its corner
        ("8/4P1k1/8/8/8/8/8/K7 w - - 0 1", True),
        ("8/4Pk2/8/8/8/8/8/K7 b - - 0 1", False),  # the pawn falls
    ],
)
def test_textbook_positions(fen: str, won: bool) -> None:
    board = chess.Board(fen)
    assert is_won(board) == won
    assert is_won(board.mirror()) == won
    assert is_won(board.transform(chess.flip_horizontal)) == won


def test_as_many_are_won_as_in_the_tables_of_chess_programs() -> None:
    to_white, to_black = won_positions()
    assert int(to_white.sum()) + int(to_black.sum()) == 111_282
    assert {int(pawn) for pawn in to_white.any(axis=(1, 2)).nonzero()[0]} == set(PAWNS)


def test_other_endings_are_refused() -> None:
    with pytest.raises(ValueError, match="not an ending of two kings and a pawn"):
        is_won(chess.Board("8/8/8/4k3/8/4K3/4R3/8 w - - 0 1"))
