"""What the root of a finished search looks like: how much is in force, and how well it is solved.

A measurement: it works on copies, so nothing here changes the tree.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.search.gadget import Gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.root_values import refreshed
from obscuro.search.tree import ACTIONS, NO_PARENT, NODES, ROOTS, Tree

Values = npt.NDArray[np.float64]


class RootDiagnosis(NamedTuple):
    """Of the root of a search; values are ▲'s, [-1, 1].

    p_max: how much of Resolve is in force. entered: Σ α(J) · π_resolve(J). fresh: the share of J
    that are new. mean: Σ α(J) · u(J). gap: what both players together could gain in Resolve by
    answering the other one best, in the tree as it is.
    """

    p_max: float
    entered: float
    fresh: float
    mean: float
    gap: float


def diagnose(tree: Tree, gadget: Gadget, first_new_root: int) -> RootDiagnosis | None:
    """Describe the root; None for an empty tree. first_new_root: the J before it were kept."""
    roots = int(tree.counts[ROOTS])
    if roots == 0:
        return None
    tree, gadget = refreshed(tree, gadget)
    prior = gadget.prior.astype(np.float64)
    entered = prior * gadget.enter
    values = gadget.value.astype(np.float64)
    worst = respond_best(tree, MIN, np.ones(roots))
    best = respond_best(tree, MAX, entered)
    worth = gadget.alternate - values
    gap = float(prior @ np.maximum(gadget.alternate - worst, 0) - entered @ worth)
    gap += float(entered @ (best - values))
    return RootDiagnosis(
        float(gadget.p_max[0]),
        float(entered.sum()),
        1 - first_new_root / roots,
        float(prior @ values),
        gap,
    )


def respond_best(tree: Tree, player: int, weights: Values) -> Values:
    """Return the values of all J if one player answers the other's present strategy best.

    weights: float64[m], how much each J counts; it matters where an infoset of the player lies in
    several J. Returns ▲'s view, float64[m]. A player's histories in one infoset must be equally
    deep.
    """
    count, roots = int(tree.counts[NODES]), int(tree.counts[ROOTS])
    parents, depths = tree.node_parent[:count], tree.node_depth[:count]
    levels = [np.flatnonzero(depths == depth) for depth in range(-1, int(depths.max()) + 1)]
    reach = np.empty(count)
    reach[:roots] = weights
    for nodes in levels[1:]:
        above = parents[nodes]
        chance = tree.strategy[tree.node_parent_action[nodes]].astype(np.float64)
        reach[nodes] = reach[above] * np.where(tree.node_player[above] == player, 1.0, chance)
    edge_values = tree.edge_value.astype(np.float64)
    sums = np.zeros(int(tree.counts[ACTIONS]))
    found = np.empty(count)
    sign = 1.0 if player == MAX else -1.0
    for nodes in reversed(levels):
        sizes = tree.node_edges[nodes]
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        within = np.arange(int(sizes.sum())) - np.repeat(starts, sizes)
        values = edge_values[np.repeat(tree.node_first_edge[nodes], sizes) + within]
        actions = np.repeat(tree.node_first_action[nodes], sizes) + within
        found[nodes] = np.add.reduceat(tree.strategy[actions] * values, starts)
        chooses = tree.node_player[nodes] == player
        if chooses.any():
            chosen = np.repeat(chooses, sizes)
            weighted = sign * np.repeat(reach[nodes], sizes) * values
            np.add.at(sums, actions[chosen], weighted[chosen])
            highest = np.repeat(np.maximum.reduceat(sums[actions], starts), sizes)
            # The first of the best actions, the same at all nodes of an infoset.
            first = np.where(sums[actions] == highest, within, len(sums))
            best = np.minimum.reduceat(first, starts)
            found[nodes] = np.where(chooses, values[starts + best], found[nodes])
        inner = parents[nodes] != NO_PARENT
        edge_values[tree.node_parent_edge[nodes[inner]]] = found[nodes[inner]]
    return found[:roots]
