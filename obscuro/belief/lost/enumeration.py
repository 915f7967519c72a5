"""Listing all positions that explain what is seen, if there are few."""

import numpy as np

from obscuro.belief.lost.placement import (
    KINDS,
    PAWN_KIND,
    STRICT,
    add_position,
    pawns_can_stand,
)
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import ONE

STRUCTURE = 16  # attempts in the time that it takes to rule out a pawn structure

_ZERO = np.uint64(0)


@kernel
def add_all(tables, known, wanted, attempts, memory, out, count):
    """Write all positions with so many hidden pieces that are not in `out` yet.

    wanted: int64[KINDS], the number of hidden pieces of each kind. attempts: the greatest number of
    positions to try. out: uint64[n, 8], with `count` positions so far. Returns how many there are
    then, and the attempts left. If `out` is full or no attempt is left, there may be more
    positions.
    """
    number = wanted.sum()
    kinds = np.empty(number, dtype=np.int64)
    left = np.zeros(number + 1, dtype=np.uint64)  # squares still to be tried, for each piece
    taken = np.zeros(number + 1, dtype=np.uint64)  # the square of each piece
    piece = 0
    for kind in range(KINDS):  # pawns are placed first
        for _ in range(wanted[kind]):
            kinds[piece] = kind
            piece += 1
    if number:
        left[0] = known.allowed[kinds[0]]
    hidden = np.zeros(KINDS, dtype=np.uint64)
    occupied = _ZERO
    piece = 0
    while piece >= 0 and attempts > 0 and count < out.shape[0]:
        if piece == wanted[PAWN_KIND] and not pawns_can_stand(known, hidden[PAWN_KIND], memory):
            attempts -= STRUCTURE
            piece -= 1
            continue
        if piece == number:  # all stand
            rights = known.rights[1]
            while True:  # for each set of castling rights
                count = add_position(tables, known, STRICT, hidden, rights, memory, out, count)
                attempts -= 1
                if rights == _ZERO or count == out.shape[0]:
                    break
                rights = (rights - ONE) & known.rights[1]
            piece -= 1
            continue
        kind = kinds[piece]
        hidden[kind] ^= taken[piece]  # take it up again
        occupied ^= taken[piece]
        taken[piece] = _ZERO
        squares = left[piece] & ~occupied
        required = known.occupied & ~occupied
        if popcount(required) >= number - piece:  # no piece may go elsewhere
            squares &= required if popcount(required) == number - piece else _ZERO
        if squares == _ZERO:
            attempts -= 1
            piece -= 1
            continue
        bit = ONE << np.uint64(lowest_square(squares))
        left[piece] = squares & (squares - ONE)
        taken[piece] = bit
        hidden[kind] ^= bit
        occupied ^= bit
        piece += 1
        if piece < number:
            # Pieces of a kind go on rising squares, so that each set of squares comes once.
            same = kinds[piece] == kind
            left[piece] = left[piece - 1] if same else known.allowed[kinds[piece]]
    return count, attempts
