"""Which moves of a position are worth a place in the tree, by what their mover sees."""

import numpy as np

from obscuro.belief.move_model import load_model, make_scratch, score_moves
from obscuro.belief.record import OUR_SIDE, PASSED, pack
from obscuro.kernels import kernel
from obscuro.rules.layout import WORDS
from obscuro.rules.moves import en_passant_square, pieces_of, side_to_move
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import vision

_MASK = np.uint64(4095)


@kernel
def choose(tables, model, scratch, table, positions, offsets, moves, most, kept, begins):
    """Write into kept uint8[N] which children stay, and begins int64[B + 1]; returns their number."""
    total = 0
    known = np.zeros(9, dtype=np.uint64)
    begins[0] = 0
    for index in range(positions.shape[0]):
        first, last = offsets[index], offsets[index + 1]
        if last - first <= most:
            for k in range(first, last):
                kept[k] = 1
            total += last - first
            begins[index + 1] = total
            continue
        pos = load(positions, index)
        mover = side_to_move(pos)
        seen = vision(tables, pos, mover) & pieces_of(pos, 1 - mover)
        for word in range(6):
            known[word] = pos[word] & seen
        known[OUR_SIDE] = np.uint64(1 - mover)
        known[PASSED] = en_passant_square(pos)
        a, b, c = pack(pos, 1 - mover)
        count = score_moves(tables, model, known, a, b, c, np.uint64(0), scratch)
        for k in range(first, last):
            table[np.uint64(moves[k]) & _MASK] = np.float32(-1e9)
        for k in range(count):
            place = np.uint64(scratch.moves[k]) & _MASK
            table[place] = max(table[place], scratch.scores[k])
        for _ in range(most):
            best = -1
            highest = np.float32(-1e30)
            for k in range(first, last):
                score = table[np.uint64(moves[k]) & _MASK]
                if not kept[k] and score > highest:
                    best = k
                    highest = score
            kept[best] = 1
        total += most
        begins[index + 1] = total
    return total


class Plausible:
    def __init__(self):
        self.model, self.scratch = load_model(), make_scratch()
        self.table = np.zeros(4096, dtype=np.float32)

    def choose(self, positions, offsets, moves, most):
        kept = np.zeros(len(moves), dtype=np.uint8)
        begins = np.empty(len(offsets), dtype=np.int64)
        choose(TABLES, self.model, self.scratch, self.table, positions, offsets, moves, most, kept, begins)
        return kept.astype(bool), begins
