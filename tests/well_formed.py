"""Whether words are a position without a contradiction in itself."""

from __future__ import annotations

from obscuro.rules.layout import ALL, BACK_RANKS, KINGS, PAWNS, STATE, WHITE, WORDS
from obscuro.rules.position import Words, from_board, to_board


def is_well_formed(words: Words) -> bool:
    """Whether words, uint64[8], are a position without a contradiction in itself.

    Piece boards are disjoint, each side has exactly one king, no pawn stands on a back rank, and
    rights and en passant square fit the pieces.
    """
    if words.shape != (WORDS,):
        return False
    boards = [int(w) for w in words[:WHITE]]
    occupied = 0
    for bits in boards:
        if occupied & bits:
            return False
        occupied |= bits
    white = int(words[WHITE])
    if white & ~occupied & int(ALL) or boards[PAWNS] & int(BACK_RANKS):
        return False
    kings = boards[KINGS]
    if (kings & white).bit_count() != 1 or (kings & ~white).bit_count() != 1:
        return False
    return int(from_board(to_board(words))[STATE]) == int(words[STATE])
