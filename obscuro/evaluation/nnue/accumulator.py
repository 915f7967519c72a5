"""Compute both sides' sums of the active inputs, from scratch or from the sums before a move.

A move switches few inputs, so a child's sums are its parent's plus or minus two to four rows of
weights. When a king moves, all inputs of its side change. So for each square of each king the
workspace remembers the last sums computed there and their pieces. New sums rarely differ much.

The network's inputs for a piece, HalfKAv2_hm: one input in the view of each side.

Each side has its own inputs, one for every place of its own king, kind of piece and square. A side
sees the board from its own edge. The board is mirrored if its king is on files a to d, so the king
has 32 places. A kind is a piece type with its owner, own side or enemy. The two kings are one kind,
because they never stand on the same square.

    input = 704 x place of the own king + 64 x kind + square

Source: docs/nnue.md of nnue-pytorch.
"""

import numpy as np

from obscuro.evaluation.nnue.captures import (
    NO_PIECE,
    captured_piece,
    moved_piece,
    promotion_of,
    target_of,
)
from obscuro.evaluation.nnue.network import BUCKETS
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.layout import (
    CASTLING,
    EN_PASSANT,
    KIND_SHIFT,
    KING,
    KING_TAKES_ROOK,
    KINGS,
    ONE,
    ROOK,
    SQUARE_BITS,
    WHITE,
)
from obscuro.rules.moves import pieces_of, side_to_move

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


@kernel
def _add_row(weights, work, place, row, sign):
    """Add a row of weights to the remembered sums of `place`, or subtract it if sign is -1."""
    for half in range(2):
        if sign > 0:
            for k in range(work.inputs.shape[1]):
                work.memory_sums[place, half, k] += weights.features[row, half, k]
        else:
            for k in range(work.inputs.shape[1]):
                work.memory_sums[place, half, k] -= weights.features[row, half, k]
    for k in range(BUCKETS):
        work.memory_psqt[place, k] += np.int32(sign) * weights.psqt[row, k]


@kernel
def refresh(weights, work, frame, pos, perspective):
    """Compute one side's sums of a position, from the remembered sums for its king's square."""
    king = king_square(pos, perspective)
    mirror, first = view(perspective, king)
    place = perspective * 64 + king
    old_white = work.memory_pieces[place, WHITE]
    for piece in range(WHITE):
        old = work.memory_pieces[place, piece]
        for colour in range(2):
            is_own = colour == perspective
            before = old & (old_white if colour == 0 else ~old_white)
            now = pos[piece] & (pos[WHITE] if colour == 0 else ~pos[WHITE])
            gone = before & ~now
            while gone:
                row = feature(mirror, first, is_own, piece, lowest_square(gone))
                gone &= gone - ONE
                _add_row(weights, work, place, row, -1)
            come = now & ~before
            while come:
                row = feature(mirror, first, is_own, piece, lowest_square(come))
                come &= come - ONE
                _add_row(weights, work, place, row, 1)
        work.memory_pieces[place, piece] = pos[piece]
    work.memory_pieces[place, WHITE] = pos[WHITE]
    for half in range(2):
        for k in range(work.inputs.shape[1]):
            work.sums[frame, perspective, half, k] = work.memory_sums[place, half, k]
    for k in range(BUCKETS):
        work.psqt[frame, perspective, k] = work.memory_psqt[place, k]


@kernel
def _move_one(weights, work, source, target, perspective, added, removed):
    """Write target's sums: source's plus one row of weights minus another."""
    for half in range(2):
        for k in range(work.inputs.shape[1]):
            work.sums[target, perspective, half, k] = (
                work.sums[source, perspective, half, k]
                + weights.features[added, half, k]
                - weights.features[removed, half, k]
            )
    for k in range(BUCKETS):
        work.psqt[target, perspective, k] = (
            work.psqt[source, perspective, k] + weights.psqt[added, k] - weights.psqt[removed, k]
        )


@kernel
def _capture(weights, work, source, target, perspective, added, removed, captured):
    """Write target's sums: source's plus one row of weights minus two others."""
    for half in range(2):
        for k in range(work.inputs.shape[1]):
            work.sums[target, perspective, half, k] = (
                work.sums[source, perspective, half, k]
                + weights.features[added, half, k]
                - weights.features[removed, half, k]
                - weights.features[captured, half, k]
            )
    for k in range(BUCKETS):
        work.psqt[target, perspective, k] = (
            work.psqt[source, perspective, k]
            + weights.psqt[added, k]
            - weights.psqt[removed, k]
            - weights.psqt[captured, k]
        )


@kernel
def update(weights, work, source, target, pos, child, move):
    """Compute the sums of `child` in frame `target` from those of its parent `pos` in `source`.

    `move` leads from `pos` to `child` and must not capture a king.
    """
    side = side_to_move(pos)
    word = np.uint64(move)
    origin = np.int64(word & SQUARE_BITS)
    square = target_of(move)
    piece = moved_piece(move)
    promotion = promotion_of(move)
    kind = word >> KIND_SHIFT
    becomes = promotion if promotion else piece
    captured = captured_piece(pos, move)
    captured_square = square
    if kind == EN_PASSANT:
        captured_square = square - 8 if side == 0 else square + 8
    short = square > origin
    rook_from = square + 1 if short else square - 2
    if kind == KING_TAKES_ROOK:
        rook_from = square
        square = (origin & 56) + (6 if short else 2)
    for perspective in range(2):
        is_own = perspective == side
        if piece == KING and is_own:
            refresh(weights, work, target, child, perspective)
            continue
        mirror, first = view(perspective, king_square(pos, perspective))
        added = feature(mirror, first, is_own, becomes, square)
        removed = feature(mirror, first, is_own, piece, origin)
        if captured != NO_PIECE:
            third = feature(mirror, first, not is_own, captured, captured_square)
            _capture(weights, work, source, target, perspective, added, removed, third)
        else:
            _move_one(weights, work, source, target, perspective, added, removed)
            if kind in (CASTLING, KING_TAKES_ROOK):
                rook_to = square - 1 if short else square + 1
                added = feature(mirror, first, is_own, ROOK, rook_to)
                removed = feature(mirror, first, is_own, ROOK, rook_from)
                _move_one(weights, work, target, target, perspective, added, removed)
