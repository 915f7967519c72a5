"""The game tree as arrays: nodes, edges, infosets and their actions.

Only expanded histories are nodes; a leaf is an edge with a value. Nodes are stored parent first and a
node's edges are contiguous, so that one pass forward pushes reach probabilities down and one pass
backward pulls values up. The first nodes are chance nodes, one for each of ▼'s root infosets J; their
edges lead to the root states h ∈ J. Infoset 0 is the root, where ▼ picks J.

Arrays are allocated once, to a limit, and never moved.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.parameters import PRIOR_SPREAD

LEAF = -1  # edge_child of an edge that has not been expanded
NO_PARENT = -1
ROOT_INFOSET = 0

OPEN, TERMINAL, IN_FLIGHT = 0, 1, 2  # edge_status

NODES, EDGES, INFOSETS, ACTIONS, ROOTS, FULL = range(6)  # entries of `counts`
EDGES_PER_NODE = 6  # fewer children a node than this on average, and nodes run out before edges
_TABLE_BYTES = 16  # a node; at most: the table's size is a power of two
_SCRATCH_BYTES = 20  # a node; five words while a subgame is built


class Tree(NamedTuple):
    """All arrays; capacities: n nodes, e edges, i infosets, a actions, W words a state."""

    node_player: npt.NDArray[np.int8]  # [n] MAX, MIN or CHANCE
    node_infoset: npt.NDArray[np.int32]  # [n]
    node_first_edge: npt.NDArray[np.int32]  # [n]
    node_first_action: npt.NDArray[np.int32]  # [n] of its infoset, repeated here for speed
    node_edges: npt.NDArray[np.int32]  # [n] number of edges
    node_parent: npt.NDArray[np.int32]  # [n] NO_PARENT for the chance nodes of the root
    node_parent_edge: npt.NDArray[np.int32]  # [n]
    node_parent_action: npt.NDArray[np.int32]  # [n] index into the action arrays
    node_depth: npt.NDArray[np.int32]  # [n] plies below the root states; -1 for the chance nodes
    node_new: npt.NDArray[np.uint8]  # [n] 1 until the solver has been there
    node_ours: npt.NDArray[np.uint8]  # [n] 1 in the subtrees of our present infoset
    node_reach: npt.NDArray[np.float32]  # [n] scratch of the solver

    edge_value: npt.NDArray[np.float32]  # [e] ▲'s view
    edge_child: npt.NDArray[np.int32]  # [e] node or LEAF
    edge_status: npt.NDArray[np.uint8]  # [e] OPEN, TERMINAL or IN_FLIGHT
    edge_keys: npt.NDArray[np.uint64]  # [e, 2] ▲'s and ▼'s information keys below the edge
    edge_state: npt.NDArray[np.uint64]  # [e, W]

    infoset_key: npt.NDArray[np.uint64]  # [i]
    infoset_player: npt.NDArray[np.int8]  # [i]
    infoset_first: npt.NDArray[np.int32]  # [i] first action
    infoset_actions: npt.NDArray[np.int32]  # [i] number of actions
    infoset_visits: npt.NDArray[np.int32]  # [i] N(I), by its player as the exploring one
    infoset_reach: npt.NDArray[np.float32]  # [i] Σ π_{-i}(h) in its last visit by the solver
    infoset_touched: npt.NDArray[np.uint8]  # [i] 1 between the solver's sweep and its update
    infoset_frozen: npt.NDArray[np.uint8]  # [i] 1 where the strategy must not change (1-KLSS)

    strategy: npt.NDArray[np.float32]  # [a] the current (last) iterate
    regret: npt.NDArray[np.float32]  # [a] R, never negative
    cfv: npt.NDArray[np.float32]  # [a] counterfactual values, its player's view, of the last sweep
    picks: npt.NDArray[np.int32]  # [a] N(I, a)
    value_mean: npt.NDArray[np.float32]  # [a] of u(I, a) over its samples, two prior ones included
    value_spread: npt.NDArray[np.float32]  # [a] sum of the samples' squared deviations from it

    table: npt.NDArray[np.int32]  # [power of two] infoset + 1 by key, 0 = free
    counts: npt.NDArray[np.int64]  # [6] NODES, EDGES, INFOSETS, ACTIONS, ROOTS, FULL

    @property
    def nodes(self) -> int:
        """Histories in the tree, leaves included (what the paper counts as nodes)."""
        return int(self.counts[EDGES])

    @property
    def infosets(self) -> int:
        """Infosets in the tree, those of chance nodes left out."""
        return int(np.count_nonzero(self.infoset_player[1 : self.counts[INFOSETS]] != CHANCE))


# The plain arrays of a tree: what their length counts (n, e, i, a as in Tree) and their type.
_LAYOUT: dict[str, tuple[str, type[np.generic]]] = {
    **dict.fromkeys(("node_player", "infoset_player"), ("n", np.int8)),
    **dict.fromkeys(
        (
            "node_infoset",
            "node_first_edge",
            "node_first_action",
            "node_edges",
            "node_parent",
            "node_parent_edge",
            "node_parent_action",
            "node_depth",
        ),
        ("n", np.int32),
    ),
    **dict.fromkeys(("node_new", "node_ours"), ("n", np.uint8)),
    "node_reach": ("n", np.float32),
    "edge_value": ("e", np.float32),
    "edge_child": ("e", np.int32),
    "edge_status": ("e", np.uint8),
    "infoset_key": ("i", np.uint64),
    **dict.fromkeys(("infoset_first", "infoset_actions", "infoset_visits"), ("i", np.int32)),
    "infoset_reach": ("i", np.float32),
    **dict.fromkeys(("infoset_touched", "infoset_frozen"), ("i", np.uint8)),
    **dict.fromkeys(("strategy", "regret", "cfv", "value_mean", "value_spread"), ("a", np.float32)),
    "picks": ("a", np.int32),
}


def bytes_per_edge(state_words: int) -> float:
    """Memory of one edge with its share of nodes, infosets and actions, and of building a subgame."""
    bytes_of = dict.fromkeys("neia", 0)
    for of, dtype in _LAYOUT.values():
        bytes_of[of] += np.dtype(dtype).itemsize
    per_node = bytes_of["n"] + bytes_of["i"] + _TABLE_BYTES + _SCRATCH_BYTES
    per_edge = bytes_of["e"] + bytes_of["a"] + 16 + 8 * state_words  # with edge_keys and edge_state
    return per_edge + per_node / EDGES_PER_NODE


def allocate_tree(edges: int, state_words: int, nodes: int | None = None) -> Tree:
    """An empty tree with room for `edges` edges (and `nodes` nodes; default edges / 6)."""
    nodes = max(1024, edges // EDGES_PER_NODE) if nodes is None else nodes
    table_size = 1 << max(6, (2 * nodes).bit_length())

    size = {"n": nodes, "e": edges, "i": nodes, "a": edges}
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.zeros(size[of], dtype=dtype) for name, (of, dtype) in _LAYOUT.items()
    }
    arrays["edge_keys"] = np.zeros((edges, 2), dtype=np.uint64)
    arrays["edge_state"] = np.zeros((edges, state_words), dtype=np.uint64)
    arrays["table"] = np.zeros(table_size, dtype=np.int32)
    arrays["counts"] = np.zeros(6, dtype=np.int64)
    return Tree(**arrays)


@kernel
def find_infoset(tree, key):
    """The infoset with this key, or -1. Keys of the two players never meet (they are hashes)."""
    mask = np.uint64(tree.table.shape[0] - 1)
    slot = key & mask
    while True:
        entry = tree.table[slot]
        if entry == 0:
            return np.int64(-1)
        if tree.infoset_key[entry - 1] == key:
            return np.int64(entry - 1)
        slot = (slot + np.uint64(1)) & mask


@kernel
def new_infoset(tree, key, player, actions):
    """Append an infoset with zeroed statistics; the caller sets its strategy and checks for room.

    key 0: not entered into the table (chance nodes and the root). Returns the infoset.
    """
    infoset = tree.counts[INFOSETS]
    first = tree.counts[ACTIONS]
    tree.counts[INFOSETS] += 1
    tree.counts[ACTIONS] += actions
    tree.infoset_key[infoset] = key
    tree.infoset_player[infoset] = player
    tree.infoset_first[infoset] = first
    tree.infoset_actions[infoset] = actions
    tree.infoset_visits[infoset] = 0
    tree.infoset_reach[infoset] = 0
    tree.infoset_touched[infoset] = 0
    tree.infoset_frozen[infoset] = 0
    for action in range(first, first + actions):
        tree.strategy[action] = 0
        tree.regret[action] = 0
        tree.cfv[action] = 0
        tree.picks[action] = 0
        tree.value_mean[action] = 0
        tree.value_spread[action] = PRIOR_SPREAD
    if key != 0:
        mask = np.uint64(tree.table.shape[0] - 1)
        slot = key & mask
        while tree.table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        tree.table[slot] = infoset + 1
    return infoset


@kernel
def _paths(tree):
    """What the way to each node says: ▲'s and ▼'s last own action, and its probability.

    Returns int64[2, n] (for ▼ counted from the root's choice of J, which is action J; -1: none) and
    float64[n].
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
    """Verify every invariant of the structure; raises AssertionError with what is broken.

    For tests, between two iterations of the solver: it looks at all nodes and infosets.
    """
    _check_nodes(tree)
    _check_infosets(tree)
    _check_information(tree)
    _check_numbers(tree)


def _check_nodes(tree: Tree) -> None:
    """Parents and children, and whose edges and actions are whose."""
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
    """Infosets, their actions and the table."""
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
    """Who is in which infoset: keys, perfect recall, and no meeting of different J."""
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
    """Probabilities, reach sums, values and statistics."""
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
