"""Making a move on a position."""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.castling import arrivals, castling_after
from obscuro.rules.layout import (
    BISHOPS,
    BLACK_LONG_ROOK,
    BLACK_SHORT_ROOK,
    CASTLING_SHIFT,
    CASTLING_SQUARES,
    EN_PASSANT_SHIFT,
    FILES_SHIFT,
    KIND_SHIFT,
    KINGS,
    KNIGHTS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    QUEENS,
    ROOKS,
    SQUARE_BITS,
    STATE,
    THREE_BITS,
    TO_SHIFT,
    WHITE,
    WHITE_LONG_ROOK,
    WHITE_SHORT_ROOK,
)

_EIGHT = np.uint64(8)
_CASTLING = ~(SQUARE_BITS << EN_PASSANT_SHIFT | ONE)  # rights and files, in the state word


@kernel
def _rights_lost(touched):
    """The castling rights (K Q k q = 1 2 4 8) that go when pieces on `touched` move or fall."""
    lost = np.uint64(0)
    if touched & np.uint64(0x90):  # e1, h1
        lost |= np.uint64(1)
    if touched & np.uint64(0x11):  # a1, e1
        lost |= np.uint64(2)
    if touched & np.uint64(0x90 << 56):
        lost |= np.uint64(4)
    if touched & np.uint64(0x11 << 56):
        lost |= np.uint64(8)
    return lost


@kernel
def make_move(pos, move):
    """The position after `move`, which must be pseudo-legal in `pos`.

    pos: 8 × uint64; move: a move word of any integer type. Returns 8 × uint64.
    """
    word = np.uint64(move)
    origin = word & SQUARE_BITS
    target = (word >> TO_SHIFT) & SQUARE_BITS
    piece = (word >> PIECE_SHIFT) & THREE_BITS
    target_bit = ONE << target
    kept = ~((ONE << origin) | target_bit)
    state = pos[STATE]
    white_moves = (state & ONE) == 0

    pawns = pos[PAWNS] & kept
    knights = pos[KNIGHTS] & kept
    bishops = pos[BISHOPS] & kept
    rooks = pos[ROOKS] & kept
    queens = pos[QUEENS] & kept
    kings = pos[KINGS] & kept
    white = pos[WHITE] & kept
    if white_moves:
        white |= target_bit
    castling = state & _CASTLING
    if castling:
        if castling >> FILES_SHIFT:
            castling = castling_after(castling, ~kept)
        elif ~kept & CASTLING_SQUARES:
            castling &= ~(_rights_lost(~kept & CASTLING_SQUARES) << CASTLING_SHIFT)
    en_passant = np.uint64(0)

    special = word >> PROMOTION_SHIFT
    if special == 0:
        if piece == 0:
            pawns |= target_bit
        elif piece == 1:
            knights |= target_bit
        elif piece == 2:
            bishops |= target_bit
        elif piece == 3:
            rooks |= target_bit
        elif piece == 4:
            queens |= target_bit
        else:
            kings |= target_bit
    else:
        promotion = special & THREE_BITS
        kind = word >> KIND_SHIFT
        if promotion:
            if promotion == 1:
                knights |= target_bit
            elif promotion == 2:
                bishops |= target_bit
            elif promotion == 3:
                rooks |= target_bit
            else:
                queens |= target_bit
        elif kind == 3:  # castling
            kings |= target_bit
            if target == 6:
                rooks ^= WHITE_SHORT_ROOK
                white ^= WHITE_SHORT_ROOK
            elif target == 2:
                rooks ^= WHITE_LONG_ROOK
                white ^= WHITE_LONG_ROOK
            elif target == 62:
                rooks ^= BLACK_SHORT_ROOK
            else:
                rooks ^= BLACK_LONG_ROOK
        elif kind == 4:  # castling from another start: the king goes to its rook's square
            king_to, rook_to = arrivals(word)
            kings |= king_to
            rooks |= rook_to
            if white_moves:
                white = (white & ~target_bit) | king_to | rook_to
        elif kind == 2:  # en passant
            pawns |= target_bit
            captured = target_bit >> _EIGHT if white_moves else target_bit << _EIGHT
            pawns &= ~captured
            white &= ~captured
        else:  # double push: the square passed over counts only if a pawn can capture there
            pawns |= target_bit
            beside = ((target_bit & NOT_FILE_A) >> ONE) | ((target_bit & NOT_FILE_H) << ONE)
            if white_moves:
                # Black's capturers stand beside the pawn that has just moved.
                if beside & pos[PAWNS] & ~pos[WHITE]:
                    en_passant = target - _EIGHT
            elif beside & pos[PAWNS] & pos[WHITE]:
                en_passant = target + _EIGHT

    next_state = ((state & ONE) ^ ONE) | castling | (en_passant << EN_PASSANT_SHIFT)
    return pawns, knights, bishops, rooks, queens, kings, white, next_state
