"""Our own move: the records of a belief in which it is legal and leads to what we then observe.

A few masks decide whether a move is legal; they are the same in every position. Of the other side's
pieces the move changes only what it captures. So records are filtered in place, without a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.record import OUR_SIDE, OUR_STATE, unpack
from obscuro.kernels import kernel
from obscuro.rules.castling import castling_rooks, castling_way
from obscuro.rules.layout import (
    BACK_RANKS,
    BISHOP,
    BLACK_LONG_PATH,
    BLACK_SHORT_PATH,
    CASTLING,
    CASTLING_SHIFT,
    DOUBLE_PUSH,
    EN_PASSANT,
    EN_PASSANT_SHIFT,
    KIND_SHIFT,
    KING,
    KING_TAKES_ROOK,
    KNIGHT,
    PAWN,
    PROMOTION_SHIFT,
    QUEEN,
    QUIET_OR_CAPTURE,
    ROOK,
    SQUARE_BITS,
    THREE_BITS,
    WHITE,
    WHITE_LONG_PATH,
    WHITE_SHORT_PATH,
)
from obscuro.rules.moves import has_move
from obscuro.rules.position import move_squares
from obscuro.rules.tables import (
    BISHOP_STEPS,
    KING_STEPS,
    KNIGHT_STEPS,
    PAWN_STEPS,
    ROOK_STEPS,
    TABLES,
    ray_attacks,
)

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]
# (first, last, target) -> how many of the rows from `first` to `last` stay, moved to `target` on
Keep = Callable[[int, int, int], int]

_STEPS = {
    KNIGHT: KNIGHT_STEPS,
    BISHOP: BISHOP_STEPS,
    ROOK: ROOK_STEPS,
    QUEEN: KING_STEPS,
    KING: KING_STEPS,
}
_CASTLES = {  # (origin, target): side, right, path, rook
    (4, 6): (0, 1, WHITE_SHORT_PATH, 7),
    (4, 2): (0, 2, WHITE_LONG_PATH, 0),
    (60, 62): (1, 4, BLACK_SHORT_PATH, 63),
    (60, 58): (1, 8, BLACK_LONG_PATH, 56),
}


class Conditions(NamedTuple):
    """What a position must be like for the mover to play a certain move, mostly as masks."""

    piece: int  # the index of the board that must have the origin
    origin: int
    target: int  # holds no piece of the mover; 0 if the king goes to its rook's square
    empty: int
    enemy: int  # holds a piece of the other side
    right: int  # bits of the state word
    en_passant: bool  # whether the target must be the en passant square
    rook: int = 0  # holds a rook of the mover that may castle

    @property
    def victim(self) -> int:
        """The square of a pawn captured en passant."""
        if not self.en_passant:
            return 0
        return self.target >> 8 if self.target > self.origin else self.target << 8


def conditions(move: int, side: int) -> Conditions | None:
    """The conditions on which `side` may play a move word; None if no piece moves like that."""
    origin, target, piece = move_squares(move)
    promotion = move >> int(PROMOTION_SHIFT) & int(THREE_BITS)
    kind = move >> int(KIND_SHIFT)
    empty, enemy, right, rook = 0, 0, 0, 0
    landing = 1 << target
    if piece == PAWN:
        masks = _pawn_masks(origin, target, kind, side)
        on_last_rank = bool(1 << target & int(BACK_RANKS))
        if masks is None or on_last_rank != (1 <= promotion <= 4) or promotion > 4:
            return None
        empty, enemy = masks
    elif promotion:
        return None
    elif kind == CASTLING and piece == KING:
        castler, right, path, corner = _CASTLES.get((origin, target), (None, 0, 0, 0))
        if castler != side:
            return None
        empty, rook = int(path), 1 << corner
    elif kind == KING_TAKES_ROOK and piece == KING:
        if origin // 8 != 7 * side or target // 8 != 7 * side or origin == target:
            return None
        right = (1 if target > origin else 2) << 2 * side
        empty = int(castling_way(origin & 7, target & 7)) << 56 * side
        rook, landing = landing, 0
    elif kind == QUIET_OR_CAPTURE and piece in _STEPS:
        between = _between(origin, target, piece)
        if between is None:
            return None
        empty = between
    else:
        return None
    return Conditions(
        piece,
        1 << origin,
        landing,
        empty,
        enemy,
        right << int(CASTLING_SHIFT),
        kind == EN_PASSANT,
        rook,
    )


def is_ours(known: Words, needed: Conditions) -> bool:
    """Whether what we know by ourselves, uint64[KNOWN_WORDS] as in `record`, allows the move."""
    own = int(np.bitwise_or.reduce(known[:WHITE]))
    state = int(known[OUR_STATE])
    square = state >> int(EN_PASSANT_SHIFT) & int(SQUARE_BITS)
    return bool(
        int(known[needed.piece]) & needed.origin
        and not own & (needed.target | needed.empty | needed.enemy)
        and not needed.right & ~state
        and (not needed.rook or needed.rook & _castlers(known))
        and (not needed.en_passant or (square and needed.target == 1 << square))
    )


def _castlers(known: Words) -> int:
    """The squares of our rooks that may castle."""
    return int(castling_rooks(known[OUR_STATE], np.int64(known[OUR_SIDE])))


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


class OwnMoveTask(NamedTuple):
    """What our move must explain. Masks of squares; planes as in `record`."""

    empty: np.uint64  # squares without a piece of the other side
    enemy: np.uint64  # squares with one
    victim: np.uint64  # the square of a pawn captured en passant
    captured: np.uint64  # squares from which our move takes a piece
    seen: np.uint64  # this and the next five as in `SuccessorTask`; all 0 if we were not told
    a: np.uint64
    b: np.uint64
    c: np.uint64
    blocked: np.uint64
    no_enemy: np.uint64
    own_after: np.uint64


def own_task(needed: Conditions, known_after: Words, required: Words) -> OwnMoveTask:
    """What our move must explain.

    needed: the conditions of the move. known_after: uint64[KNOWN_WORDS], see `record`. required:
    uint64[REQUIREMENT_WORDS] of the observation after it; zeros if we were not told.
    """
    white = int(required[7])
    enemy = ~white if known_after[OUR_SIDE] == 0 else white
    pawns, knights, bishops, rooks, queens, kings = (
        int(board) & enemy for board in required[1:7].tolist()
    )
    words = (
        needed.empty | (needed.target if needed.en_passant else 0),
        needed.enemy,
        needed.victim,
        needed.target | needed.victim,
        int(required[0]),
        kings | queens | rooks,
        knights | bishops | queens,
        pawns | bishops | rooks,
        int(required[9]),
        int(required[10]),
        int(np.bitwise_or.reduce(known_after[:WHITE])),
    )
    return OwnMoveTask(*map(np.uint64, words))


@kernel
def follow(tables, records, weights, first, last, target, task, known_after):
    """Filter the records number `first` to `last` - 1; return how many are left.

    records: uint64[n, 3]; those left are written from row `target` ≤ `first` on, in their order,
    and their weights too: float32[n], or float32[0] if there are none.
    task: an `OwnMoveTask`; known_after: see `record`. Records where the move is not legal, or which
    it makes end the game, drop out.
    """
    kept = ~task.captured
    white = known_after[OUR_SIDE] == 1
    weighted = weights.shape[0] > 0
    end = target
    for row in range(first, last):
        a, b, c = records[row, 0], records[row, 1], records[row, 2]
        enemy = a | b | c
        if enemy & task.empty or task.enemy & ~enemy or task.victim & ~(c & ~(a | b)):
            continue
        if task.captured & a & ~(b | c):  # a king
            continue
        a &= kept
        b &= kept
        c &= kept
        enemy &= kept
        castlers = a & b & c
        if ((a ^ task.a) | ((b ^ castlers) ^ task.b) | (c ^ task.c)) & task.seen:
            continue
        occupied = enemy | task.own_after
        if task.blocked & ~occupied or task.no_enemy & enemy:
            continue
        # The other side must have a move; most often a pawn has one.
        pawns = c & ~(a | b)
        pushes = pawns << np.uint64(8) if white else pawns >> np.uint64(8)
        if not pushes & ~occupied and not has_move(tables, unpack(known_after, a, b, c)):
            continue
        records[end, 0], records[end, 1], records[end, 2] = a, b, c
        if weighted:
            weights[end] = weights[row]
        end += 1
    return end - target


def own_move_pass(
    records: Records,
    weights: npt.NDArray[np.float32] | None,
    known_after: Words,
    needed: Conditions,
    required: Words,
) -> Keep:
    """A pass that keeps the records uint64[n, 3] in which our move is legal and explains what we see.

    weights: float32[n], which move with them, or None. known_after: uint64[KNOWN_WORDS], after the
    move. needed: the conditions of the move. required:
    uint64[REQUIREMENT_WORDS] of what we then see, or zeros if we were not told.
    """
    task = own_task(needed, known_after, required)
    moved = np.zeros(0, dtype=np.float32) if weights is None else weights

    def keep(first: int, last: int, target: int) -> int:
        kept: int = follow(TABLES, records, moved, first, last, target, task, known_after)
        return kept

    return keep
