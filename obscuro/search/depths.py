"""How deep the players' own strategies go in a tree; a measurement, nothing here changes it."""

import numpy as np

from obscuro.kernels import kernel
from obscuro.search.tree import LEAF, NO_PARENT, NODES, ROOT_INFOSET, Tree


@kernel
def _reach_weighted_depth(tree):
    """Plies to the first leaf in play by the current strategies, times reach; and the reach."""
    nodes = tree.counts[NODES]
    reach = np.zeros(nodes, dtype=np.float64)
    first = tree.infoset_first[ROOT_INFOSET]
    plies = 0.0
    total = 0.0
    for node in range(nodes):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            reach[node] = tree.strategy[first + node]
        else:
            reach[node] = reach[parent] * tree.strategy[tree.node_parent_action[node]]
        if reach[node] == 0:
            continue
        edge = tree.node_first_edge[node]
        action = tree.node_first_action[node]
        for k in range(tree.node_edges[node]):
            if tree.edge_child[edge + k] == LEAF:
                weight = reach[node] * tree.strategy[action + k]
                plies += weight * (tree.node_depth[node] + 1)
                total += weight
    return plies, total


def reach_weighted_depth(tree: Tree) -> float:
    """The mean number of plies from the root states to the first leaf, by both sides' strategies.

    The root's choice of J is that of the gadget. Returns 0 where nothing is reached.
    """
    plies, total = _reach_weighted_depth(tree)
    return float(plies / total) if total > 0 else 0.0
