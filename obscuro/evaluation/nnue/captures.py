"""The moves of the capture search and their order."""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.layout import (
    BACK_RANKS,
    BISHOP,
    BISHOPS,
    EN_PASSANT,
    EN_PASSANT_KIND,
    KIND_SHIFT,
    KING,
    KING_TAKES_ROOK,
    KINGS,
    KNIGHT,
    KNIGHTS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWN,
    PAWNS,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    QUEEN,
    QUEENS,
    ROOK,
    ROOKS,
    SQUARE_BITS,
    THREE_BITS,
    TO_SHIFT,
    WHITE,
)
from obscuro.rules.moves import en_passant_square, occupied_squares, pieces_of, side_to_move
from obscuro.rules.tables import bishop_attacks, rook_attacks

# Stockfish's internal units.
PAWN_UNITS, KNIGHT_UNITS, BISHOP_UNITS, ROOK_UNITS, QUEEN_UNITS = 208, 781, 825, 1276, 2538


@kernel
def units_of(piece):
    """Return the worth of a piece (0 pawn … 4 queen) in Stockfish's units; 0 for a king or none."""
    if piece <= PAWN:
        return PAWN_UNITS if piece == PAWN else 0
    if piece < ROOK:
        return KNIGHT_UNITS if piece < BISHOP else BISHOP_UNITS
    if piece == ROOK:
        return ROOK_UNITS
    return QUEEN_UNITS if piece == QUEEN else 0


@kernel
def exchange_pays(tables, pos, move, captured):
    """Return whether a move loses no material on its square: its exchange value is at least 0.

    captured: the piece that the move captures, 0 pawn … 4 queen; -1: none. En passant captures and
    captures with promotion always pay.
    """
    word = np.uint64(move)
    piece = np.int64((word >> PIECE_SHIFT) & THREE_BITS)
    # The gain of the last side to capture if it loses its capturing piece for nothing.
    balance = units_of(captured) - units_of(piece)
    if balance >= 0 and piece != KING:
        return True
    square = np.int64((word >> TO_SHIFT) & SQUARE_BITS)
    side = side_to_move(pos)
    white = pos[WHITE]
    diagonal = pos[BISHOPS] | pos[QUEENS]
    straight = pos[ROOKS] | pos[QUEENS]
    occupied = occupied_squares(pos) ^ (ONE << (word & SQUARE_BITS))
    attackers = occupied & (
        (tables.knight[square] & pos[KNIGHTS])
        | (tables.king[square] & pos[KINGS])
        | (tables.pawn[1, square] & pos[PAWNS] & white)
        | (tables.pawn[0, square] & pos[PAWNS] & ~white)
        | (bishop_attacks(tables, square, occupied) & diagonal)
        | (rook_attacks(tables, square, occupied) & straight)
    )
    turn = 1 - side
    if piece == KING:
        return attackers & (white if turn == 0 else ~white) == 0
    while True:
        own = attackers & (white if turn == 0 else ~white)
        if own == 0:
            return turn != side
        taker = PAWN
        while own & pos[taker] == 0:
            taker += 1
        bits = own & pos[taker]
        occupied ^= bits & (~bits + ONE)
        if taker not in (KNIGHT, ROOK):
            attackers |= bishop_attacks(tables, square, occupied) & diagonal
        if taker >= ROOK:
            attackers |= rook_attacks(tables, square, occupied) & straight
        attackers &= occupied
        if taker == KING:  # no piece recaptures, or the king may not capture
            defended = attackers & (~white if turn == 0 else white)
            return (turn == side) != (defended != 0)
        # For the first side to capture a gain of 0 suffices, the other side needs more.
        balance = -balance - 1 - units_of(taker)
        if balance >= 0:
            return turn == side
        turn = 1 - turn


NO_PIECE = -1

_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)
_QUEEN_PROMOTION = np.uint64(QUEEN) << PROMOTION_SHIFT
# The parts of `order_key`.
_SQUARES = (1 << 12) - 1  # origin and target, as in a move
_MIRROR = 56 | 56 << 6
_PIECE_SHIFT = 12
_GAIN_SHIFT = 15


@kernel
def captured_piece(pos, move):
    """Return what `move` captures: 0 pawn … 5 king, or NO_PIECE. En passant captures a pawn."""
    word = np.uint64(move)
    kind = word >> KIND_SHIFT
    if kind == EN_PASSANT:
        return PAWN
    if kind == KING_TAKES_ROOK:
        return NO_PIECE
    target = ONE << ((word >> TO_SHIFT) & SQUARE_BITS)
    for piece in range(WHITE):
        if pos[piece] & target:
            return piece
    return NO_PIECE


@kernel
def moved_piece(move):
    """Return the piece that moves: 0 pawn … 5 king."""
    return np.int64((np.uint64(move) >> PIECE_SHIFT) & THREE_BITS)


@kernel
def promotion_of(move):
    """Return the piece that a pawn becomes, 1 knight … 4 queen; 0: no promotion."""
    return np.int64((np.uint64(move) >> PROMOTION_SHIFT) & THREE_BITS)


@kernel
def target_of(move):
    """Return the target square of a move."""
    return np.int64((np.uint64(move) >> TO_SHIFT) & SQUARE_BITS)


@kernel
def _piece_attacks(tables, piece, square, occupied):
    """Return the squares that a piece (1 knight … 5 king) attacks, as a bitboard."""
    if piece == KNIGHT:
        return tables.knight[square]
    if piece == KING:
        return tables.king[square]
    if piece == BISHOP:
        return bishop_attacks(tables, square, occupied)
    if piece == ROOK:
        return rook_attacks(tables, square, occupied)
    return bishop_attacks(tables, square, occupied) | rook_attacks(tables, square, occupied)


@kernel
def _add_pawn_moves(moves, frame, count, targets, step):
    """Add the pawn moves to `targets`, a bitboard, from `step` squares before; make queens."""
    while targets:
        target = lowest_square(targets)
        bit = targets & (~targets + ONE)
        targets ^= bit
        move = np.uint64(target - step) | np.uint64(target) << TO_SHIFT
        moves[frame, count] = move | _QUEEN_PROMOTION if bit & BACK_RANKS else move
        count += 1
    return count


@kernel
def generate_captures(tables, pos, moves, frame):
    """Write all captures and all promotions to a queen; return their number.

    Written: moves[frame] of uint32[frames, MAX_MOVES].
    """
    occupied = occupied_squares(pos)
    side = side_to_move(pos)
    own = pieces_of(pos, side)
    enemy = occupied ^ own
    pawns = pos[PAWNS] & own
    last_rank = BACK_RANKS & ~occupied
    count = 0
    if side == 0:
        count = _add_pawn_moves(moves, frame, count, (pawns << _EIGHT) & last_rank, 8)
        left, right = (pawns & NOT_FILE_A) << _SEVEN, (pawns & NOT_FILE_H) << _NINE
        count = _add_pawn_moves(moves, frame, count, left & enemy, 7)
        count = _add_pawn_moves(moves, frame, count, right & enemy, 9)
    else:
        count = _add_pawn_moves(moves, frame, count, (pawns >> _EIGHT) & last_rank, -8)
        left, right = (pawns & NOT_FILE_A) >> _NINE, (pawns & NOT_FILE_H) >> _SEVEN
        count = _add_pawn_moves(moves, frame, count, left & enemy, -9)
        count = _add_pawn_moves(moves, frame, count, right & enemy, -7)
    ep = en_passant_square(pos)
    if ep:
        capturers = tables.pawn[1 - side, np.int64(ep)] & pawns
        while capturers:
            origin = lowest_square(capturers)
            capturers &= capturers - ONE
            moves[frame, count] = np.uint64(origin) | ep << TO_SHIFT | EN_PASSANT_KIND
            count += 1
    for piece in range(KNIGHT, KING + 1):
        movers = pos[piece] & own
        while movers:
            origin = lowest_square(movers)
            movers &= movers - ONE
            targets = _piece_attacks(tables, piece, origin, occupied) & enemy
            stem = np.uint64(origin) | np.uint64(piece) << PIECE_SHIFT
            while targets:
                moves[frame, count] = stem | np.uint64(lowest_square(targets)) << TO_SHIFT
                targets &= targets - ONE
                count += 1
    return count


@kernel
def gain(pos, move):
    """Return the material that a move wins without a recapture, in Stockfish's units."""
    promotion = promotion_of(move)
    won = units_of(captured_piece(pos, move))
    return won + units_of(promotion) - units_of(PAWN) if promotion else won


@kernel
def order_key(pos, move):
    """Return a move's key for ordering; the search tries the largest key first.

    The largest gain comes first, and for equal gains the least valuable moving piece. For equal
    pieces the squares decide, in the mover's view, so that both sides have the same order.
    """
    squares = np.int64(move) & _SQUARES
    if side_to_move(pos):
        squares ^= _MIRROR
    return (gain(pos, move) << _GAIN_SHIFT) | ((KING - moved_piece(move)) << _PIECE_SHIFT) | squares


@kernel
def gain_of_key(key):
    """Return the gain of a move with this `order_key`."""
    return key >> _GAIN_SHIFT
