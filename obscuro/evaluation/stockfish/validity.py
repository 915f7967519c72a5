"""Check which positions are valid for Stockfish.

Stockfish does not check its input. A king that can be captured, or a castling right without its
rook, crashes it or makes it loop forever. In the fog such positions are normal.
"""

import numpy as np

from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import (
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
from obscuro.rules.make import make_move
from obscuro.rules.moves import en_passant_square, occupied_squares, pieces_of, side_to_move

_EIGHT = np.uint64(8)
_E1 = ONE << np.uint64(4)
_E8 = ONE << np.uint64(60)
_ROOK_SQUARES = (np.uint64(7), np.uint64(0), np.uint64(63), np.uint64(56))  # of K, Q, k, q
_EN_PASSANT_KIND = np.uint64(EN_PASSANT) << KIND_SHIFT


@kernel
def stockfish_can_take(tables, pos):
    """Return whether `pos` has the properties of chess positions that Stockfish relies on.

    Each side has one king, at most 16 pieces and at most 8 pawns. The king of the side not to move
    is not attacked. No square has two pieces, and no pawn is on a back rank. The castling rights
    and the en passant square fit the pieces.
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
    """Return whether the pushed pawn exists, its path is empty, and a pawn can capture it."""
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
    """Return the en passant square if a capture there leaves the own king safe, else 0.

    A request may contain only such a square. Stockfish assumes that a check came from the pawn's
    push, and so considers the en passant capture legal although, say, a knight still attacks the
    king. In the fog the check may be older than the push, and Stockfish would then capture a king.
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
