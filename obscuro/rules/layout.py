"""How a position and a move are laid out in words. No other place says it.

A position is 8 `uint64` words, in this order: pawns, knights, bishops, rooks, queens, kings (of
both colours), all white pieces, and the state word:

    bit 0      side to move, 0 = White
    bits 1-4   castling rights: K, Q, k, q
    bits 5-10  en passant square, 0 = none; set only if a pawn can capture there now
    bits 11-19 White's files for castling, 0 = those of ordinary chess: see `castling`
    bits 20-28 Black's

In kernels a position is a tuple of 8 `uint64` (it lives in registers); in arrays it is a row.

A move is a word: from | to << 6 | piece << 12 | promotion << 15 | kind << 18, with piece 0-5 = pawn
… king, promotion 0 = none, 1-4 = knight … queen. Castling goes to the king's target if king and rook
stand as in ordinary chess, else to the rook's square: two kinds.
"""

from numpy import uint64

WORDS = 8
PAWNS, KNIGHTS, BISHOPS, ROOKS, QUEENS, KINGS, WHITE, STATE = range(WORDS)
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)

CASTLING_SHIFT = uint64(1)
CASTLING_BITS = uint64(15)
EN_PASSANT_SHIFT = uint64(5)
SQUARE_BITS = uint64(63)
FILES_SHIFT = uint64(11)
SIDE_FILES_SHIFT = uint64(9)
SIDE_FILES_BITS = uint64(0x1FF)  # three bits each: king's file xor e, far rook's xor h, near rook's

TO_SHIFT = uint64(6)
PIECE_SHIFT = uint64(12)
PROMOTION_SHIFT = uint64(15)
KIND_SHIFT = uint64(18)
THREE_BITS = uint64(7)

QUIET_OR_CAPTURE, DOUBLE_PUSH, EN_PASSANT, CASTLING, KING_TAKES_ROOK = range(5)
MAX_MOVES = 512  # room to spare: 218 is the record with nine queens

ONE = uint64(1)
ALL = uint64(0xFFFFFFFFFFFFFFFF)
NOT_FILE_A = uint64(0xFEFEFEFEFEFEFEFE)
NOT_FILE_H = uint64(0x7F7F7F7F7F7F7F7F)
RANK_3 = uint64(0x0000000000FF0000)
RANK_6 = uint64(0x0000FF0000000000)
BACK_RANKS = uint64(0xFF000000000000FF)

CASTLING_SQUARES = uint64(0x9100000000000091)  # a, e and h of both back ranks

# Squares that must be empty to castle, and what castling moves besides the king.
WHITE_SHORT_PATH = uint64(0x60)
WHITE_LONG_PATH = uint64(0x0E)
BLACK_SHORT_PATH = uint64(0x60 << 56)
BLACK_LONG_PATH = uint64(0x0E << 56)
WHITE_SHORT_ROOK = uint64(0xA0)
WHITE_LONG_ROOK = uint64(0x09)
BLACK_SHORT_ROOK = uint64(0xA0 << 56)
BLACK_LONG_ROOK = uint64(0x09 << 56)

# Castling and the mark of an en passant capture, as move words.
_KING_CASTLES = uint64(KING) << PIECE_SHIFT | uint64(CASTLING) << KIND_SHIFT
WHITE_SHORT_MOVE = uint64(4) | uint64(6) << TO_SHIFT | _KING_CASTLES
WHITE_LONG_MOVE = uint64(4) | uint64(2) << TO_SHIFT | _KING_CASTLES
BLACK_SHORT_MOVE = uint64(60) | uint64(62) << TO_SHIFT | _KING_CASTLES
BLACK_LONG_MOVE = uint64(60) | uint64(58) << TO_SHIFT | _KING_CASTLES
EN_PASSANT_KIND = uint64(EN_PASSANT) << KIND_SHIFT
