"""The game tree as arrays: nodes, edges, infosets and their actions.

Only expanded histories are nodes; a leaf is an edge with a value. A parent is stored before its
children, and a node's edges are contiguous. So one pass forward pushes reach probabilities down,
and one pass backward pulls values up. The first nodes are chance nodes, one for each of ▼'s root
infosets J; their edges lead to the root states h ∈ J. Infoset 0 is the root, where ▼ picks J.

Arrays are allocated once, to a limit, and never moved.

Expansions are attached (Obscuro, C.5 and the end of Fig. 12) by the solver's thread alone.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX
from obscuro.search.parameters import PRIOR_SPREAD

LEAF = -1  # edge_child of an edge that has not been expanded
NO_PARENT = -1
ROOT_INFOSET = 0

OPEN, TERMINAL, IN_FLIGHT = 0, 1, 2  # edge_status

NODES, EDGES, INFOSETS, ACTIONS, ROOTS, FULL = range(6)  # entries of `counts`
EDGES_PER_NODE = 6  # with fewer children per node on average, nodes run out before edges
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
    """Bytes for one edge with its share of nodes, infosets, actions and scratch for a subgame."""
    bytes_of = dict.fromkeys("neia", 0)
    for of, dtype in _LAYOUT.values():
        bytes_of[of] += np.dtype(dtype).itemsize
    per_node = bytes_of["n"] + bytes_of["i"] + _TABLE_BYTES + _SCRATCH_BYTES
    per_edge = bytes_of["e"] + bytes_of["a"] + 16 + 8 * state_words  # with edge_keys and edge_state
    return per_edge + per_node / EDGES_PER_NODE


def allocate_tree(edges: int, state_words: int, nodes: int | None = None) -> Tree:
    """An empty tree with room for `edges` and `nodes` (default: edges / EDGES_PER_NODE).

    state_words: W, the length of a state.
    """
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
    """The infoset with this key, or -1. Keys are hashes, so those of the two players differ."""
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


ROOM_FOR_ROOTS = 512  # nodes, edges, infosets and actions that are never used by expansions


@kernel
def has_room(tree, children):
    """Whether one more node with `children` children fits into the tree; a margin stays free."""
    return (
        tree.counts[NODES] + 1 < tree.node_player.shape[0] - ROOM_FOR_ROOTS
        and tree.counts[INFOSETS] + 1 < tree.infoset_key.shape[0] - ROOM_FOR_ROOTS
        and tree.counts[EDGES] + children <= tree.edge_value.shape[0] - ROOM_FOR_ROOTS
        and tree.counts[ACTIONS] + children <= tree.strategy.shape[0] - ROOM_FOR_ROOTS
    )


@kernel
def infoset_for(tree, key, player, values, chance, ours, freeze):
    """The infoset of a node that is about to be added; it is made if there is none.

    A new infoset starts pure on the child that is best for its player by `values` (float32[k], ▲'s
    view); at a chance node it holds the probabilities. freeze: 1-KLSS, ▲'s infosets outside our own
    keep their strategy.
    """
    count = values.shape[0]
    if player != CHANCE:
        known = find_infoset(tree, key)
        fits = known >= 0 and tree.infoset_actions[known] == count
        if fits and tree.infoset_player[known] == player:
            return known
        if known >= 0:
            key = np.uint64(0)  # two infosets with one 64-bit key: keep the newcomer apart
    infoset = new_infoset(tree, np.uint64(0) if player == CHANCE else key, player, count)
    first = tree.infoset_first[infoset]
    if player == CHANCE:
        tree.strategy[first : first + count] = chance
        return infoset
    best = 0
    for k in range(1, count):
        better = values[k] > values[best] if player == MAX else values[k] < values[best]
        if better:
            best = k
    tree.strategy[first + best] = 1
    if freeze and player == MAX and not ours:
        tree.infoset_frozen[infoset] = 1
    return infoset


@kernel
def add_node(tree, edge, above, player, infoset, ours, states, keys, values, terminal):
    """Append the node below `edge` of node `above`, with its children as leaves.

    states: uint64[k, W]; keys: uint64[k, 2]; values: float32[k]; terminal: uint8[k].
    """
    node = tree.counts[NODES]
    first = tree.counts[EDGES]
    count = values.shape[0]
    tree.counts[NODES] += 1
    tree.counts[EDGES] += count
    tree.node_player[node] = player
    tree.node_infoset[node] = infoset
    tree.node_first_edge[node] = first
    tree.node_first_action[node] = tree.infoset_first[infoset]
    tree.node_edges[node] = count
    tree.node_parent[node] = above
    tree.node_parent_edge[node] = edge
    tree.node_parent_action[node] = (
        tree.node_first_action[above] + edge - tree.node_first_edge[above]
    )
    tree.node_depth[node] = tree.node_depth[above] + 1
    tree.node_new[node] = 1
    tree.node_ours[node] = ours
    tree.node_reach[node] = 0
    for k in range(count):
        tree.edge_value[first + k] = values[k]
        tree.edge_child[first + k] = LEAF
        tree.edge_status[first + k] = TERMINAL if terminal[k] else OPEN
        tree.edge_keys[first + k] = keys[k]
        tree.edge_state[first + k] = states[k]
    tree.edge_child[edge] = node
    tree.edge_status[edge] = OPEN
    return node


@kernel
def attach(tree, our_key, freeze, edges, nodes, expansion):
    """Attach a batch of expansions; returns how many fitted and the sum of their depths.

    edges, nodes: int32[B], the expanded leaves' edges and the nodes above them. expansion: an
    `Expansion`. our_key: ▲'s key at the root; the subtrees of root states with that key are ours.
    Leaves that do not fit stay marked, and counts[FULL] is set.
    """
    attached = 0
    depth = 0
    for b in range(edges.shape[0]):
        begin = expansion.offsets[b]
        end = expansion.offsets[b + 1]
        edge = edges[b]
        if end == begin or tree.edge_child[edge] != LEAF:
            continue
        if not has_room(tree, end - begin):
            tree.counts[FULL] = 1
            break
        player = expansion.player[b]
        above = nodes[b]
        ours = tree.node_ours[above]
        if tree.node_parent[above] < 0:
            ours = np.uint8(tree.edge_keys[edge, MAX] == our_key)
        key = tree.edge_keys[edge, player] if player != CHANCE else np.uint64(0)
        infoset = infoset_for(
            tree,
            key,
            player,
            expansion.values[begin:end],
            expansion.chance[begin:end],
            ours,
            freeze,
        )
        node = add_node(
            tree,
            edge,
            above,
            player,
            infoset,
            ours,
            expansion.states[begin:end],
            expansion.keys[begin:end],
            expansion.values[begin:end],
            expansion.terminal[begin:end],
        )
        depth += tree.node_depth[node] + 1
        attached += 1
    return attached, depth
