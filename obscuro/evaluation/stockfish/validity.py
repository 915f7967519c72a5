"""Which positions Stockfish can be given.

Stockfish does not check what it is told: a king that can be captured, or castling rights without
the rook, crash it or send it into an endless loop. In the fog such positions are normal.
"""

import numpy as np

from obscuro.board.bits import lowest_square, popcount
from obscuro.board.layout import (
    BACK_RANKS,
    CASTLING_BITS,
    CASTLING_SHIFT,
    EN_PASSANT,
    KIND_SHIFT,
    KINGS,
    ONE,
    PAWNS,
    ROOKS,
    STATE,
    TO_SHIFT,
    WHITE,
)
from obscuro.board.make import make_move
from obscuro.board.moves import en_passant_square, occupied_squares, pieces_of, side_to_move
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.kernels import kernel

_EIGHT = np.uint64(8)
_E1 = ONE << np.uint64(4)
_E8 = ONE << np.uint64(60)
_ROOK_SQUARES = (np.uint64(7), np.uint64(0), np.uint64(63), np.uint64(56))  # of K, Q, k, q
_EN_PASSANT_KIND = np.uint64(EN_PASSANT) << KIND_SHIFT


@kernel
def stockfish_can_take(tables, pos):
    """Whether `pos` is a position of ordinary chess as far as Stockfish relies on it.

    One king a side, and the one whose side is not to move not attacked; no square twice, no pawn on
    a back rank, at most 16 pieces and 8 pawns a side; rights and en passant square fit the pieces.
    """
    occupied = occupied_squares(pos)
    pieces = 0
    for board in range(WHITE):
        pieces += popcount(pos[board])
    if pieces != popcount(occupied) or pos[WHITE] & ~occupied or pos[PAWNS] & BACK_RANKS:
        return False
    for side in range(2):
        own = pieces_of(pos, side)
        if popcount(pos[KINGS] & own) != 1 or popcount(own) > 16 or popcount(pos[PAWNS] & own) > 8:
            return False
    return (
        _rights_fit(pos)
        and _en_passant_fits(tables, pos)
        and not king_is_attacked(tables, pos, 1 - side_to_move(pos))
    )


@kernel
def _rights_fit(pos):
    rights = (pos[STATE] >> CASTLING_SHIFT) & CASTLING_BITS
    for k in range(4):
        if rights & (ONE << np.uint64(k)):
            own = pieces_of(pos, k >> 1)
            king = _E1 if k < 2 else _E8
            rook = ONE << _ROOK_SQUARES[k]
            if not (pos[KINGS] & own & king and pos[ROOKS] & own & rook):
                return False
    return True


@kernel
def _en_passant_fits(tables, pos):
    """The pushed pawn stands there, the squares that it came over are empty, one can capture."""
    square = en_passant_square(pos)
    if square == 0:
        return True
    side = side_to_move(pos)
    if (square >> np.uint64(3)) != np.uint64(5 if side == 0 else 2):
        return False
    target = ONE << square
    pawn = target >> _EIGHT if side == 0 else target << _EIGHT
    origin = target << _EIGHT if side == 0 else target >> _EIGHT
    return (
        (pos[PAWNS] & pieces_of(pos, 1 - side) & pawn) != 0
        and (occupied_squares(pos) & (target | origin)) == 0
        and (tables.pawn[1 - side, np.int64(square)] & pos[PAWNS] & pieces_of(pos, side)) != 0
    )


@kernel
def safe_en_passant_square(tables, pos):
    """The en passant square if a capture there leaves the own king safe, else 0.

    Only this may be told to Stockfish. It takes for granted that a check came from the pawn's push,
    and so deems an en passant capture legal although the king stays attacked by a knight, say; in
    the fog, where a check can have stood before the push, that makes it capture a king.
    """
    square = en_passant_square(pos)
    if square == 0:
        return square
    side = side_to_move(pos)
    capturers = tables.pawn[1 - side, np.int64(square)] & pos[PAWNS] & pieces_of(pos, side)
    while capturers:
        origin = np.uint64(lowest_square(capturers))
        capturers &= capturers - ONE
        move = origin | square << TO_SHIFT | _EN_PASSANT_KIND
        if not king_is_attacked(tables, make_move(pos, move), side):
            return square
    return np.uint64(0)
