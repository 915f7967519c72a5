"""Which leaf to expand: one-sided growing-tree CFR (Obscuro, C.4 and Fig. 12).

The exploring player follows ½ uniform over the support of its strategy + ½ PUCT; the other one plays
its current strategy. Two-sided GT-CFR (Schmid et al. 2023) is the same with both exploring.
"""

import numpy as np
from numba import njit

from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.parameters import EXPLORE_BY_PUCT, PRIOR_SAMPLES
from obscuro.search.random import sample, uniform
from obscuro.search.tree import (
    IN_FLIGHT,
    LEAF,
    OPEN,
    ROOT_INFOSET,
)

NOTHING = -1  # the walk ended where nothing can be expanded: terminal, in flight, or NEW

_ZERO = np.float32(0)
_EXPLORE_BY_PUCT = np.float32(EXPLORE_BY_PUCT)
_PRIOR_SAMPLES = np.float32(PRIOR_SAMPLES)


@njit(nogil=True, cache=True)
def explore(tree, infoset, puct_c, random_state):
    """The exploring player's action at an infoset; counts the visit and its values.

    Q̄ = u(I, a) + C · σ · √N(I) / (1 + N(I, a)), with σ² the empirical variance of u(I, a) over the
    visits to I and the two prior samples −1 and +1. u is conditional: cfv / reach.

    The paper calls σ the variance. It must be the deviation: a child whose estimate never changes has
    a variance that falls like 2 / N(I), so that with σ² the bonus of an action never tried falls like
    2 / √N(I), and an action that looks worse than that is never tried (on Kuhn poker the search then
    ends at a wrong value). With σ its bonus stays √2.
    """
    first = tree.infoset_first[infoset]
    count = tree.infoset_actions[infoset]
    reach = tree.infoset_reach[infoset]
    scale = np.float32(1) / reach if reach > 0 else _ZERO
    tree.infoset_visits[infoset] += 1
    visits = np.float32(tree.infoset_visits[infoset])
    samples = visits + _PRIOR_SAMPLES
    root = np.sqrt(visits)
    best = 0
    best_value = np.float32(-1e30)
    for k in range(count):
        value = tree.cfv[first + k] * scale
        tree.value_sum[first + k] += value
        tree.value_squares[first + k] += value * value
        mean = tree.value_sum[first + k] / samples
        variance = max(tree.value_squares[first + k] / samples - mean * mean, _ZERO)
        optimistic = value + puct_c * np.sqrt(variance) * root / np.float32(
            1 + tree.picks[first + k]
        )
        if optimistic > best_value:
            best_value = optimistic
            best = k
    if uniform(random_state) >= _EXPLORE_BY_PUCT:
        support = 0
        for k in range(count):
            if tree.strategy[first + k] > 0:
                support += 1
        if support > 0:
            chosen = min(int(uniform(random_state) * np.float32(support)), support - 1)
            for k in range(count):
                if tree.strategy[first + k] > 0:
                    if chosen == 0:
                        best = k
                        break
                    chosen -= 1
    tree.picks[first + best] += 1
    return best


@njit(nogil=True, cache=True)
def select_leaf(tree, explorer, one_sided, puct_c, random_state):
    """Walk from the root to a leaf that can be expanded, and mark it as in flight.

    Returns (edge, node above it), or (NOTHING, NOTHING).
    """
    first = tree.infoset_first[ROOT_INFOSET]
    if explorer == MIN or not one_sided:
        node = explore(tree, ROOT_INFOSET, puct_c, random_state)
    else:
        root = tree.strategy[first : first + tree.infoset_actions[ROOT_INFOSET]]
        node = sample(random_state, root)
    if node < 0:
        return NOTHING, NOTHING
    while True:
        if tree.node_new[node]:
            return NOTHING, NOTHING
        player = tree.node_player[node]
        first = tree.node_first_action[node]
        if player != CHANCE and (player == explorer or not one_sided):
            k = explore(tree, tree.node_infoset[node], puct_c, random_state)
        else:
            k = sample(random_state, tree.strategy[first : first + tree.node_edges[node]])
            if k < 0:
                return NOTHING, NOTHING
        edge = tree.node_first_edge[node] + k
        child = tree.edge_child[edge]
        if child == LEAF:
            if tree.edge_status[edge] != OPEN:
                return NOTHING, NOTHING
            tree.edge_status[edge] = IN_FLIGHT
            return edge, node
        node = child


@njit(nogil=True, cache=True)
def select_batch(tree, explorer, one_sided, puct_c, random_state, edges, nodes, states, keys):
    """Select up to len(edges) leaves, the exploring player alternating from `explorer`.

    Written: edges, nodes: int32[B]; states: uint64[B, W]; keys: uint64[B, 2]. Returns how many were
    found in at most 4·B walks.
    """
    found = 0
    for walk in range(4 * edges.shape[0]):
        if found == edges.shape[0]:
            break
        side = explorer if walk % 2 == 0 else MAX + MIN - explorer
        edge, node = select_leaf(tree, side, one_sided, puct_c, random_state)
        if edge == NOTHING:
            continue
        edges[found] = edge
        nodes[found] = node
        states[found] = tree.edge_state[edge]
        keys[found] = tree.edge_keys[edge]
        found += 1
    return found


@njit(nogil=True, cache=True)
def release(tree, edges):
    """Take back the marks of leaves that will not be expanded after all. edges: int32[B]."""
    for edge in edges:
        if tree.edge_status[edge] == IN_FLIGHT:
            tree.edge_status[edge] = OPEN
