"""Attacked squares and kings. The rules of Fog of War ignore check, but an evaluation needs it."""

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
    ROOKS,
)
from obscuro.rules.moves import occupied_squares, pieces_of

_SEVEN, _NINE = np.uint64(7), np.uint64(9)


@kernel
def _pawn_attacks(pawns, side):
    """Return the squares that pawns of `side` attack, whatever stands there."""
    if side == 0:
        return ((pawns & NOT_FILE_A) << _SEVEN) | ((pawns & NOT_FILE_H) << _NINE)
    return ((pawns & NOT_FILE_A) >> _NINE) | ((pawns & NOT_FILE_H) >> _SEVEN)


@kernel
def attacked_squares(tables, pos, pieces, side, occupied):
    """Return the squares that some pieces attack, uint64, whatever stands there.

    pieces: theirs, all of `side` (0 = White). occupied: what blocks lines.
    """
    attacked = _pawn_attacks(pos[PAWNS] & pieces, side)
    left = pieces & ~pos[PAWNS]
    while left:
        bit = left & (~left + ONE)
        square = lowest_square(left)
        left &= left - ONE
        if bit & pos[KNIGHTS]:
            attacked |= tables.knight[square]
        elif bit & pos[KINGS]:
            attacked |= tables.king[square]
        else:
            if bit & (pos[BISHOPS] | pos[QUEENS]):
                attacked |= bishop_attacks(tables, square, occupied)
            if bit & (pos[ROOKS] | pos[QUEENS]):
                attacked |= rook_attacks(tables, square, occupied)
    return attacked


@kernel
def square_is_attacked(tables, pos, square, by_side):
    """Return whether a piece of `by_side` (0 = White) attacks `square`, whoever is to move."""
    occupied = occupied_squares(pos)
    attackers = pieces_of(pos, by_side)
    if tables.knight[square] & pos[KNIGHTS] & attackers:
        return True
    if tables.pawn[1 - by_side, square] & pos[PAWNS] & attackers:
        return True
    if tables.king[square] & pos[KINGS] & attackers:
        return True
    if bishop_attacks(tables, square, occupied) & (pos[BISHOPS] | pos[QUEENS]) & attackers:
        return True
    return (rook_attacks(tables, square, occupied) & (pos[ROOKS] | pos[QUEENS]) & attackers) != 0


@kernel
def king_is_attacked(tables, pos, side):
    """Return whether the king of `side` (0 = White) is attacked; False if it has no king."""
    king = pos[KINGS] & pieces_of(pos, side)
    if king == np.uint64(0):
        return False
    return square_is_attacked(tables, pos, lowest_square(king), 1 - side)
