"""The other side's moves that may explain an observation: a small part of all its moves."""

import numpy as np
from numba import njit

from obscuro.belief.fit import mismatch
from obscuro.board.attacks import bishop_attacks, rook_attacks
from obscuro.board.bits import lowest_square
from obscuro.board.layout import (
    BACK_RANKS,
    BISHOP,
    BISHOPS,
    BLACK_LONG_MOVE,
    BLACK_LONG_PATH,
    BLACK_SHORT_MOVE,
    BLACK_SHORT_PATH,
    DOUBLE_PUSH,
    EN_PASSANT_KIND,
    KIND_SHIFT,
    KING,
    KINGS,
    KNIGHT,
    KNIGHTS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    QUEEN,
    RANK_3,
    RANK_6,
    ROOK,
    ROOKS,
    STATE,
    TO_SHIFT,
    WHITE_LONG_MOVE,
    WHITE_LONG_PATH,
    WHITE_SHORT_MOVE,
    WHITE_SHORT_PATH,
)
from obscuro.board.moves import (
    en_passant_square,
    occupied_squares,
    pieces_of,
    side_to_move,
)

_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)


@njit(nogil=True, cache=True, forceinline=True)
def _more_than_one(bits):
    return bits & (bits - ONE) != 0


@njit(nogil=True, cache=True, forceinline=True)
def _add_targets(moves, count, origin, targets, piece):
    stem = np.uint64(origin) | np.uint64(piece) << PIECE_SHIFT
    while targets:
        moves[count] = stem | np.uint64(lowest_square(targets)) << TO_SHIFT
        targets &= targets - ONE
        count += 1
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _add_pawn_moves(moves, count, targets, step, kind):
    while targets:
        target = lowest_square(targets)
        move = np.uint64(target - step) | np.uint64(target) << TO_SHIFT
        move |= np.uint64(kind) << KIND_SHIFT
        if (ONE << np.uint64(target)) & BACK_RANKS:
            for promotion in range(1, 5):
                moves[count] = move | np.uint64(promotion) << PROMOTION_SHIFT
                count += 1
        else:
            moves[count] = move
            count += 1
        targets &= targets - ONE
    return count


@njit(nogil=True, cache=True, forceinline=True)
def generate_between(tables, pos, origins, targets, moves):
    """Write the moves from `origins` to `targets` (masks), but castling and en passant.

    As `generate_moves`, otherwise; the order differs. Returns the number of moves.
    """
    occupied = occupied_squares(pos)
    side = side_to_move(pos)
    own = pieces_of(pos, side)
    enemy = (occupied ^ own) & targets
    empty = ~occupied
    targets &= ~own
    movers = own & origins
    count = 0

    pawns = pos[PAWNS] & movers
    if pawns:
        if side == 0:
            single = (pawns << _EIGHT) & empty
            double = ((single & RANK_3) << _EIGHT) & empty & targets
            left = ((pawns & NOT_FILE_A) << _SEVEN) & enemy
            right = ((pawns & NOT_FILE_H) << _NINE) & enemy
            count = _add_pawn_moves(moves, count, single & targets, 8, 0)
            count = _add_pawn_moves(moves, count, double, 16, DOUBLE_PUSH)
            count = _add_pawn_moves(moves, count, left, 7, 0)
            count = _add_pawn_moves(moves, count, right, 9, 0)
        else:
            single = (pawns >> _EIGHT) & empty
            double = ((single & RANK_6) >> _EIGHT) & empty & targets
            left = ((pawns & NOT_FILE_H) >> _SEVEN) & enemy
            right = ((pawns & NOT_FILE_A) >> _NINE) & enemy
            count = _add_pawn_moves(moves, count, single & targets, -8, 0)
            count = _add_pawn_moves(moves, count, double, -16, DOUBLE_PUSH)
            count = _add_pawn_moves(moves, count, left, -7, 0)
            count = _add_pawn_moves(moves, count, right, -9, 0)

    movers ^= pawns
    while movers:
        origin = lowest_square(movers)
        bit = movers & (~movers + ONE)
        movers ^= bit
        if pos[KNIGHTS] & bit:
            reached = tables.knight[origin]
            piece = KNIGHT
        elif pos[KINGS] & bit:
            reached = tables.king[origin]
            piece = KING
        elif pos[BISHOPS] & bit:
            reached = bishop_attacks(tables, origin, occupied)
            piece = BISHOP
        elif pos[ROOKS] & bit:
            reached = rook_attacks(tables, origin, occupied)
            piece = ROOK
        else:
            reached = bishop_attacks(tables, origin, occupied)
            reached |= rook_attacks(tables, origin, occupied)
            piece = QUEEN
        count = _add_targets(moves, count, origin, reached & targets, piece)
    return count


@njit(nogil=True, cache=True, forceinline=True)
def generate_special(tables, pos, moves, count):
    """Append castling and en passant captures to `moves`; return the new number of moves."""
    side = side_to_move(pos)
    own = pieces_of(pos, side)
    ep = en_passant_square(pos)
    if ep:
        capturers = tables.pawn[1 - side, np.int64(ep)] & pos[PAWNS] & own
        while capturers:
            moves[count] = np.uint64(lowest_square(capturers)) | ep << TO_SHIFT | EN_PASSANT_KIND
            capturers &= capturers - ONE
            count += 1
    rights = pos[STATE] >> ONE & np.uint64(3 if side == 0 else 12)
    if rights and pos[KINGS] & own:
        occupied = occupied_squares(pos)
        if rights & np.uint64(1) and not occupied & WHITE_SHORT_PATH:
            moves[count] = WHITE_SHORT_MOVE
            count += 1
        if rights & np.uint64(2) and not occupied & WHITE_LONG_PATH:
            moves[count] = WHITE_LONG_MOVE
            count += 1
        if rights & np.uint64(4) and not occupied & BLACK_SHORT_PATH:
            moves[count] = BLACK_SHORT_MOVE
            count += 1
        if rights & np.uint64(8) and not occupied & BLACK_LONG_PATH:
            moves[count] = BLACK_LONG_MOVE
            count += 1
    return count


@njit(nogil=True, cache=True, forceinline=True)
def candidate_moves(tables, pos, side, required, moves):
    """Write the moves of the side to move that may lead to what `side`, the other, observed.

    A move changes a square by leaving it or by arriving there. So where the position differs from
    the observation there must be the move's origin, if an enemy of the observer stands there, or
    its target, if not; and where they agree, neither. The few moves that do more than that,
    castling and en passant, are all written. Returns the number of moves.
    """
    occupied = occupied_squares(pos)
    own = pieces_of(pos, side)  # the observer's
    enemy = occupied ^ own
    changed = mismatch(pos, required) | (own & ~required.seen)
    must_leave = enemy & (changed | required.no_enemy)
    must_arrive = (changed & ~enemy) | (required.blocked & ~occupied)
    count = 0
    if not _more_than_one(must_leave) and not _more_than_one(must_arrive):
        hidden = ~required.seen
        origins = must_leave if must_leave else hidden & ~required.blocked
        targets = must_arrive if must_arrive else hidden & ~required.no_enemy
        count = generate_between(tables, pos, origins, targets, moves)
    return generate_special(tables, pos, moves, count)
