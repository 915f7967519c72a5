"""Castling from any start of Chess960: where king and rooks stood, in the state word.

The state word (`layout`) names the files of the king and the rooks that may castle, each xor its file
in ordinary chess. So in ordinary chess these bits are 0, and no kernel comes here. A file is kept only
as long as its castling right: positions with equal pieces and rights have equal words.

Castling takes the king to the g- or c-file and the rook to the f- or d-file. All squares on their
ways must be empty, but for the two themselves. Nothing else is asked, since there is no check.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.layout import (
    CASTLING_SHIFT,
    FILES_SHIFT,
    KIND_SHIFT,
    KING,
    KING_TAKES_ROOK,
    KINGS,
    ONE,
    PIECE_SHIFT,
    ROOKS,
    SIDE_FILES_BITS,
    SIDE_FILES_SHIFT,
    TO_SHIFT,
    WHITE,
)

_ZERO = np.uint64(0)
_FAR_FILES = np.uint64(0b000111000)
_NEAR_FILES = np.uint64(0b111000000)
_KING_CASTLES = np.uint64(KING) << PIECE_SHIFT | np.uint64(KING_TAKES_ROOK) << KIND_SHIFT
_BACK_RANK = np.uint64(0xFF)

OWN_RIGHTS = (0b0011 << 1, 0b1100 << 1)
"""Castling rights of White and of Black in the state word."""
OWN_CASTLING = (0b0011 << 1 | 0x1FF << 11, 0b1100 << 1 | 0x1FF << 20)
"""The same with the files."""
CASTLING_STATE = OWN_CASTLING[0] | OWN_CASTLING[1]


def side_files(king: int, far: int | None, near: int | None) -> int:
    """The nine bits of one side: its king's file, and the files of the rooks that may castle.

    None: no right on this wing. Without any right the bits are 0.
    """
    bits = 0
    if far is not None or near is not None:
        bits |= king ^ 4
    if far is not None:
        bits |= (far ^ 7) << 3
    if near is not None:
        bits |= near << 6
    return bits


@kernel
def files_of(state, side):
    """The files of `side`'s king, far rook and near rook, as three int64."""
    shift = FILES_SHIFT + SIDE_FILES_SHIFT * np.uint64(side)
    files = np.int64((state >> shift) & SIDE_FILES_BITS)
    return (files & 7) ^ 4, (files >> 3 & 7) ^ 7, files >> 6


@kernel
def castling_way(king, rook):
    """Squares of the back rank that must be empty to castle, as a mask of files.

    king, rook: files, int64. Neither's own square is in it.
    """
    wing = 0 if rook > king else 1
    king_to = 6 if wing == 0 else 2
    rook_to = 5 if wing == 0 else 3
    first = min(king, rook, king_to, rook_to)
    last = max(king, rook, king_to, rook_to)
    way = _ZERO
    for file in range(first, last + 1):
        on_king_way = min(king, king_to) <= file <= max(king, king_to)
        on_rook_way = min(rook, rook_to) <= file <= max(rook, rook_to)
        if (on_king_way or on_rook_way) and file not in (king, rook):
            way |= ONE << np.uint64(file)
    return way


@kernel
def castling_word(king, rook, side):
    """The move word of castling; king, rook: files. As in ordinary chess if they stand so."""
    rank = np.uint64(56 * side)
    origin = np.uint64(king) + rank
    if king == 4 and rook in (0, 7):
        target = np.uint64(6 if rook == 7 else 2) + rank
        return (
            origin
            | target << TO_SHIFT
            | np.uint64(KING) << PIECE_SHIFT
            | np.uint64(3) << KIND_SHIFT
        )
    return origin | (np.uint64(rook) + rank) << TO_SHIFT | _KING_CASTLES


@kernel
def add_castling(state, side, occupied, moves, count):
    """Append `side`'s castling moves, first towards the h-file; return the number of moves.

    state: the state word. occupied: all pieces, a mask. moves: uint32[n], `count` of them written.
    """
    rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side)
    king, far, near = files_of(state, side)
    rank = occupied >> np.uint64(56 * side)
    if rights & ONE and not rank & castling_way(king, far):
        moves[count] = castling_word(king, far, side)
        count += 1
    if rights & np.uint64(2) and not rank & castling_way(king, near):
        moves[count] = castling_word(king, near, side)
        count += 1
    return count


@kernel
def can_castle(state, side, occupied):
    """Whether `side` has a castling move. state: the state word; occupied: all pieces, a mask."""
    rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side)
    king, far, near = files_of(state, side)
    rank = occupied >> np.uint64(56 * side)
    return (rights & ONE and not rank & castling_way(king, far)) or (
        rights & np.uint64(2) and not rank & castling_way(king, near)
    )


@kernel
def arrivals(word):
    """Where king and rook arrive by a castling word of the kind KING_TAKES_ROOK: two masks."""
    origin = np.int64(word) & 63
    rook = np.int64(word) >> 6 & 63
    rank = origin & 56
    if rook > origin:
        return ONE << np.uint64(rank + 6), ONE << np.uint64(rank + 5)
    return ONE << np.uint64(rank + 2), ONE << np.uint64(rank + 3)


@kernel
def seen_by_castling(state, side, occupied):
    """Squares that `side` sees only because it could castle there, a mask; see `vision`.

    occupied: all pieces, a mask. There is one case: a king on the b-file, its rook on the a-file.
    The rook would arrive on the d-file, two squares from the king. All other squares on the way are
    seen anyway.
    """
    rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side)
    king, _, near = files_of(state, side)
    if king != 1 or near != 0 or not rights & np.uint64(2):
        return _ZERO
    way = np.uint64(0b1100) << np.uint64(56 * side)
    return _ZERO if occupied & way else way


@kernel
def castling_blocked(state, side, occupied, seen):
    """The square that must be occupied because `side` does not see it, a mask; see `vision`.

    occupied: the pieces seen. seen: the squares seen.
    """
    rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side)
    king, _, near = files_of(state, side)
    if king != 1 or near != 0 or not rights & np.uint64(2):
        return _ZERO
    beside = np.uint64(0b0100) << np.uint64(56 * side)
    if occupied & beside:
        return _ZERO
    return (np.uint64(0b1000) << np.uint64(56 * side)) & ~seen


@kernel
def castling_after(state, touched):
    """The rights and files that are left, in the state word's places, after pieces moved or fell.

    touched: the squares that a move left, or arrived at, a mask.
    """
    kept = _ZERO
    for side in range(2):
        rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side) & np.uint64(3)
        if rights == 0:
            continue
        king, far, near = files_of(state, side)
        rank = touched >> np.uint64(56 * side)
        if rank >> np.uint64(king) & ONE:
            continue
        if rank >> np.uint64(far) & ONE:
            rights &= np.uint64(2)
        if rank >> np.uint64(near) & ONE:
            rights &= ONE
        files = (state >> (FILES_SHIFT + SIDE_FILES_SHIFT * np.uint64(side))) & SIDE_FILES_BITS
        if not rights & ONE:
            files &= ~_FAR_FILES
        if not rights & np.uint64(2):
            files &= ~_NEAR_FILES
        if rights == 0:
            files = _ZERO
        kept |= rights << (CASTLING_SHIFT + np.uint64(2 * side))
        kept |= files << (FILES_SHIFT + SIDE_FILES_SHIFT * np.uint64(side))
    return kept


@kernel
def castling_of(king, rooks, side):
    """Rights and files of `side`, in the state word's places, of a king and rooks that may castle.

    king, rooks: masks of squares on the side's back rank. Rooks beyond one on each wing are not
    expected.
    """
    rank = np.uint64(56 * side)
    king_bit = (king >> rank) & _BACK_RANK
    rook_bits = (rooks >> rank) & _BACK_RANK
    if king_bit == 0 or rook_bits == 0:
        return _ZERO
    king_file = 0
    while not king_bit >> np.uint64(king_file) & ONE:
        king_file += 1
    rights, files = _ZERO, np.uint64(king_file ^ 4)
    for file in range(8):
        if rook_bits >> np.uint64(file) & ONE:
            if file > king_file:
                rights |= ONE
                files = (files & ~_FAR_FILES) | np.uint64(file ^ 7) << np.uint64(3)
            elif file < king_file and not rights & np.uint64(2):
                rights |= np.uint64(2)
                files |= np.uint64(file) << np.uint64(6)
    if rights == 0:
        return _ZERO
    return rights << (CASTLING_SHIFT + np.uint64(2 * side)) | files << (
        FILES_SHIFT + SIDE_FILES_SHIFT * np.uint64(side)
    )


@kernel
def castling_at_home(pos, state):
    """The rights and files of a state word that fit the pieces of a position, 8 × uint64."""
    absent = _ZERO
    for side in range(2):
        own = pos[WHITE] if side == 0 else ~pos[WHITE]
        king, far, near = files_of(state, side)
        rank = np.uint64(56 * side)
        kings, rooks = (pos[KINGS] & own) >> rank, (pos[ROOKS] & own) >> rank
        missing = ~kings & (ONE << np.uint64(king))
        missing |= ~rooks & (ONE << np.uint64(far) | ONE << np.uint64(near))
        absent |= (missing & _BACK_RANK) << rank
    return castling_after(state, absent)


@kernel
def outermost_castling(pos, side, rights):
    """`castling_of` the king and the outermost rooks of `side` in a position, 8 × uint64.

    rights: those that it may have, in the state word's places.
    """
    own = pos[WHITE] if side == 0 else ~pos[WHITE]
    back_rank = _BACK_RANK << np.uint64(56 * side)
    castling = castling_of(pos[KINGS] & own & back_rank, pos[ROOKS] & own & back_rank, side)
    _, far, near = files_of(castling, side)
    wanted = (rights >> CASTLING_SHIFT) >> np.uint64(2 * side)
    lost = _ZERO
    if not wanted & ONE:
        lost |= ONE << np.uint64(far)
    if not wanted & np.uint64(2):
        lost |= ONE << np.uint64(near)
    return castling_after(castling, lost << np.uint64(56 * side))


@kernel
def castling_rooks(state, side):
    """The rooks of `side` that may castle, a mask."""
    rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side)
    _, far, near = files_of(state, side)
    rooks = _ZERO
    if rights & ONE:
        rooks |= ONE << np.uint64(far + 56 * side)
    if rights & np.uint64(2):
        rooks |= ONE << np.uint64(near + 56 * side)
    return rooks
