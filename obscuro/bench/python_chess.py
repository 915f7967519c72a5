"""The update of a belief as a program with python-chess does it, for comparison.

It is written as well as plain Python can: boards stand ready, a candidate is made and taken back,
most are rejected by comparing what stands on the seen squares, and only the rest costs a vision
mask.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import chess
import numpy as np
import numpy.typing as npt

from obscuro.board.layout import WHITE
from obscuro.board.position import to_fen
from obscuro.fog.board import FogOfWarBoard
from obscuro.fog.observation import Observation

Key = tuple[int, ...]
"""What tells positions apart that one side sees alike: boards, white pieces, castling rights."""


def candidates_per_second(
    parents: npt.NDArray[np.uint64], observation: Observation, side: int
) -> float:
    """The speed at which python-chess goes through the candidates of some parents: uint64[n, 8].

    observation: what `side` (0 = White) saw after the other side's move.
    """
    boards = boards_of(parents)
    begin = time.perf_counter()
    candidates, _ = update(boards, observation, side == 0)
    return candidates / (time.perf_counter() - begin)


def boards_of(positions: Iterable[npt.NDArray[np.uint64]]) -> list[FogOfWarBoard]:
    """The boards of some positions, each uint64[8]."""
    return [FogOfWarBoard(f"{to_fen(words)} 0 1") for words in positions]


def update(
    boards: Sequence[FogOfWarBoard], observation: Observation, color: chess.Color
) -> tuple[int, set[Key]]:
    """Make all moves on all boards; return how many there are, and the positions that fit."""
    seen, en_passant = observation.seen, observation.en_passant
    pawns, knights, bishops, rooks, queens, kings = observation.boards[:WHITE]
    white = observation.boards[WHITE]
    candidates = 0
    found: set[Key] = set()
    for board in boards:
        for move in list(board.generate_pseudo_legal_moves()):
            candidates += 1
            board.push(move)
            if (
                board.occupied_co[chess.WHITE] & seen == white
                and board.pawns & seen == pawns
                and board.knights & seen == knights
                and board.bishops & seen == bishops
                and board.rooks & seen == rooks
                and board.queens & seen == queens
                and board.kings & seen == kings
                and board.vision_mask(color) == seen
                and board.ep_target(color) == en_passant
            ):
                found.add(key(board))
            board.pop()
    return candidates, found


def key(board: chess.Board) -> Key:
    """Name a position, up to the en passant square, which is part of what a side sees."""
    return (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.occupied_co[chess.WHITE],
        board.castling_rights,
    )
