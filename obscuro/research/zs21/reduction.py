"""A trunk in sequence form, with all infosets folded away whose best action is plain.

An entry says: ▲'s sequence x and ▼'s sequence y together yield a value. If all entries of one
infoset share the other player's sequence, its player has a best action whatever the other does.
The infoset then is a constant of the sequence before it. Folding goes on from the leaves up. It
also folds ▼'s infosets in parts where ▲'s strategy is fixed into constants of ▼'s rows (K, Sec. 4).
"""

from typing import NamedTuple

import numpy as np

from obscuro.research.zs21.sequence_table import Integers, SequenceTable
from obscuro.research.zs21.trunk import Floats, Trunk, leaves_of
from obscuro.research.zs21.trunk_game import MAX, MIN

OPEN = -1
"""The choice at an infoset that was not folded."""


class Entries(NamedTuple):
    """A sparse matrix of values by ▲'s and ▼'s sequences."""

    sequence: tuple[Integers, Integers]  # [E] ▲'s, [E] ▼'s
    value: Floats  # [E] ▲'s view, times the reach by chance


class Reduction(NamedTuple):
    """What is left of a trunk after folding."""

    entries: Entries  # no two of one pair of sequences
    choice: tuple[Integers, Integers]  # [I] each player's best sequence at an infoset, or OPEN


def entries_of(trunk: Trunk) -> Entries:
    """Return the leaves' values as entries; several may share a pair of sequences."""
    nodes = trunk.nodes
    leaves = leaves_of(nodes)
    value = nodes.weight[leaves] * nodes.value[leaves]
    leaves, value = leaves[value != 0.0], value[value != 0.0]
    sequence = nodes.sequence[leaves]
    return Entries((sequence[:, MAX].copy(), sequence[:, MIN].copy()), value)


def reduce_trunk(trunk: Trunk) -> Reduction:
    """Fold all infosets of a trunk that can be folded, but not ▲'s infoset at the roots."""
    entries = summed(entries_of(trunk), trunk.tables[MIN].size)
    choice = tuple(np.full(len(table), OPEN, dtype=np.int64) for table in trunk.tables)
    shapes = tuple(_Shape(table) for table in trunk.tables)
    deepest = max((int(shape.depth.max()) for shape in shapes if len(shape.depth)), default=-1)
    for depth in range(deepest, -1, -1):
        for player in (MAX, MIN):
            if not (player == MAX and depth == 0):
                entries = _fold(entries, shapes[player], player, depth, choice[player])
    return Reduction(summed(entries, trunk.tables[MIN].size), (choice[MAX], choice[MIN]))


def summed(entries: Entries, rows: int) -> Entries:
    """Return the entries with those of one pair of sequences added up. rows: ▼'s sequences."""
    label = entries.sequence[MAX] * rows + entries.sequence[MIN]
    pairs, where = np.unique(label, return_inverse=True)
    value = np.bincount(where, entries.value, minlength=len(pairs)).astype(np.float64)
    return Entries((pairs // rows, pairs % rows), value)


class _Shape:
    """A sequence table as arrays, with what has been folded so far."""

    def __init__(self, table: SequenceTable) -> None:
        self.first, self.degree = table.first, table.degree
        self.parent, self.depth = table.parent, table.depth
        self.infoset_of = table.infoset_of()
        self.size = table.size
        depth_of = np.append(self.depth, -1)  # of the infoset -1 too, which holds the roots
        self.depth_of_sequence = depth_of[self.infoset_of]
        self.has_open = np.zeros(len(self.first), dtype=np.bool_)  # an open infoset follows


def _fold(entries: Entries, shape: _Shape, player: int, depth: int, choice: Integers) -> Entries:
    """Fold the player's infosets of one depth; write their best sequences into `choice`."""
    here = np.flatnonzero(shape.depth == depth)
    if not len(here):
        return entries
    own, other = entries.sequence[player], entries.sequence[1 - player]
    at = np.flatnonzero(shape.depth_of_sequence[own] == depth)
    infoset = shape.infoset_of[own[at]]
    low = np.full(len(shape.first), np.iinfo(np.int64).max)
    high = np.full(len(shape.first), -1)
    np.minimum.at(low, infoset, other[at])
    np.maximum.at(high, infoset, other[at])
    folds = np.zeros(len(shape.first), dtype=np.bool_)
    folds[here] = (low[here] >= high[here]) & ~shape.has_open[here]
    stay = here[~folds[here]]
    before = shape.infoset_of[shape.parent[stay]]
    shape.has_open[before[before >= 0]] = True
    folded = here[folds[here]]
    if not len(folded):
        return entries
    gone = at[folds[infoset]]
    totals = np.bincount(own[gone], entries.value[gone], minlength=shape.size)
    sign = 1.0 if player == MAX else -1.0
    column = np.arange(int(shape.degree[folded].max()))
    slots = shape.first[folded][:, np.newaxis] + column
    within = column < shape.degree[folded][:, np.newaxis]
    table = np.where(within, sign * totals[np.where(within, slots, 0)], -np.inf)
    best = np.argmax(table, axis=1)
    choice[folded] = shape.first[folded] + best
    used = high[folded] >= 0  # the others have no entry but 0
    kept = np.ones(len(own), dtype=np.bool_)
    kept[gone] = False
    new_own, new_other = shape.parent[folded[used]], high[folded[used]]
    value = totals[choice[folded[used]]]
    own = np.concatenate((own[kept], new_own))
    other = np.concatenate((other[kept], new_other))
    sequence = (own, other) if player == MAX else (other, own)
    return Entries(sequence, np.concatenate((entries.value[kept], value)))
