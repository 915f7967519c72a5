"""A belief is what trying everything in plain python-chess gives, at every ply of many games."""

from __future__ import annotations

import random

import chess
import pytest

from obscuro.belief.belief import Belief
from obscuro.board.position import from_board, to_fen
from obscuro.fog.board import FogOfWarBoard
from tests import reference
from tests.belief.games import STORIES

LARGEST = 150  # positions that the slow reference goes on with

MIDDLE_GAMES = [
    "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 4 5",
    "4k3/pp3ppp/3p4/2pPp3/2P1P3/5P2/PP4PP/4K3 w - c6 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/P1k5/8/2p5/3p4/8/1P2K1p1/8 w - - 0 1",
    "r3k2r/8/8/3pP3/3Pp3/8/8/R3K2R b KQkq d3 0 1",
]


def assert_equal_at_every_ply(fen: str, moves: list[chess.Move], color: chess.Color) -> int:
    """Follow the game with both; return the number of plies until the reference is too slow."""
    board = FogOfWarBoard(fen)
    belief = Belief(from_board(board), 0 if color == chess.WHITE else 1)
    slow = reference.Belief(chess.Board(fen), color)
    for ply, move in enumerate(moves):
        ours = board.turn == color
        board.push(move)
        if not reference.goes_on(board):
            return ply
        shown = reference.sight(board, color)
        told = not ours or ply % 5 != 4  # now and then nobody tells us what our own move shows
        if ours:
            observation = board.observation(color) if told else None
            update = belief.after_own_move(move.uci(), observation)
            slow.after_own_move(move, shown if told else None)
        else:
            update = belief.after_opponent_move(board.observation(color))
            slow.after_opponent_move(shown)
        expected = {
            " ".join((k.placement, "wb"[not k.turn], k.castling, k.ep)) for k in slow.positions
        }
        assert {to_fen(words) for words in belief.positions} == expected, (fen, moves[: ply + 1])
        assert len(belief) == len(expected)
        assert update.exact and belief.exact
        if len(slow.positions) > LARGEST:
            return ply + 1
    return len(moves)


@pytest.mark.parametrize("color", chess.COLORS, ids=["black", "white"])
@pytest.mark.parametrize("name", STORIES)
def test_stories(name: str, color: chess.Color) -> None:
    fen, moves = STORIES[name]
    assert (
        assert_equal_at_every_ply(fen, [chess.Move.from_uci(m) for m in moves.split()], color) > 2
    )


@pytest.mark.parametrize("seed", range(36))
def test_random_games(seed: int) -> None:
    fen = [chess.STARTING_FEN, *MIDDLE_GAMES][seed % 6]
    *_, board = reference.random_game(random.Random(seed), fen, plies=60)
    for color in chess.COLORS:
        assert assert_equal_at_every_ply(fen, board.move_stack, color) > 0
