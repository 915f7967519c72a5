"""Which histories a search holds at the root of its thinking, their weights, and lines below them.

A measurement after a search: nothing here changes the tree.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.search.game import MAX
from obscuro.search.tree import EDGES, LEAF, NO_PARENT, NODES, ROOTS, TERMINAL, Tree

Words = npt.NDArray[np.uint64]


class RootHistories(NamedTuple):
    """The histories of our present infoset I in a tree: n of them. Several may be one position."""

    states: Words  # [n, W]
    expanded: npt.NDArray[np.bool_]  # [n] whether expanded when the search began
    weights: npt.NDArray[np.float64]  # [n] shares of the reach of I; they sum to 1, or are all 0
    edges: npt.NDArray[np.int64]  # [n] the tree's edges that lead to them


def our_histories(
    tree: Tree,
    prior: npt.NDArray[np.float32],
    our_key: np.uint64,
    *,
    at_roots: bool,
    nodes_before: int,
) -> RootHistories:
    """Find the histories of our infoset.

    A history's weight is α(J) times the probability of what leads from J to it: chance's choice of
    the history within J, and for an infoset below the roots the strategies in the tree. The
    gadget's choice among the J does not count: it looks for the worst case.

    prior: α, float32[ROOTS]. at_roots: whether our infoset is at the roots, so that only their
    edges need looking at. nodes_before: the tree's nodes when the search began.
    """
    roots = int(tree.counts[ROOTS])
    limit = int(tree.node_edges[:roots].sum()) if at_roots else int(tree.counts[EDGES])
    ours = tree.edge_keys[:limit, MAX] == our_key
    edges = np.flatnonzero(ours & (tree.edge_status[:limit] != TERMINAL))
    children = tree.edge_child[edges]
    firsts = tree.node_first_edge[: int(tree.counts[NODES])]
    nodes = np.searchsorted(firsts, edges, side="right") - 1
    actions = tree.node_first_action[nodes] + edges - firsts[nodes]
    weights = tree.strategy[actions].astype(np.float64)
    while (inner := tree.node_parent[nodes] != NO_PARENT).any():
        weights[inner] *= tree.strategy[tree.node_parent_action[nodes[inner]]]
        nodes = np.where(inner, tree.node_parent[nodes], nodes)
    weights *= prior[nodes]  # the first nodes are the roots, in the order of α
    total = weights.sum()
    return RootHistories(
        np.array(tree.edge_state[edges]),
        (children != LEAF) & (children < nodes_before),
        weights / total if total > 0 else weights,
        edges,
    )


def mean_action_values(tree: Tree, histories: RootHistories) -> npt.NDArray[np.float64]:
    """Average the values of our actions over the expanded histories of our infoset, by weight.

    The tree's values must be up to date. Histories without any weight count alike. Returns ▲'s
    view, float64[k]; empty if no history is expanded.
    """
    children = tree.edge_child[histories.edges]
    expanded = children != LEAF
    nodes, weights = children[expanded], histories.weights[expanded]
    if not len(nodes):
        return np.zeros(0)
    count = int(tree.node_edges[nodes[0]])  # the same, in the same order, for the whole infoset
    edges = tree.node_first_edge[nodes][:, None] + np.arange(count)
    if not weights.sum() > 0:
        weights = np.ones(len(nodes))
    return np.average(tree.edge_value[edges], axis=0, weights=weights).astype(np.float64)


class LikelyChildren(NamedTuple):
    """Expanded children of histories, n of them, that our strategy plays often."""

    states: Words  # [n, W]
    edges: npt.NDArray[np.int64]  # [n] the tree's edges that lead to them
    parents: npt.NDArray[np.int64]  # [n] which of the given histories each is a child of
    shares: npt.NDArray[np.float64]  # [n] the strategy's probability there, `least` or more


def likely_children(tree: Tree, edges: npt.NDArray[np.int64], least: float) -> LikelyChildren:
    """Find the expanded children of histories whose action has a probability of at least `least`.

    edges: int64[m], those that lead to the histories. A history that is a leaf has none.
    """
    found: list[int] = []
    parents: list[int] = []
    shares: list[float] = []
    for parent, node in enumerate(tree.edge_child[edges]):
        if node == LEAF:
            continue
        first, count = int(tree.node_first_edge[node]), int(tree.node_edges[node])
        actions = int(tree.node_first_action[node])
        strategy = tree.strategy[actions : actions + count]
        below = tree.edge_child[first : first + count]
        for action in np.flatnonzero((strategy >= least) & (below != LEAF)):
            found.append(first + int(action))
            parents.append(parent)
            shares.append(float(strategy[action]))
    children = np.array(found, dtype=np.int64)
    return LikelyChildren(
        np.array(tree.edge_state[children]),
        children,
        np.array(parents, dtype=np.int64),
        np.array(shares, dtype=np.float64),
    )


def edges_along(tree: Tree, edge: int, actions: Sequence[int]) -> list[int]:
    """Follow actions from the history that an edge leads to; return their edges in the tree.

    actions: indices in the order of each node's actions. The edges are fewer than the actions where
    a leaf ends the line: nothing below it is in the tree.
    """
    found = []
    for action in actions:
        node = int(tree.edge_child[edge])
        if node == LEAF:
            break
        edge = int(tree.node_first_edge[node]) + action
        found.append(edge)
    return found
