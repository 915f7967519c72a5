"""Attacks on kings. The rules of Fog of War ignore check, but an evaluation needs it."""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.layout import BISHOPS, KINGS, KNIGHTS, PAWNS, QUEENS, ROOKS
from obscuro.rules.moves import occupied_squares, pieces_of
from obscuro.rules.tables import bishop_attacks, rook_attacks


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
