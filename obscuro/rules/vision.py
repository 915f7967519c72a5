"""What a side sees (Obscuro, Appendix A).

A side sees its own pieces and every square that one of them could move to, whoever is to move. A
pawn can push only onto empty squares, so it does not see its blocker. It sees a diagonal only if an
enemy piece stands there or it can capture en passant there. In that case it sees the captured pawn
as well. Where it may castle, it sees where king and rook would arrive: the legal moves of a side are
always those that it can tell from what it sees.

An observation is 9 `uint64` words for kernels: the mask of seen squares, the seven piece boards
(pawns … kings, white pieces) restricted to it, and the square where the side can capture en passant
(0 = none). `obscuro.rules.observation.Observation` is the same for Python.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product, lowest_square
from obscuro.rules.castling import seen_by_castling
from obscuro.rules.layout import (
    BISHOPS,
    FILES_SHIFT,
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
    STATE,
)
from obscuro.rules.moves import en_passant_square, occupied_squares, pieces_of, side_to_move
from obscuro.rules.tables import bishop_attacks, rook_attacks

OBSERVATION_WORDS = 9
SEEN = 0
EN_PASSANT_WORD = 8

# The binary digits of π, after those of the hash of positions.
_K0 = np.uint64(0x9216D5D98979FB1B)
_K1 = np.uint64(0xD1310BA698DFB5AC)
_K2 = np.uint64(0x2FFD72DBD01ADFB7)
_K3 = np.uint64(0xB8E1AFED6A267E96)
_K4 = np.uint64(0xBA7C9045F12C7F99)
_K5 = np.uint64(0x24A19947B3916CF7)
_K6 = np.uint64(0x0801F2E2858EFC16)
_K7 = np.uint64(0x636920D871574E69)
_K8 = np.uint64(0xA458FEA3F4933D7F)

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

    Castling adds nothing in ordinary chess: the king's and the rook's own moves show its path.
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
    if pos[STATE] >> FILES_SHIFT:
        seen |= seen_by_castling(pos[STATE], side, occupied)
    return seen


@kernel
def observation_words(tables, pos, side):
    """What `side` observes in `pos`, as a tuple of 9 uint64 words (see the module)."""
    seen = vision(tables, pos, side)
    return (
        seen,
        pos[0] & seen,
        pos[1] & seen,
        pos[2] & seen,
        pos[3] & seen,
        pos[4] & seen,
        pos[5] & seen,
        pos[6] & seen,
        capturable_en_passant(tables, pos, side),
    )


@kernel
def hash_words(words):
    """A 64-bit hash of an observation's 9 words, never 0; made as `position_hash` is."""
    h = folded_product(words[0] ^ _K0, words[1] ^ _K1)
    h ^= folded_product(words[2] ^ _K2, words[3] ^ _K3)
    h ^= folded_product(words[4] ^ _K4, words[5] ^ _K5)
    h ^= folded_product(words[6] ^ _K6, words[7] ^ _K7)
    h = folded_product(h ^ words[EN_PASSANT_WORD], _K8)
    return h if h else ONE


@kernel
def observation_hash(tables, pos, side):
    """`hash_words` of what `side` observes in `pos`."""
    return hash_words(observation_words(tables, pos, side))
