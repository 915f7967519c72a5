"""What a side sees (Obscuro, Appendix A).

A side sees its own pieces and every square that one of them could move to, whoever is to move. A
pawn can push only onto empty squares, so it does not see its blocker. It sees a diagonal only if an
enemy piece stands there or it can capture en passant there. In that case it sees the captured pawn
as well.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.attacks import bishop_attacks, rook_attacks
from obscuro.rules.bits import lowest_square
from obscuro.rules.layout import (
    BISHOPS,
    KINGS,
    KNIGHTS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    QUEENS,
    RANK_3,
    RANK_6,
    ROOKS,
)
from obscuro.rules.moves import en_passant_square, occupied_squares, pieces_of, side_to_move

_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)


@kernel
def capturable_en_passant(tables, pos, side):
    """The square where `side` can capture en passant now, as uint64; 0 = none."""
    ep = en_passant_square(pos)
    if ep and side_to_move(pos) == side:
        return ep
    return np.uint64(0)


@kernel
def vision(tables, pos, side):
    """Squares that `side` (0 = White) sees in `pos`, as a uint64 mask.

    Castling adds nothing: the king's and the rook's own moves show its path.
    """
    occupied = occupied_squares(pos)
    own = pieces_of(pos, side)
    enemy = occupied ^ own
    empty = ~occupied
    pawns = pos[PAWNS] & own
    seen = own
    if side == 0:
        single = (pawns << _EIGHT) & empty
        seen |= single | (((single & RANK_3) << _EIGHT) & empty)
        seen |= (((pawns & NOT_FILE_A) << _SEVEN) | ((pawns & NOT_FILE_H) << _NINE)) & enemy
    else:
        single = (pawns >> _EIGHT) & empty
        seen |= single | (((single & RANK_6) >> _EIGHT) & empty)
        seen |= (((pawns & NOT_FILE_H) >> _SEVEN) | ((pawns & NOT_FILE_A) >> _NINE)) & enemy
    movers = pos[KNIGHTS] & own
    while movers:
        seen |= tables.knight[lowest_square(movers)]
        movers &= movers - ONE
    movers = (pos[BISHOPS] | pos[QUEENS]) & own
    while movers:
        seen |= bishop_attacks(tables, lowest_square(movers), occupied)
        movers &= movers - ONE
    movers = (pos[ROOKS] | pos[QUEENS]) & own
    while movers:
        seen |= rook_attacks(tables, lowest_square(movers), occupied)
        movers &= movers - ONE
    movers = pos[KINGS] & own
    while movers:
        seen |= tables.king[lowest_square(movers)]
        movers &= movers - ONE
    ep = capturable_en_passant(tables, pos, side)
    if ep:
        square = ONE << ep
        seen |= square | (square >> _EIGHT if side == 0 else square << _EIGHT)
    return seen
