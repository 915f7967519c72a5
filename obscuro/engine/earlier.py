"""Trial: roots one own turn earlier, before the other side's last move."""

import numpy as np
import numpy.typing as npt

from obscuro.belief.record import packed, unpacked
from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS, sighting
from obscuro.kernels import kernel
from obscuro.rules.layout import MAX_MOVES, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves
from obscuro.rules.position import hash_positions, load, position_hash
from obscuro.rules.tables import TABLES

CANDIDATES = 48


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


@kernel
def _leads(tables, positions, wanted, moves, leads):
    """Write whether a move leads from each of uint64[n, 8] to the position with a hash, uint64[n]."""
    for i in range(positions.shape[0]):
        pos = load(positions, i)
        for k in range(generate_moves(tables, pos, moves)):
            if position_hash(make_move(pos, moves[k])) == wanted[i]:
                leads[i] = True
                break


def possible(known) -> bool:
    """Whether roots may begin before the last reply."""
    if known.belief.before is None or not len(known.belief.before[1]) or known.plies < 2:
        return False
    now = sighting(np.uint64(known.observation.key()), np.uint64(known.side))
    return int(now) not in {int(each) for each in known.repeated()}


def before_reply(known, states, random) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Positions before the last reply: states uint64[k, W], and which of them each state has.

    Of those that lead to a state one is drawn by weight. int64[n], -1: none is known.
    """
    own, records, weights = known.belief.before
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
    found = np.zeros((0, STATE_WORDS), dtype=np.uint64)
    if not len(chosen):
        return found, np.full(len(states), -1, dtype=np.int64)
    positions = unpacked(own, records[chosen])
    truths = np.empty(len(states), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(states[:, :WORDS]), truths)
    leads = np.zeros(len(chosen), dtype=np.bool_)
    _leads(TABLES, positions, truths[of], np.empty(MAX_MOVES, dtype=np.uint32), leads)
    legal = np.flatnonzero(leads)
    picked = np.full(len(states), -1, dtype=np.int64)
    for i in range(len(states)):
        mine = legal[of[legal] == i]
        if not len(mine):
            continue
        share = None
        if weights is not None:
            share = weights[chosen[mine]].astype(np.float64) + 1e-9
            share /= share.sum()
        picked[i] = random.choice(mine, p=share)
    has = np.flatnonzero(picked >= 0)
    _, first, group = np.unique(chosen[picked[has]], return_index=True, return_inverse=True)
    kept = picked[has[first]]
    found = np.zeros((len(kept), STATE_WORDS), dtype=np.uint64)
    found[:, :WORDS] = positions[kept]
    found[:, DRAW_WORD] = max(known.quiet_plies - 1, 0)
    parents = np.full(len(states), -1, dtype=np.int64)
    parents[has] = group
    return found, parents
