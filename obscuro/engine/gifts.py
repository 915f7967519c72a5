"""Trial: what the other side gave away by its last move, for new roots."""

import numpy as np
import numpy.typing as npt

from obscuro.belief.record import packed, unpacked
from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS
from obscuro.evaluation.children import expand
from obscuro.kernels import kernel
from obscuro.rules.layout import TO_SHIFT, WORDS
from obscuro.search.keeping import position_hashes

CANDIDATES = 12
PARENTS = 3
TEMPERATURE = 0.05
AT_RANDOM = 0.1


@kernel
def _near(records, record, rows):
    """Rows of uint64[n, 3] from which one move, by its squares, may lead to a record."""
    a, b, c = record[0], record[1], record[2]
    now = a | b | c
    kings = a & ~(b | c)
    one = np.uint64(1)
    count = 0
    for row in range(records.shape[0]):
        p, q, r = records[row, 0], records[row, 1], records[row, 2]
        was = p | q | r
        left = was & ~now
        reached = now & ~was
        if left == 0 or reached == 0:
            continue
        left_more = left & (left - one)
        reached_more = reached & (reached - one)
        if left_more != 0 or reached_more != 0:
            both = left_more != 0 and reached_more != 0
            if not both or (reached & kings) == 0:
                continue
            if left_more & (left_more - one) or reached_more & (reached_more - one):
                continue
        moved = left | reached
        if (((p ^ a) | (r ^ c)) & ~moved) != 0 or ((q ^ b) & ~moved & ~(a & c)) != 0:
            continue
        if left_more == 0:
            was_a, was_b, was_c = (p & left) != 0, (q & left) != 0, (r & left) != 0
            is_a, is_b, is_c = (a & reached) != 0, (b & reached) != 0, (c & reached) != 0
            pawn = was_c and not was_a and not was_b
            same = was_a == is_a and was_c == is_c and (was_b == is_b or (was_a and was_c))
            if not (same or pawn):
                continue
        rows[count] = row
        count += 1
    return count


def gifts(search, known, states, keys, random) -> npt.NDArray[np.float32]:
    """How much worse for ▼ the last move was than its best one, float32[n], by what a leaf is worth.

    NaN where no position before the move is known.
    """
    found = np.full(len(states), np.nan, dtype=np.float32)
    before = known.belief.before
    if before is None or not len(states) or not len(before[1]):
        return found
    own, records, weights = before
    wanted = packed(np.ascontiguousarray(states[:, :WORDS]), known.belief.side)
    rows = np.empty(len(records), dtype=np.int64)
    chosen, of = [], []
    for i, record in enumerate(wanted):
        near = rows[: _near(records, record, rows)]
        if len(near) > CANDIDATES:
            share = None
            if weights is not None:
                share = weights[near].astype(np.float64) + 1e-9
                share /= share.sum()
            near = random.choice(near, CANDIDATES, replace=False, p=share)
        chosen.append(near.copy())
        of.append(np.full(len(near), i))
    chosen, of = np.concatenate(chosen), np.concatenate(of)
    if not len(chosen):
        return found
    positions = unpacked(own, records[chosen])
    children = expand(positions, False)
    parent = np.repeat(np.arange(len(chosen)), np.diff(children.offsets))
    was, is_now = (np.bitwise_or.reduce(of_them, axis=1) for of_them in (records[chosen], wanted))
    is_now = is_now[of]
    moves = children.moves.astype(np.uint64)
    one, six = np.uint64(1), np.uint64(63)
    left = one << (moves & six)
    reached = one << ((moves >> np.uint64(TO_SHIFT)) & six)
    fits = (left & (was & ~is_now)[parent]) != 0
    fits &= (reached & (is_now & ~was)[parent]) != 0
    legal = np.unique(parent[fits])
    truths = position_hashes(states, WORDS)
    taken = np.zeros(len(states), dtype=np.int64)
    kept = []
    for k in legal:
        if taken[of[k]] < PARENTS:
            taken[of[k]] += 1
            kept.append(k)
    kept = np.array(kept, dtype=np.int64)
    if not len(kept):
        return found
    before_states = np.zeros((len(kept), STATE_WORDS), dtype=np.uint64)
    before_states[:, :WORDS] = positions[kept]
    before_states[:, DRAW_WORD] = known.quiet_plies
    expansion = search.expand_roots(before_states, keys[of[kept]])
    hashes = position_hashes(expansion.states, WORDS)
    total, share = np.zeros(len(states)), np.zeros(len(states))
    for k in range(len(kept)):
        i = of[kept[k]]
        part = slice(expansion.offsets[k], expansion.offsets[k + 1])
        loss = expansion.values[part] - expansion.values[part].min()
        likely = np.exp(-loss / TEMPERATURE)
        likely = (1 - AT_RANDOM) * likely / likely.sum() + AT_RANDOM / len(loss)
        hit = np.flatnonzero(hashes[part] == truths[i])
        if not len(hit):
            continue
        weight = float(likely[hit[0]])
        if weights is not None:
            weight *= float(weights[chosen[kept[k]]]) + 1e-9
        total[i] += weight * float(loss[hit[0]])
        share[i] += weight
    known_ones = share > 0
    found[known_ones] = (total[known_ones] / share[known_ones]).astype(np.float32)
    return found
