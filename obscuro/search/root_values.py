"""The histories at the root of a finished search: weights, and what each of our actions is worth.

A measurement: it works on copies, so nothing here changes the tree.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.search.gadget import Gadget
from obscuro.search.game import MAX
from obscuro.search.solver import refresh_values
from obscuro.search.tree import (
    ACTIONS,
    EDGES,
    INFOSETS,
    LEAF,
    NO_PARENT,
    NODES,
    ROOT_INFOSET,
    ROOTS,
    TERMINAL,
    Tree,
)

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


class RootValues(NamedTuple):
    """Our k actions in n histories of our infoset, those that are expanded.

    The values are those of the present strategies of both players. Below an action that we do not
    play, the other side's strategy is the one of the last iteration that played there.
    """

    states: Words  # [n, W]
    weights: npt.NDArray[np.float64]  # [n] shares of the solver's reach; they sum to 1
    values: npt.NDArray[np.float32]  # [n, k] ▲'s view, [-1, 1]
    policy: npt.NDArray[np.float32]  # [k] our present strategy
    nodes: npt.NDArray[np.int64]  # [k] histories below the action, in all n; 0: only evaluated

    def means(self) -> npt.NDArray[np.float64]:
        """Return the value of each action over all histories: float64[k]."""
        return self.weights @ self.values


def root_values(
    tree: Tree, gadget: Gadget, our_key: np.uint64, *, at_roots: bool
) -> RootValues | None:
    """Return what our actions are worth; None if no history of our infoset is expanded.

    A history's weight is its reach by chance and the other side, the gadget's choice among the J
    included. So these are the counterfactual values by which the solver chooses: the histories that
    hurt us most weigh most. Where the other side does not come to our infoset, the prior α takes
    the place of the gadget's choice; if it does not come there even so, all weigh alike. at_roots:
    whether our infoset is at the roots.
    """
    first, roots = int(tree.infoset_first[ROOT_INFOSET]), int(tree.counts[ROOTS])
    for choice in (tree.strategy[first : first + roots], gadget.prior):
        histories = our_histories(
            tree, choice, our_key, at_roots=at_roots, nodes_before=int(tree.counts[NODES])
        )
        inside = histories.expanded
        weights = histories.weights[inside]
        total = weights.sum()
        if total > 0:
            break
    if not len(weights):
        return None
    nodes = tree.edge_child[histories.edges[inside]]
    actions, start = int(tree.node_edges[nodes[0]]), int(tree.node_first_action[nodes[0]])
    values = refreshed(tree, gadget)[0].edge_value
    return RootValues(
        histories.states[inside],
        weights / total if total > 0 else np.full(len(nodes), 1 / len(nodes)),
        values[tree.node_first_edge[nodes][:, None] + np.arange(actions)],
        tree.strategy[start : start + actions].copy(),
        _below(tree, nodes, actions),
    )


def refreshed(tree: Tree, gadget: Gadget) -> tuple[Tree, Gadget]:
    """Return copies whose values are those of the present strategies, everywhere."""
    edges, actions = int(tree.counts[EDGES]), int(tree.counts[ACTIONS])
    nodes, infosets = int(tree.counts[NODES]), int(tree.counts[INFOSETS])
    copy = tree._replace(
        edge_value=tree.edge_value[:edges].copy(),
        cfv=tree.cfv[:actions].copy(),
        node_reach=tree.node_reach[:nodes].copy(),
        infoset_reach=tree.infoset_reach[:infosets].copy(),
        infoset_touched=tree.infoset_touched[:infosets].copy(),
    )
    gadget = gadget._replace(value=gadget.value.copy())
    refresh_values(copy, gadget)
    return copy, gadget


def _below(tree: Tree, ours: npt.NDArray[np.int32], actions: int) -> npt.NDArray[np.int64]:
    """Count the histories below each of our actions: int64[actions].

    ours: int32[n], the nodes of our infoset.
    """
    count = int(tree.counts[NODES])
    depths, parents = tree.node_depth[:count], tree.node_parent[:count]
    chosen = np.full(count, LEAF, dtype=np.int64)  # which of our actions led to the node
    is_ours = np.zeros(count, dtype=np.bool_)
    is_ours[ours] = True
    for depth in range(int(depths[ours[0]]) + 1, int(depths.max()) + 1):
        nodes = np.flatnonzero(depths == depth)
        above = parents[nodes]
        action = tree.node_parent_action[nodes] - tree.node_first_action[above]
        chosen[nodes] = np.where(is_ours[above], action, chosen[above])
    under = chosen != LEAF
    sums = np.bincount(chosen[under], tree.node_edges[:count][under], minlength=actions)
    return sums.astype(np.int64)
