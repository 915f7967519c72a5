"""The games that engines are told, ply by ply."""

from __future__ import annotations

import chess
import pytest

from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import PositionReader, account_position, whole_position
from tests.uci.games import FENS, random_moves


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("side", chess.COLORS)
def test_both_forms_tell_the_engine_the_same(fen: str, side: chess.Color) -> None:
    moves = random_moves(3, 40, fen)
    board = FogOfWarBoard(fen)
    own = Account(board, side)
    readers = PositionReader(), PositionReader()
    compared = 0
    for move in moves:
        if board.turn == side:
            fog, whole = (
                reader.read(text.removeprefix("position "))
                for reader, text in zip(
                    readers, (account_position(own), whole_position(board)), strict=True
                )
            )
            assert (fog.side, fog.start, fog.plies, fog.observation) == (
                whole.side,
                whole.start,
                whole.plies,
                whole.observation,
            )
            assert sorted(fog.moves) == sorted(whole.moves)
            compared += 1
        board.push_uci(move)
        if not board.is_variant_end():
            own.append(board)
    assert compared >= 3


def test_a_game_that_has_begun_is_told_from_its_start() -> None:
    board = FogOfWarBoard()
    for move in ("e2e4", "d7d5", "e4d5"):
        board.push_uci(move)
    growing = Account(FogOfWarBoard(), chess.BLACK)
    replayed = FogOfWarBoard()
    for move in board.move_stack:
        replayed.push(move)
        growing.append(replayed)
    assert account_position(Account(board, chess.BLACK)) == account_position(growing)
    assert "e4d5" not in account_position(growing)


def test_a_skipped_ply_is_an_error() -> None:
    board = FogOfWarBoard()
    own = Account(board, chess.WHITE)
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    with pytest.raises(ValueError, match="ply 2"):
        own.append(board)
