"""The network's inputs for a piece, HalfKAv2_hm: one input in the view of each side.

Each side has its own inputs, one for every place of its own king, kind of piece and square. A side
sees the board from its own edge. The board is mirrored if its king is on files a to d, so the king
has 32 places. A kind is a piece type with its owner, own side or enemy. The two kings are one kind,
because they never stand on the same square.

    input = 704 x place of the own king + 64 x kind + square

Source: docs/nnue.md of nnue-pytorch.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.layout import KING, KINGS
from obscuro.rules.moves import pieces_of

KINDS = 11
INPUTS_PER_PLACE = 64 * KINDS

_MIRROR_RANKS = 56
_MIRROR_FILES = 7


@kernel
def king_square(pos, side):
    """Return the square of the king of `side` (0 = White), which must exist."""
    return lowest_square(pos[KINGS] & pieces_of(pos, side))


@kernel
def view(perspective, king):
    """Return the view of a side (0 = White) with its king on the square `king`.

    The view is the mask to xor squares with, and the first input for this place of the king.
    """
    mirror = _MIRROR_RANKS if perspective else 0
    if king & 7 < 4:
        mirror ^= _MIRROR_FILES
    seen = king ^ mirror
    place = 4 * (7 - (seen >> 3)) + 7 - (seen & 7)
    return mirror, place * INPUTS_PER_PLACE


@kernel
def feature(mirror, first, is_own, piece, square):
    """Return the index of the input for `piece` (0 pawn … 5 king) on `square`.

    mirror, first: the result of `view`. is_own: whether the piece belongs to the viewing side.
    """
    kind = 2 * piece
    if not is_own and piece != KING:
        kind += 1
    return np.int64(first + 64 * kind + (square ^ mirror))
