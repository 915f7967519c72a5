"""What one side knows of the board, against the referee's."""

from __future__ import annotations

import random

import chess
import pytest

from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.side_view import SideView


@pytest.mark.parametrize("tells_own", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_moves_are_those_of_the_referee(seed: int, tells_own: bool) -> None:
    chance = random.Random(seed)
    board = FogOfWarBoard()
    views = {side: SideView(side, board) for side in chess.COLORS}
    while board.outcome() is None and len(board.move_stack) < 120:
        view = views[board.turn]
        assert view.our_turn and not views[not board.turn].our_turn
        assert sorted(view.moves()) == sorted(move.uci() for move in board.legal_moves)
        board.push(chance.choice(list(board.legal_moves)))
        if board.is_game_over():
            break
        for side, view in views.items():
            ply = last_ply(board, side)
            if ply.move is not None:
                view.push(ply.move)
                view.see_own_move(ply.observation if tells_own else None)
            else:
                assert ply.observation is not None
                view.see_other_move(ply.observation)


def test_an_own_move_that_is_not_told_leaves_the_own_pieces() -> None:
    view = SideView(chess.WHITE, FogOfWarBoard())
    view.push("e2e4")
    view.see_own_move(None)
    assert view.observation.seen == view.board.occupied == view.board.occupied_co[chess.WHITE]
    assert view.board.piece_at(chess.E4) and not view.our_turn
