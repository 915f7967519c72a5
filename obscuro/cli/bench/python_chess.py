"""A belief update with python-chess, for comparison.

It is as fast as plain Python allows. The boards exist before the measurement. The update makes and
unmakes each candidate move. It rejects most candidates by comparing the pieces on the seen squares,
and computes a vision mask only for the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import chess
import numpy as np
import numpy.typing as npt

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.layout import WHITE
from obscuro.rules.observation import Observation
from obscuro.rules.position import to_fen

Key = tuple[int, ...]
"""The parts of a position that can differ between equal observations: bitboards by piece, white
pieces, castling rights."""


def candidates_per_second(
    parents: npt.NDArray[np.uint64], observation: Observation, side: int
) -> float:
    """Measure how many candidates a second python-chess tests.

    parents: uint64[n, 8], the positions before the update. observation: the observation of `side`
    (0 = White) after the other side's move.
    """
    boards = boards_of(parents)
    begin = time.perf_counter()
    candidates, _ = update(boards, observation, side == 0)
    return candidates / (time.perf_counter() - begin)


def boards_of(positions: Iterable[npt.NDArray[np.uint64]]) -> list[FogOfWarBoard]:
    """Convert positions, each uint64[8], to boards."""
    return [FogOfWarBoard(f"{to_fen(words)} 0 1") for words in positions]


def update(
    boards: Sequence[FogOfWarBoard], observation: Observation, color: chess.Color
) -> tuple[int, set[Key]]:
    """Make all pseudo-legal moves on all boards.

    Returns the number of moves, and the distinct resulting positions that fit the observation of
    `color`.
    """
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
    """Return a position's key, without the en passant square, which the observation contains."""
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
