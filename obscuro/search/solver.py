"""PCFR+ with alternating updates, last iterate (Obscuro §3.2 and Fig. 10; Farina et al. 2021).

One iteration updates ▲, then ▼, then the gadget at the root. A player's update is one sweep forward
(reach of the other side and chance), one sweep backward (values and counterfactual values), and
predictive regret matching+ at each infoset that was reached: R ← [R + r]⁺, next strategy ∝ [R +
r]⁺. Nodes that the other side reaches with probability 0 are skipped (partial pruning, Brown &
Sandholm 2015): nothing there can change.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.search.gadget import root_strategy, update_gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.rows import dot, dot_and_add, dot_and_set, prefetch_row
from obscuro.search.tree import INFOSETS, NODES, ROOT_INFOSET, ROOTS

AHEAD = 6  # nodes; about the time that a row takes to come from memory
LINE = 16  # float32 of a cache line

_ZERO = np.float32(0)
_ONE = np.float32(1)


# fastmath only allows sums to be reordered and fused here: no NaN or infinity tricks.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def sweep(tree, gadget, player, prune):
    """Reach forward, values backward, for `player`; returns the number of edges visited.

    Writes node_reach (π_{-player}, the root's choice of J included), edge_value, gadget.value (▲'s
    value of each J), and cfv, infoset_reach and infoset_touched of the player's infosets. With
    `prune`, as in an iteration, nodes of reach 0 are left out and the others are no longer NEW.
    """
    nodes = tree.counts[NODES]
    roots = tree.counts[ROOTS]
    root_first = tree.infoset_first[ROOT_INFOSET]
    sign = _ONE if player == MAX else -_ONE
    reach, strategy, cfv = tree.node_reach, tree.strategy, tree.cfv
    for node in range(roots):
        reach[node] = strategy[root_first + node] if player == MAX else _ONE
    for node in range(roots, nodes):
        parent = tree.node_parent[node]
        probability = reach[parent]
        if tree.node_player[parent] != player:
            probability *= strategy[tree.node_parent_action[node]]
        reach[node] = probability

    visited = 0
    for node in range(nodes - 1, -1, -1):
        weight = reach[node]
        if prune and weight == 0:
            continue
        if node >= AHEAD:
            coming = tree.node_first_action[node - AHEAD]
            prefetch_row(strategy, coming)
            prefetch_row(strategy, coming + LINE)
            if tree.node_player[node - AHEAD] == player:
                prefetch_row(cfv, coming)
                prefetch_row(cfv, coming + LINE)
        count = tree.node_edges[node]
        edge = tree.node_first_edge[node]
        action = tree.node_first_action[node]
        visited += count
        if prune:
            tree.node_new[node] = 0
        if tree.node_player[node] == player:
            infoset = tree.node_infoset[node]
            signed = weight * sign
            if tree.infoset_touched[infoset]:
                tree.infoset_reach[infoset] += weight
                value = dot_and_add(
                    strategy, action, tree.edge_value, edge, cfv, action, signed, count
                )
            else:
                tree.infoset_touched[infoset] = 1
                tree.infoset_reach[infoset] = weight
                value = dot_and_set(
                    strategy, action, tree.edge_value, edge, cfv, action, signed, count
                )
        else:
            value = dot(strategy, action, tree.edge_value, edge, count)
        if node < roots:
            gadget.value[node] = value
        else:
            tree.edge_value[tree.node_parent_edge[node]] = value
    return visited


@kernel(fastmath={"reassoc", "contract", "nsz"})
def match_regrets(tree, infoset, sums, row):
    """Predictive regret matching+ at an infoset whose counterfactual values begin at sums[row]."""
    first = tree.infoset_first[infoset]
    count = tree.infoset_actions[infoset]
    values = sums[row : row + count]
    strategy = tree.strategy[first : first + count]
    regret = tree.regret[first : first + count]
    expected = dot(tree.strategy, first, sums, row, count)
    total = _ZERO
    for k in range(count):
        instant = values[k] - expected
        kept = max(regret[k] + instant, _ZERO)
        regret[k] = kept
        predicted = max(kept + instant, _ZERO)
        strategy[k] = predicted
        total += predicted
    if total > 0:
        scale = _ONE / total
        for k in range(count):
            strategy[k] *= scale
    else:
        for k in range(count):
            strategy[k] = _ONE / np.float32(count)


@kernel
def update_strategies(tree, player):
    """Update every infoset of `player` that the sweep has touched."""
    for infoset in range(1, tree.counts[INFOSETS]):
        if not tree.infoset_touched[infoset]:
            continue
        tree.infoset_touched[infoset] = 0
        if tree.infoset_frozen[infoset]:
            continue
        match_regrets(tree, infoset, tree.cfv, tree.infoset_first[infoset])


@kernel
def iterate(tree, gadget, max_iterations, max_edges, own_infoset, iteration, last_absent):
    """Run at least one iteration, until one of the limits is reached; returns iterations and edges.

    own_infoset: our present infoset, -1: none. last_absent: int64[actions]; written for its
    actions: the number of the last iteration in which each was not in the support. iteration: the
    number of the first iteration here.
    """
    done = 0
    edges = 0
    while done < max_iterations and (done == 0 or edges < max_edges):
        edges += sweep(tree, gadget, MAX, True)
        update_strategies(tree, MAX)
        edges += sweep(tree, gadget, MIN, True)
        update_strategies(tree, MIN)
        update_gadget(tree, gadget)
        root_strategy(tree, gadget)
        if own_infoset >= 0:
            first = tree.infoset_first[own_infoset]
            for k in range(tree.infoset_actions[own_infoset]):
                if tree.strategy[first + k] == 0:
                    last_absent[k] = iteration + done
        done += 1
    return done, edges


@kernel
def refresh_values(tree, gadget):
    """Bring all values up to date under the current strategies, in pruned parts too.

    Afterwards cfv and infoset_reach of ▼'s infosets hold this profile's values.
    """
    sweep(tree, gadget, MIN, False)
    for infoset in range(tree.counts[INFOSETS]):
        tree.infoset_touched[infoset] = 0
