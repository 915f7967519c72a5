"""The invariants of a tree's arrays, which tests verify after random operations."""

import numpy as np

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.tree import (
    IN_FLIGHT,
    INFOSETS,
    LEAF,
    NO_PARENT,
    NODES,
    OPEN,
    ROOT_INFOSET,
    ROOTS,
    TERMINAL,
    Tree,
    find_infoset,
)


@kernel
def _paths(tree):
    """For each node: ▲'s and ▼'s last own action on the way to it, and the way's probability.

    Returns int64[2, n] and float64[n]. -1 stands for no action; ▼'s first one is its choice of J.
    """
    nodes = tree.counts[NODES]
    last = np.full((2, nodes), -1, dtype=np.int64)
    probability = np.ones(nodes)
    for node in range(nodes):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            last[MIN, node] = node
            probability[node] = tree.strategy[tree.infoset_first[ROOT_INFOSET] + node]
            continue
        last[:, node] = last[:, parent]
        action = tree.node_parent_action[node]
        mover = tree.node_player[parent]
        if mover != CHANCE:
            last[mover, node] = action
        probability[node] = probability[parent] * tree.strategy[action]
    return last, probability


@kernel
def _found(tree, keys):
    """The infoset that the table has under each key: int64[k], -1 where it has none."""
    found = np.empty(keys.shape[0], dtype=np.int64)
    for i in range(keys.shape[0]):
        found[i] = find_infoset(tree, keys[i])
    return found


def check(tree: Tree) -> None:
    """Verify every invariant of a tree; raises AssertionError that says which one is broken.

    The invariants hold between two iterations of the solver. The check looks at all nodes and
    infosets, so it is for tests.
    """
    _check_nodes(tree)
    _check_infosets(tree)
    _check_information(tree)
    _check_numbers(tree)


def _check_nodes(tree: Tree) -> None:
    """Check that nodes, edges and actions belong together, and their depths and marks."""
    nodes, edges, _, _, roots, _ = (int(c) for c in tree.counts)
    player, infoset = tree.node_player[:nodes], tree.node_infoset[:nodes]
    first, count = tree.node_first_edge[:nodes], tree.node_edges[:nodes]
    parent, parent_edge = tree.node_parent[:nodes], tree.node_parent_edge[:nodes]
    assert (count > 0).all(), "a node without children"
    assert (player[:roots] == CHANCE).all(), "chance picks the history in J"
    assert (parent[:roots] == NO_PARENT).all(), "a chance node of the root has a parent"
    assert (parent[roots:] >= 0).all(), "a node has lost its parent"
    assert (parent < np.arange(nodes)).all(), "a node is stored before its parent"
    ends = np.cumsum(count[np.argsort(first)])
    assert (np.sort(first) == np.concatenate(([0], ends[:-1]))).all(), "edges have gaps"
    assert int(ends[-1]) == edges, "edges outside nodes"
    inner = np.arange(roots, nodes)
    assert (tree.edge_child[parent_edge[roots:]] == inner).all(), "child and parent disagree"
    assert (tree.edge_child[:edges] >= 0).sum() == nodes - roots, "edges lead to the same node"
    slot = parent_edge[roots:] - first[parent[roots:]]
    assert ((slot >= 0) & (slot < count[parent[roots:]])).all(), "an edge is not its parent's"
    wanted = tree.node_first_action[:nodes][parent[roots:]] + slot
    assert (tree.node_parent_action[roots:nodes] == wanted).all(), "an action is not the edge's"
    own = tree.node_first_action[:nodes] == tree.infoset_first[infoset]
    assert own.all(), "a node's actions are not its infoset's"
    assert (tree.infoset_actions[infoset] == count).all(), "actions differ within an infoset"
    assert (tree.infoset_player[infoset] == player).all(), "players differ within an infoset"
    depth = tree.node_depth[:nodes]
    deeper = (depth[:roots] == -1).all() and (depth[roots:] == depth[parent[roots:]] + 1).all()
    assert deeper, "a wrong depth"
    status = tree.edge_status[:edges]
    assert np.isin(status, (OPEN, TERMINAL, IN_FLIGHT)).all(), "an unknown status"
    expanded = tree.edge_child[:edges] != LEAF
    assert (status[expanded] == OPEN).all(), "a terminal edge or one in flight was expanded"
    lower = inner[parent[roots:] >= roots]
    new, ours = tree.node_new[:nodes], tree.node_ours[:nodes]
    assert (new[lower] >= new[parent[lower]]).all(), "the solver has been below a NEW node"
    assert (ours[lower] == ours[parent[lower]]).all(), "ours and not ours on one path"
    assert not ours[:roots].any(), "a chance node of the root is ours"


def _check_infosets(tree: Tree) -> None:
    """Check infosets, their actions and the table of keys."""
    nodes, _, infosets, actions, roots, _ = (int(c) for c in tree.counts)
    assert infosets >= 1, "the root's infoset is missing"
    assert tree.infoset_player[ROOT_INFOSET] == MIN, "▼ picks at the root"
    assert tree.infoset_actions[ROOT_INFOSET] == roots, "one action of the root for each J"
    used = np.unique(tree.node_infoset[:nodes])
    assert (used == np.arange(1, infosets)).all(), "an infoset without nodes"
    starts, sizes = tree.infoset_first[:infosets], tree.infoset_actions[:infosets]
    assert (starts == np.concatenate(([0], np.cumsum(sizes)[:-1]))).all(), "actions have gaps"
    assert int(sizes.sum()) == actions, "actions outside infosets"
    named = np.flatnonzero(tree.infoset_key[:infosets])
    assert len(np.unique(tree.infoset_key[named])) == len(named), "two infosets with one key"
    assert (_found(tree, tree.infoset_key[named]) == named).all(), "an infoset is not in the table"
    assert np.count_nonzero(tree.table) == len(named), "the table has more than the infosets"
    assert not tree.infoset_touched[:infosets].any(), "an infoset waits for its update"
    frozen = np.flatnonzero(tree.infoset_frozen[:infosets])
    assert (tree.infoset_player[frozen] == MAX).all(), "an infoset of ▼ or chance is frozen"
    ours = np.unique(tree.node_infoset[:nodes][tree.node_ours[:nodes] == 1])
    assert not np.isin(frozen, ours).any(), "an infoset in our subtrees is frozen"


def _check_information(tree: Tree) -> None:
    """Check that infosets group nodes by key, with perfect recall; no two J share a key."""
    nodes, roots = int(tree.counts[NODES]), int(tree.counts[ROOTS])
    player, infoset = tree.node_player[:nodes], tree.node_infoset[:nodes]
    deciders = np.flatnonzero(player != CHANCE)
    keys = tree.edge_keys[tree.node_parent_edge[deciders], player[deciders]]
    foreign = tree.infoset_key[infoset[deciders]] != keys
    # A newcomer with the key of another infoset (a collision of hashes) has an infoset of its own.
    apart, others = infoset[deciders[foreign]], _found(tree, keys[foreign])
    collides = (tree.infoset_key[apart] == 0) & (others >= 0)
    collides &= (tree.infoset_actions[apart] != tree.infoset_actions[others]) | (
        tree.infoset_player[apart] != tree.infoset_player[others]
    )
    assert collides.all(), "a node is in a foreign infoset"
    lead = np.full(int(tree.counts[INFOSETS]), -1, dtype=np.int64)
    lead[infoset[::-1]] = np.arange(nodes)[::-1]  # each infoset's first node
    last, _ = _paths(tree)
    for side in (MAX, MIN):
        own = np.flatnonzero(player == side)
        recalled = last[side][own] == last[side][lead[infoset[own]]]
        assert recalled.all(), "own actions differ within an infoset"
    above = np.repeat(np.arange(roots), tree.node_edges[:roots])
    root_edges = np.concatenate(
        [tree.node_first_edge[j] + np.arange(tree.node_edges[j]) for j in range(roots)] or [[]]
    ).astype(np.int64)
    pairs = np.stack((above.astype(np.uint64), tree.edge_keys[root_edges, MIN]), axis=1)
    meetings = len(np.unique(pairs, axis=0)) - len(np.unique(pairs[:, 1]))
    assert meetings == 0, "two J with one key of ▼'s"


def _check_numbers(tree: Tree) -> None:
    """Check probabilities, sums of reaches, values and statistics."""
    nodes, edges, infosets, actions, _, _ = (int(c) for c in tree.counts)
    strategy, starts = tree.strategy[:actions], tree.infoset_first[:infosets]
    sums = np.add.reduceat(strategy.astype(float), starts)
    assert (strategy >= 0).all() and np.allclose(sums[1:], 1, atol=1e-4), "strategy"
    assert sums[ROOT_INFOSET] <= 1 + 1e-4, "the root's strategy"
    regret = tree.regret[:actions]
    assert (regret >= 0).all() and np.isfinite(regret).all(), "a regret out of range"
    _, probability = _paths(tree)
    order = np.argsort(tree.node_first_edge[:nodes])
    count, first = tree.node_edges[:nodes][order], tree.node_first_edge[:nodes][order]
    slot = np.arange(edges) - np.repeat(first, count)
    action = np.repeat(tree.node_first_action[:nodes][order], count) + slot
    reach = np.repeat(probability[order], count) * strategy[action]
    ended = float(reach[tree.edge_child[:edges] == LEAF].sum())
    assert abs(ended - sums[ROOT_INFOSET]) < 1e-3, "reach probabilities do not add up"
    values = tree.edge_value[:edges]
    assert np.isfinite(values).all() and (np.abs(values) <= 1 + 1e-5).all(), "a value out of range"
    picks = np.add.reduceat(tree.picks[:actions].astype(np.int64), starts)
    assert (tree.picks[:actions] >= 0).all(), "an action picked less than never"
    assert (picks == tree.infoset_visits[:infosets]).all(), "a visit without a pick"
    samples = np.isfinite(tree.value_mean[:actions]) & (tree.value_spread[:actions] > 0)
    assert samples.all(), "statistics of values"
