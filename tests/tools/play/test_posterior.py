"""How often a piece that can be taken is guarded, against python-chess."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from obscuro.belief.belief import Belief
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, to_board
from tests.tools.play.filed_games import filed
from tools.play.posterior import of_captures, taken_back
from tools.play.recorded_games import opponent_moves

OPENING = ("e2e4", "e7e5", "g1f3", "d7d6", "f1c4", "g8f6")


def naive(board: chess.Board, origin: int, target: int) -> bool:
    after = board.copy(stack=False)
    piece = after.remove_piece_at(origin)
    after.set_piece_at(target, piece)
    return bool(after.attackers(not board.turn, target))


def test_shares_are_those_of_python_chess() -> None:
    belief = Belief(from_board(FogOfWarBoard()), 0, 100_000, weighted=True)
    compared = 0
    for board, observation in opponent_moves(filed(OPENING, None), chess.WHITE, [belief]):
        belief.after_opponent_move(observation)
        takers: dict[int, list[int]] = {}
        for move in board.pseudo_legal_moves:
            if board.is_capture(move):
                takers.setdefault(move.to_square, []).append(move.from_square)
        found = taken_back(board, belief)
        assert len(found) == len(takers)
        boards = [to_board(words) for words in belief.positions]
        for (target, origins), (piece, truth, even, by_weight) in zip(
            takers.items(), found, strict=True
        ):
            (origin,) = origins  # in this opening one piece can take
            assert piece == board.piece_type_at(target)
            assert truth == naive(board, origin, target)
            guarded = np.array([naive(each, origin, target) for each in boards])
            assert even == pytest.approx(guarded.mean())
            assert by_weight == pytest.approx(np.average(guarded, weights=belief.weights))
            compared += 0 < even < 1
    assert compared
    belief.close()


def test_the_table_has_a_row_for_each_piece_and_for_any() -> None:
    row = {"file": "a", "player": "b", "taken_back": [(1, True, 0.5, 0.8), (4, False, 0.5, 0.2)]}
    lines = list(of_captures([row]))
    assert [line.split("|")[3].strip() for line in lines[2:]] == ["pawn", "rook", "any"]
    assert [cell.strip() for cell in lines[-1].split("|")[4:-1]] == [
        *("2", "0.500", "0.500", "0.500", "0.693", "0.223")
    ]
