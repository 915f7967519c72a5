"""Which inputs of the network a piece is: HalfKAv2_hm, as each side sees the board.

Each side has inputs of its own, one for every kind of piece on every square, for every place of its
own king. It sees the board from its own edge, and mirrored if its king is on files a to d, so that
32 places of the king are left. A kind is a piece of the own side or of the other; the two kings are
one kind, since they never stand on the same square.

    input = 704 x place of the own king + 64 x kind + square

Source: docs/nnue.md of nnue-pytorch.
"""

import numpy as np

from obscuro.board.bits import lowest_square
from obscuro.board.layout import KING, KINGS
from obscuro.board.moves import pieces_of
from obscuro.kernels import kernel

KINDS = 11
INPUTS_PER_PLACE = 64 * KINDS

_MIRROR_RANKS = 56
_MIRROR_FILES = 7


@kernel
def king_square(pos, side):
    """Where the king of `side` (0 = White) stands; it must have one."""
    return lowest_square(pos[KINGS] & pieces_of(pos, side))


@kernel
def view(perspective, king):
    """How a side (0 = White) with its king on `king` sees the board.

    Returns what its squares are xored with, and the first of the inputs for this place of the king.
    """
    mirror = _MIRROR_RANKS if perspective else 0
    if king & 7 < 4:
        mirror ^= _MIRROR_FILES
    seen = king ^ mirror
    place = 4 * (7 - (seen >> 3)) + 7 - (seen & 7)
    return mirror, place * INPUTS_PER_PLACE


@kernel
def feature(mirror, first, is_own, piece, square):
    """The index of the input "this piece stands on `square`".

    mirror, first: of `view`; is_own: whether the piece is the viewing side's.
    """
    kind = 2 * piece
    if not is_own and piece != KING:
        kind += 1
    return np.int64(first + 64 * kind + (square ^ mirror))
