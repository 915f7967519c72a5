"""Questions about a set of positions, answered by one pass over it."""

import numpy as np
from numba import njit

from obscuro.board.layout import ALL, KINGS, WHITE, WORDS


@njit(nogil=True, cache=True)
def find(positions, words):
    """The first row of uint64[n, 8] that is equal to uint64[8], or -1."""
    for row in range(positions.shape[0]):
        word = 0
        while word < WORDS and positions[row, word] == words[word]:
            word += 1
        if word == WORDS:
            return row
    return -1


@njit(nogil=True, cache=True)
def common_king(positions, colour):
    """Squares where `colour` (0 = White) has a king in every position, as a uint64 mask."""
    common = ALL
    for row in range(positions.shape[0]):
        white = positions[row, WHITE]
        common &= positions[row, KINGS] & (white if colour == 0 else ~white)
        if common == 0:
            return np.uint64(0)
    return common
