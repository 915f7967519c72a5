"""Random games for the tests, and the text that a referee that keeps secrets would send of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import chess

from obscuro.rules.board import FogOfWarBoard

START = chess.STARTING_FEN
# Castling, en passant, promotions and captured kings come soon from these.
FENS = [
    START,
    "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "4k3/4p3/8/3P1P2/2p1p3/8/3P1P2/4K3 b - - 0 1",
    "r2qk2r/1P4p1/8/4pP2/1Pp5/8/P5p1/R3K2R w KQkq e6 0 1",
    "8/P1k5/8/3Rr3/8/2N2n2/5K1p/8 b - - 40 70",
]


def random_moves(seed: int, plies: int, fen: str = START) -> list[str]:
    """Return the moves of a random game, which may be over before so many plies."""
    rng = random.Random(seed)
    board = FogOfWarBoard(fen)
    moves: list[str] = []
    while len(moves) < plies and not board.is_game_over():
        move = rng.choice(sorted(board.legal_moves, key=str))
        moves.append(move.uci())
        board.push(move)
    return moves


def turns_of(side: chess.Color, moves: Sequence[str], fen: str = START) -> list[str]:
    """Return the tokens of `position fog` for a side of a whole game."""
    board = FogOfWarBoard(fen)
    tokens = []
    for move in moves:
        if board.turn == side:
            tokens.append(move)
        board.push_uci(move)
        tokens.append(board.fog_fen(side))
    return tokens


def look_alikes(plies: int) -> tuple[list[str], list[str]]:
    """Return two games that look the same to White, and are not."""
    first = ["e2e4", "b7b6", "g1f3", "g7g6", "b1c3", "d7d6"]
    second = ["e2e4", "g7g6", "g1f3", "h7h6", "b1c3", "f7f6"]
    assert turns_of(chess.WHITE, first) == turns_of(chess.WHITE, second)
    return first[:plies], second[:plies]
