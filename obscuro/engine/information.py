"""What each of our moves will tell us (ours; docs/algorithm.md, "What a move tells us").

The values of leaves are those of chess with everything in sight, where knowledge is worth nothing.
So a search counts what it learns within its tree, and nothing of what that is good for later.
"""

import numpy as np
import numpy.typing as npt

from obscuro.engine.knowledge import Knowledge
from obscuro.kernels import kernel
from obscuro.rules.key import mix
from obscuro.rules.layout import KINGS, MAX_MOVES, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves, pieces_of
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import observation_hash

LOOKED_AT = 48
"""Positions of the belief that are looked at."""
REPLIES = 128
"""Replies for each position that there is room for, on average."""


@kernel
def remaining_bits(tables, positions, moves, side, replies, seen, bits):
    """Write what we would still not know after each of our moves and the reply to it.

    That is the mean log2 of how many continuations look like the one that comes: a continuation is
    a position with a reply, and we see the board after our move and after the reply.

    positions: uint64[n, 8]. moves: uint32[k], ours in all of them. side: ours, 0 = White. replies:
    uint32[MAX_MOVES], seen: uint64[m], scratch; continuations beyond m are left out. bits:
    float32[k], written. A king's capture ends the game and leaves nothing to know.
    """
    for a in range(moves.shape[0]):
        count = 0
        for i in range(positions.shape[0]):
            child = make_move(load(positions, i), moves[a])
            if child[KINGS] & pieces_of(child, 1 - side) == 0:
                continue
            before = observation_hash(tables, child, side)
            for r in range(generate_moves(tables, child, replies)):
                if count >= seen.shape[0]:
                    break
                after = make_move(child, replies[r])
                if after[KINGS] & pieces_of(after, side) == 0:
                    continue
                seen[count] = mix(before + mix(observation_hash(tables, after, side)))
                count += 1
        total = 0.0
        begin = 0
        alike = np.sort(seen[:count])
        for end in range(1, count + 1):
            if end == count or alike[end] != alike[begin]:
                total += (end - begin) * np.log2(float(end - begin))
                begin = end
        bits[a] = total / count if count else 0.0


def information_gain(known: Knowledge) -> npt.NDArray[np.float32]:
    """How many bits fewer each of our moves tells us than the one that tells most: float32[k], ≤ 0.

    known: up to date, with our side to move. The positions are drawn by weight, the same ones for
    the same turn of a game. The order of moves is the generator's.
    """
    moves = known.legal_moves()
    bits = np.zeros(len(moves), dtype=np.float32)
    if len(known.belief) > 1:
        random = np.random.default_rng(known.plies)
        positions = known.belief.sample(LOOKED_AT, random, by_weight=1.0)
        remaining_bits(
            TABLES,
            np.ascontiguousarray(positions).reshape(-1, WORDS),
            moves,
            known.side,
            np.zeros(MAX_MOVES, dtype=np.uint32),
            np.zeros(LOOKED_AT * REPLIES, dtype=np.uint64),
            bits,
        )
    return np.asarray(bits.min() - bits if len(bits) else bits, dtype=np.float32)
