"""Random games by which the rules are held against other programs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import chess

from obscuro.rules.board import FogOfWarBoard

ALMOST_STUCK = "8/8/8/8/8/p1p5/ppPp4/kn2K3 w - - 0 1"
"""White's king can leave Black without a move."""
ONE_MOVE_FROM_STUCK = "7k/8/8/8/1p6/1P1p4/BP1P4/KRB5 b - - 0 1"
"""Whatever Black plays leaves White without a move."""
OPENINGS = [
    *[chess.STARTING_FEN] * 8,
    "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "4k3/P1P3P1/8/3pp3/3PP3/8/p1p3p1/4K3 w - - 0 1",
    ALMOST_STUCK,
    ONE_MOVE_FROM_STUCK,
    "7k/8/8/8/8/8/8/K7 w - - 80 100",
]
"""Most games start as chess does, some where castling, pawns or the end come sooner."""

MAX_PLIES = 500
ZEROING_SHARE = 0.5
"""How often a move is drawn from captures, castling and pawn moves only, for progress."""
BACK_SHARE = 0.8
"""How often a side that shuffles takes its last move back, if it can."""

Choose = Callable[[FogOfWarBoard], chess.Move | None]
"""Chooses a move; None: the game is to be followed no further."""


def random_mover(rng: random.Random) -> Choose:
    """Choose at random, often a move that cannot be taken back."""

    def choose(board: FogOfWarBoard) -> chess.Move | None:
        if board.ply() >= MAX_PLIES:
            return None
        moves = list(board.legal_moves)
        if rng.random() < ZEROING_SHARE:
            moves = [m for m in moves if board.is_zeroing(m) or board.is_castling(m)] or moves
        return rng.choice(moves)

    return choose


def shuffler(rng: random.Random) -> Choose:
    """Often take the last own move back, so that positions repeat, and seldom capture a king."""

    def choose(board: FogOfWarBoard) -> chess.Move | None:
        if board.ply() >= MAX_PLIES:
            return None
        moves = list(board.legal_moves)
        moves = [
            move for move in moves if board.piece_type_at(move.to_square) != chess.KING
        ] or moves
        if len(board.move_stack) > 1 and rng.random() < BACK_SHARE:
            last = board.move_stack[-2]
            back = chess.Move(last.to_square, last.from_square)
            if back in moves:
                return back
        return rng.choice(moves)

    return choose


def replay(moves: Iterable[chess.Move]) -> Choose:
    """Choose the moves of a game that was played."""
    remaining = iter(moves)
    return lambda board: next(remaining, None)
