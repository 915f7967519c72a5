"""How a game is judged whose result the server does not tell."""

from __future__ import annotations

import chess
import pytest

from obscuro.bots.game_end import LONG_PLIES, OurResult, by_board, by_elimination, by_server
from obscuro.bots.our_view import OurView


def view(fen: str, *moves: str, side: chess.Color = chess.WHITE) -> OurView:
    made = OurView(side, fen)
    made.follow(moves)
    return made


def test_a_side_without_a_move_is_a_draw() -> None:
    free = view("8/8/8/8/8/p1p1p3/ppppPpK1/knbn4 w - - 0 1")
    assert by_board(free) is None
    free.follow(["g2f1"])
    assert str(by_board(free)) == "drawn: a side without a move (the board shows it)"


def test_what_the_server_says_comes_first() -> None:
    board = view(chess.STARTING_FEN)
    won = by_server(board, "resign", chess.WHITE)
    assert won is not None and won.outcome == OurResult.WON
    assert str(by_server(board, "stalemate", None)) == "drawn: stalemate"
    assert str(by_server(board, "noStart", None)) == "aborted: noStart"
    assert by_server(board, "started", None) is None
    assert by_server(board, "variantEnd", None) is None


@pytest.mark.parametrize("side", chess.COLORS)
def test_a_captured_king_is_on_the_board(side: chess.Color) -> None:
    found = by_board(view("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "e1e8", side=side))
    assert found is not None
    assert found.outcome == (OurResult.WON if side else OurResult.LOST)
    assert found.winner(side) == chess.WHITE


def test_fifty_moves_are_on_the_board() -> None:
    found = by_board(view("4k3/8/8/8/8/8/8/4RK2 w - - 99 80", "f1f2"))
    assert str(found) == "drawn: fifty moves (the board shows it)"


def test_what_is_left_is_not_called_a_win_where_more_is_possible() -> None:
    long = view(chess.STARTING_FEN)
    long.moves = ("e2e4",) * (LONG_PLIES + 1)
    assert by_elimination(long, None, None).outcome == OurResult.UNKNOWN
    assert by_elimination(view(chess.STARTING_FEN), None, None).outcome == OurResult.UNKNOWN
    assert by_elimination(long, None, "e2e4").outcome == OurResult.UNKNOWN
