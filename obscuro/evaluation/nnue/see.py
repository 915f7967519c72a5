"""Static exchange evaluation: what a capture wins when both sides go on capturing on its square.

Each side captures with its least valuable piece as long as that pays, pieces behind others join in as
lines open, and a king captures only what is not defended any more. Pins are not seen.
"""

import numpy as np

from obscuro.board.attacks import bishop_attacks, rook_attacks
from obscuro.board.layout import (
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
from obscuro.board.moves import occupied_squares, side_to_move
from obscuro.kernels import kernel

# Stockfish's internal units.
PAWN_UNITS, KNIGHT_UNITS, BISHOP_UNITS, ROOK_UNITS, QUEEN_UNITS = 208, 781, 825, 1276, 2538


@kernel
def units_of(piece):
    """What a piece (0 pawn … 4 queen) is worth, in Stockfish's units; a king or none: nothing."""
    if piece <= PAWN:
        return PAWN_UNITS if piece == PAWN else 0
    if piece < ROOK:
        return KNIGHT_UNITS if piece < BISHOP else BISHOP_UNITS
    if piece == ROOK:
        return ROOK_UNITS
    return QUEEN_UNITS if piece == QUEEN else 0


@kernel
def exchange_pays(tables, pos, move, captured):
    """Whether a move loses no material on its square: exchange value ≥ 0.

    captured: the piece that the move captures, 0 pawn … 4 queen; -1: none. An en passant capture and
    one with promotion always pay.
    """
    word = np.uint64(move)
    piece = np.int64((word >> PIECE_SHIFT) & THREE_BITS)
    # What the last side to capture has won if the piece that it captured with is lost for nothing.
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
        if taker == KING:  # it captures for good, or may not at all
            defended = attackers & (~white if turn == 0 else white)
            return (turn == side) != (defended != 0)
        # The first side to capture is content with nothing won, the other is not.
        balance = -balance - 1 - units_of(taker)
        if balance >= 0:
            return turn == side
        turn = 1 - turn
