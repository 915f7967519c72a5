"""Static exchange evaluation: the result of a capture if both sides keep capturing on its square.

Each side captures with its least valuable piece as long as that pays. Pieces behind others join in
when lines open. A king captures only an undefended piece. The evaluation ignores pins.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.layout import (
    BISHOP,
    BISHOPS,
    KING,
    KINGS,
    KNIGHT,
    KNIGHTS,
    ONE,
    PAWN,
    PAWNS,
    PIECE_SHIFT,
    QUEEN,
    QUEENS,
    ROOK,
    ROOKS,
    SQUARE_BITS,
    THREE_BITS,
    TO_SHIFT,
    WHITE,
)
from obscuro.rules.moves import occupied_squares, side_to_move
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
        if taker == KING:  # nobody recaptures, or the king may not capture
            defended = attackers & (~white if turn == 0 else white)
            return (turn == side) != (defended != 0)
        # For the first side to capture a gain of 0 suffices, the other side needs more.
        balance = -balance - 1 - units_of(taker)
        if balance >= 0:
            return turn == side
        turn = 1 - turn
