"""When our own move is legal: for one move word, the same few masks decide it in every position."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.board.layout import (
    BACK_RANKS,
    BISHOP,
    BLACK_LONG_PATH,
    BLACK_SHORT_PATH,
    CASTLING,
    CASTLING_SHIFT,
    DOUBLE_PUSH,
    EN_PASSANT,
    KIND_SHIFT,
    KING,
    KNIGHT,
    PAWN,
    PROMOTION_SHIFT,
    QUEEN,
    QUIET_OR_CAPTURE,
    ROOK,
    STATE,
    THREE_BITS,
    WHITE_LONG_PATH,
    WHITE_SHORT_PATH,
)
from obscuro.board.moves import en_passant_square, occupied_squares, pieces_of
from obscuro.board.position import move_squares
from obscuro.board.tables import (
    BISHOP_STEPS,
    KING_STEPS,
    KNIGHT_STEPS,
    PAWN_STEPS,
    ROOK_STEPS,
    ray_attacks,
)

Words = npt.NDArray[np.uint64]

_STEPS = {
    KNIGHT: KNIGHT_STEPS,
    BISHOP: BISHOP_STEPS,
    ROOK: ROOK_STEPS,
    QUEEN: KING_STEPS,
    KING: KING_STEPS,
}
_CASTLES = {  # (origin, target): side, right, path
    (4, 6): (0, 1, WHITE_SHORT_PATH),
    (4, 2): (0, 2, WHITE_LONG_PATH),
    (60, 62): (1, 4, BLACK_SHORT_PATH),
    (60, 58): (1, 8, BLACK_LONG_PATH),
}


class Conditions(NamedTuple):
    """What a position must be like for the mover to play a certain move; masks where not said."""

    piece: np.uint64  # the index of the board that must have the origin
    origin: np.uint64
    target: np.uint64  # holds no piece of the mover
    empty: np.uint64
    enemy: np.uint64  # holds a piece of the other side
    right: np.uint64  # bits of the state word
    en_passant: np.uint64  # 1 if the target must be the en passant square


def conditions(move: int, side: int) -> Words | None:
    """The fields of `Conditions` for a move word of `side`: uint64[7].

    None if no position has this move, because no piece moves like that.
    """
    origin, target, piece = move_squares(move)
    promotion = move >> int(PROMOTION_SHIFT) & int(THREE_BITS)
    kind = move >> int(KIND_SHIFT)
    empty, enemy, right = 0, 0, 0
    if piece == PAWN:
        masks = _pawn_masks(origin, target, kind, side)
        on_last_rank = bool(1 << target & int(BACK_RANKS))
        if masks is None or on_last_rank != (1 <= promotion <= 4) or promotion > 4:
            return None
        empty, enemy = masks
    elif promotion:
        return None
    elif kind == CASTLING and piece == KING:
        castler, right, path = _CASTLES.get((origin, target), (None, 0, 0))
        if castler != side:
            return None
        empty = int(path)
    elif kind == QUIET_OR_CAPTURE and piece in _STEPS:
        between = _between(origin, target, piece)
        if between is None:
            return None
        empty = between
    else:
        return None
    return np.array(
        [
            piece,
            1 << origin,
            1 << target,
            empty,
            enemy,
            right << int(CASTLING_SHIFT),
            kind == EN_PASSANT,
        ],
        dtype=np.uint64,
    )


def _pawn_masks(origin: int, target: int, kind: int, side: int) -> tuple[int, int] | None:
    """Squares that must be empty, and that must hold an enemy; None for what is no pawn move."""
    forward = 8 if side == 0 else -8
    if kind == DOUBLE_PUSH:
        home = 1 if side == 0 else 6
        if origin // 8 != home or target != origin + 2 * forward:
            return None
        return 1 << origin + forward | 1 << target, 0
    if kind == QUIET_OR_CAPTURE and target == origin + forward:
        return 1 << target, 0
    if kind not in (QUIET_OR_CAPTURE, EN_PASSANT):
        return None
    if not ray_attacks(origin, PAWN_STEPS[side], False) >> target & 1:
        return None
    return (1 << target, 0) if kind == EN_PASSANT else (0, 1 << target)


def _between(origin: int, target: int, piece: int) -> int | None:
    """Squares that a piece passes on its way; None if it does not go there on an empty board."""
    slides = piece in (BISHOP, ROOK, QUEEN)
    for step in _STEPS[piece]:
        ray = ray_attacks(origin, (step,), slides)
        if ray >> target & 1:
            return ray & ray_attacks(target, ((-step[0], -step[1]),), slides) if slides else 0
    return None


@njit(nogil=True, cache=True, forceinline=True)
def read_conditions(words):
    """The array uint64[7] as a tuple, which lives in registers."""
    return Conditions(words[0], words[1], words[2], words[3], words[4], words[5], words[6])


@njit(nogil=True, cache=True, forceinline=True)
def is_playable(positions, row, pos, side, needed):
    """Whether `side` may play the move in the position: row `row` of `positions`, and as `pos`."""
    occupied = occupied_squares(pos)
    own = pieces_of(pos, side)
    return (
        positions[row, needed.piece] & own & needed.origin != 0
        and own & needed.target == 0
        and occupied & needed.empty == 0
        and needed.enemy & ~(occupied ^ own) == 0
        and needed.right & ~pos[STATE] == 0
        and (needed.en_passant == 0 or needed.target == np.uint64(1) << en_passant_square(pos))
    )
