"""Pseudo-legal moves, which in Fog of War chess are all the legal ones.

Kings may be left in check, and castling needs only the right and an empty path (other starts than the
usual one: see `castling`). The order of the
moves depends only on the mover's own pieces and on the set of moves, and the mover knows both. So
the k-th move is the same in all positions that the mover can't tell apart. The search numbers an
infoset's actions in this order.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.castling import add_castling, can_castle
from obscuro.rules.layout import (
    BACK_RANKS,
    BISHOP,
    BISHOPS,
    BLACK_LONG_MOVE,
    BLACK_LONG_PATH,
    BLACK_SHORT_MOVE,
    BLACK_SHORT_PATH,
    DOUBLE_PUSH,
    EN_PASSANT_KIND,
    EN_PASSANT_SHIFT,
    FILES_SHIFT,
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
    QUEENS,
    RANK_3,
    RANK_6,
    ROOK,
    ROOKS,
    SQUARE_BITS,
    STATE,
    TO_SHIFT,
    WHITE,
    WHITE_LONG_MOVE,
    WHITE_LONG_PATH,
    WHITE_SHORT_MOVE,
    WHITE_SHORT_PATH,
)
from obscuro.rules.tables import bishop_attacks, rook_attacks

_EIGHT = np.uint64(8)
_SEVEN = np.uint64(7)
_NINE = np.uint64(9)


@kernel
def occupied_squares(pos):
    """All pieces of a position, as uint64."""
    return pos[PAWNS] | pos[KNIGHTS] | pos[BISHOPS] | pos[ROOKS] | pos[QUEENS] | pos[KINGS]


@kernel
def pieces_of(pos, side):
    """All pieces of `side` (0 = White), as uint64."""
    return pos[WHITE] if side == 0 else occupied_squares(pos) ^ pos[WHITE]


@kernel
def side_to_move(pos):
    """0 if White is to move, else 1, as int64."""
    return np.int64(pos[STATE] & ONE)


@kernel
def en_passant_square(pos):
    """The square where an en passant capture is possible, as uint64; 0 = none."""
    return (pos[STATE] >> EN_PASSANT_SHIFT) & SQUARE_BITS


@kernel
def _add_targets(moves, count, origin, targets, piece):
    stem = np.uint64(origin) | np.uint64(piece) << PIECE_SHIFT
    while targets:
        target = lowest_square(targets)
        targets &= targets - ONE
        moves[count] = stem | np.uint64(target) << TO_SHIFT
        count += 1
    return count


@kernel
def _add_pawn_moves(moves, count, targets, step, kind):
    """Pawn moves to each of `targets` from `step` squares before it, with all promotions."""
    while targets:
        target = lowest_square(targets)
        bit = targets & (~targets + ONE)
        targets ^= bit
        move = (
            np.uint64(target - step) | np.uint64(target) << TO_SHIFT | np.uint64(kind) << KIND_SHIFT
        )
        if bit & BACK_RANKS:
            for promotion in range(1, 5):
                moves[count] = move | np.uint64(promotion) << PROMOTION_SHIFT
                count += 1
        else:
            moves[count] = move
            count += 1
    return count


@kernel
def generate_moves(tables, pos, moves):
    """Write every pseudo-legal move of the side to move into `moves`; return their number.

    tables: Tables; pos: 8 × uint64; moves: uint32[≥ MAX_MOVES], written from index 0.
    A side without a king has the moves of its other pieces.
    """
    occupied = occupied_squares(pos)
    side = side_to_move(pos)
    own = pieces_of(pos, side)
    enemy = occupied ^ own
    empty = ~occupied
    allowed = ~own
    rights = pos[STATE] >> ONE
    pawns = pos[PAWNS] & own
    count = 0

    if side == 0:
        single = (pawns << _EIGHT) & empty
        double = ((single & RANK_3) << _EIGHT) & empty
        count = _add_pawn_moves(moves, count, single, 8, 0)
        count = _add_pawn_moves(moves, count, double, 16, DOUBLE_PUSH)
        count = _add_pawn_moves(moves, count, ((pawns & NOT_FILE_A) << _SEVEN) & enemy, 7, 0)
        count = _add_pawn_moves(moves, count, ((pawns & NOT_FILE_H) << _NINE) & enemy, 9, 0)
    else:
        single = (pawns >> _EIGHT) & empty
        double = ((single & RANK_6) >> _EIGHT) & empty
        count = _add_pawn_moves(moves, count, single, -8, 0)
        count = _add_pawn_moves(moves, count, double, -16, DOUBLE_PUSH)
        count = _add_pawn_moves(moves, count, ((pawns & NOT_FILE_H) >> _SEVEN) & enemy, -7, 0)
        count = _add_pawn_moves(moves, count, ((pawns & NOT_FILE_A) >> _NINE) & enemy, -9, 0)
    ep = en_passant_square(pos)
    if ep:
        capturers = tables.pawn[1 - side, np.int64(ep)] & pawns
        while capturers:
            origin = lowest_square(capturers)
            capturers &= capturers - ONE
            moves[count] = np.uint64(origin) | ep << TO_SHIFT | EN_PASSANT_KIND
            count += 1

    movers = pos[KNIGHTS] & own
    while movers:
        origin = lowest_square(movers)
        movers &= movers - ONE
        count = _add_targets(moves, count, origin, tables.knight[origin] & allowed, KNIGHT)
    movers = pos[BISHOPS] & own
    while movers:
        origin = lowest_square(movers)
        movers &= movers - ONE
        targets = bishop_attacks(tables, origin, occupied) & allowed
        count = _add_targets(moves, count, origin, targets, BISHOP)
    movers = pos[ROOKS] & own
    while movers:
        origin = lowest_square(movers)
        movers &= movers - ONE
        targets = rook_attacks(tables, origin, occupied) & allowed
        count = _add_targets(moves, count, origin, targets, ROOK)
    movers = pos[QUEENS] & own
    while movers:
        origin = lowest_square(movers)
        movers &= movers - ONE
        targets = bishop_attacks(tables, origin, occupied) | rook_attacks(tables, origin, occupied)
        count = _add_targets(moves, count, origin, targets & allowed, QUEEN)
    movers = pos[KINGS] & own
    if movers:
        origin = lowest_square(movers)
        count = _add_targets(moves, count, origin, tables.king[origin] & allowed, KING)
        if pos[STATE] >> FILES_SHIFT:
            count = add_castling(pos[STATE], side, occupied, moves, count)
        elif side == 0:
            if (rights & np.uint64(1)) and not (occupied & WHITE_SHORT_PATH):
                moves[count] = WHITE_SHORT_MOVE
                count += 1
            if (rights & np.uint64(2)) and not (occupied & WHITE_LONG_PATH):
                moves[count] = WHITE_LONG_MOVE
                count += 1
        else:
            if (rights & np.uint64(4)) and not (occupied & BLACK_SHORT_PATH):
                moves[count] = BLACK_SHORT_MOVE
                count += 1
            if (rights & np.uint64(8)) and not (occupied & BLACK_LONG_PATH):
                moves[count] = BLACK_LONG_MOVE
                count += 1
    return count


@kernel
def has_move(tables, pos):
    """Whether the side to move has any pseudo-legal move."""
    occupied = occupied_squares(pos)
    side = side_to_move(pos)
    own = pieces_of(pos, side)
    allowed = ~own
    pawns = pos[PAWNS] & own
    if side == 0:
        targets = (pawns << _EIGHT) & ~occupied
        targets |= (((pawns & NOT_FILE_A) << _SEVEN) | ((pawns & NOT_FILE_H) << _NINE)) & (
            occupied ^ own
        )
    else:
        targets = (pawns >> _EIGHT) & ~occupied
        targets |= (((pawns & NOT_FILE_H) >> _SEVEN) | ((pawns & NOT_FILE_A) >> _NINE)) & (
            occupied ^ own
        )
    if targets or en_passant_square(pos):
        return True
    movers = own & ~pos[PAWNS]
    while movers:
        origin = lowest_square(movers)
        bit = ONE << np.uint64(origin)
        movers ^= bit
        if pos[KNIGHTS] & bit:
            targets = tables.knight[origin]
        elif pos[KINGS] & bit or pos[QUEENS] & bit:
            targets = tables.king[origin]  # a slider that can move can move one step
        elif pos[BISHOPS] & bit:
            targets = bishop_attacks(tables, origin, occupied)
        else:
            targets = rook_attacks(tables, origin, occupied)
        if targets & allowed:
            return True
    return pos[STATE] >> FILES_SHIFT != 0 and can_castle(pos[STATE], side, occupied)
