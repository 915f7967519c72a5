"""Perft: counting the positions of pseudo-legal play, the move generator's classical test."""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.layout import KINGS, MAX_MOVES, WHITE, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves
from obscuro.rules.position import Words, load, store
from obscuro.rules.tables import TABLES


@kernel
def _perft(tables, positions, moves, counts, cursors, depth):
    """Count the leaves at `depth` plies below positions[0]; every leaf is made, none bulk-counted.

    positions: uint64[depth + 1, 8]; moves: uint32[depth, MAX_MOVES]; counts, cursors: int64[depth].
    A position without one of its kings is a leaf wherever it occurs.
    """
    leaves = np.int64(0)
    level = 0
    counts[0] = generate_moves(tables, load(positions, 0), moves[0])
    cursors[0] = 0
    while level >= 0:
        if cursors[level] == counts[level]:
            level -= 1
            continue
        move = moves[level, cursors[level]]
        cursors[level] += 1
        child = make_move(load(positions, level), move)
        white_kings = child[KINGS] & child[WHITE]
        if level + 1 == depth or white_kings == 0 or white_kings == child[KINGS]:
            leaves += 1
            continue
        level += 1
        store(positions, level, child)
        counts[level] = generate_moves(tables, child, moves[level])
        cursors[level] = 0
    return leaves


def perft(words: Words, depth: int) -> int:
    """Number of games of `depth` plies from uint64[8]; the capture of a king ends a game early."""
    if depth == 0:
        return 1
    positions = np.zeros((depth + 1, WORDS), dtype=np.uint64)
    positions[0] = words
    moves = np.empty((depth, MAX_MOVES), dtype=np.uint32)
    counts = np.zeros(depth, dtype=np.int64)
    return int(_perft(TABLES, positions, moves, counts, np.zeros(depth, dtype=np.int64), depth))
