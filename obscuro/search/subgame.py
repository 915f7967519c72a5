"""Knowledge-limited unfrozen subgames, 2-KLUSS (Obscuro §3.1, C.2, C.3, C.6 and Fig. 9).

From the tree of the last search and our present information key: I = the histories with our key; J₀ =
▼'s infosets that touch I; kept are the histories at this ply in some J ∈ J₀, with all that is below
them. They are copied into a second tree, so that nothing is freed or moved while a search runs. New
positions are added as infosets of their own, in which ▼ knows the position.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.gadget import Gadget, new_gadget, root_strategy
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.growth import add_node
from obscuro.search.parameters import PRIOR_SHARE
from obscuro.search.solver import refresh_values
from obscuro.search.tree import (
    ACTIONS,
    EDGES,
    INFOSETS,
    LEAF,
    NO_PARENT,
    NODES,
    OPEN,
    ROOT_INFOSET,
    ROOTS,
    TERMINAL,
    Tree,
    new_infoset,
)

Words = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float32]


MAX_ROOT_SHARE = 4  # kept roots: at most a quarter of the nodes and of the edges, the first found
CARRY_SHARE = np.float32(0.75)  # of the next tree, for what is kept: the rest is for growth


class NewRoots(NamedTuple):
    """Root infosets of ▼ that are not in the old tree: m of them, over n states."""

    offsets: npt.NDArray[np.int64]  # [m + 1] states of J are offsets[J]:offsets[J + 1]
    states: Words  # [n, W]
    keys: Words  # [n, 2] ▲'s and ▼'s information keys
    weights: Reals  # [n] chance's probability of h within its J
    values: Reals  # [n] ▲'s view
    alternate: Reals  # [m] alternate values, ▲'s view


class KeptRoots(NamedTuple):
    """What the old tree contributes: m infosets J over n histories, grouped by J."""

    offsets: npt.NDArray[np.int64]  # [m + 1]
    edges: npt.NDArray[np.int32]  # [n] edges of the old tree that lead to the histories
    weights: Reals  # [n] π_{-▼}(h | J), sums to 1 within a J
    reach: Reals  # [m] y(J), ▼'s probability of playing to J
    alternate: Reals  # [m] u(x, y | J) − ĝ(J), ▲'s view


def nothing_kept() -> KeptRoots:
    """What an empty tree contributes."""
    none = np.zeros(0, dtype=np.float32)
    return KeptRoots(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none, none, none)


@kernel
def _profile_reaches(tree):
    """Each node's reach by ▲ and chance (given J), and by ▼ (its choice of J included): float32[n] × 2."""
    nodes = tree.counts[NODES]
    ours = np.ones(nodes, dtype=np.float32)
    theirs = np.ones(nodes, dtype=np.float32)
    first = tree.infoset_first[ROOT_INFOSET]
    for node in range(nodes):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            theirs[node] = tree.strategy[first + node]
            continue
        probability = tree.strategy[tree.node_parent_action[node]]
        ours[node] = ours[parent]
        theirs[node] = theirs[parent]
        if tree.node_player[parent] == MIN:
            theirs[node] *= probability
        else:
            ours[node] *= probability
    return ours, theirs


@kernel
def _slot_of(table, keys, key):
    """Position of `key` in an open-addressing table of indices + 1 into `keys`."""
    mask = np.uint64(table.shape[0] - 1)
    slot = key & mask
    while table[slot] != 0 and keys[table[slot] - 1] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _count_own(tree, our_key, depth):
    """Number of histories at `depth` plies below the root states with our key."""
    count = 0
    for node in range(tree.counts[NODES]):
        if tree.node_depth[node] != depth - 1:
            continue
        first = tree.node_first_edge[node]
        for edge in range(first, first + tree.node_edges[node]):
            if tree.edge_keys[edge, MAX] == our_key and tree.edge_status[edge] != TERMINAL:
                count += 1
    return count


@kernel
def _find_kept(tree, our_key, depth, most_infosets, most_histories):
    """The histories to keep, as (edge, node above, J) in three int32 arrays; J from 0 without gaps.

    most_infosets, most_histories: no more are kept; the first ones found are.
    """
    limit = min(most_infosets, _count_own(tree, our_key, depth))
    size = 64
    while size < 2 * limit:
        size *= 2
    table = np.zeros(size, dtype=np.int32)
    keys = np.zeros(limit + 1, dtype=np.uint64)
    infosets = 0
    for node in range(tree.counts[NODES]):
        if tree.node_depth[node] != depth - 1:
            continue
        first = tree.node_first_edge[node]
        for edge in range(first, first + tree.node_edges[node]):
            if tree.edge_keys[edge, MAX] == our_key and tree.edge_status[edge] != TERMINAL:
                slot = _slot_of(table, keys, tree.edge_keys[edge, MIN])
                if table[slot] == 0 and infosets < limit:
                    keys[infosets] = tree.edge_keys[edge, MIN]
                    infosets += 1
                    table[slot] = infosets
    count = 0
    edges = np.zeros(64, dtype=np.int32)
    above = np.zeros(64, dtype=np.int32)
    members = np.zeros(64, dtype=np.int32)
    for node in range(tree.counts[NODES]):
        if tree.node_depth[node] != depth - 1:
            continue
        first = tree.node_first_edge[node]
        for edge in range(first, first + tree.node_edges[node]):
            if tree.edge_status[edge] == TERMINAL:
                continue
            slot = _slot_of(table, keys, tree.edge_keys[edge, MIN])
            if table[slot] == 0 or count == most_histories:
                continue
            if count == edges.shape[0]:
                edges = np.concatenate((edges, np.zeros(count, dtype=np.int32)))
                above = np.concatenate((above, np.zeros(count, dtype=np.int32)))
                members = np.concatenate((members, np.zeros(count, dtype=np.int32)))
            edges[count] = edge
            above[count] = node
            members[count] = table[slot] - 1
            count += 1
    return edges[:count], above[:count], members[:count]


@kernel
def _gift(tree, node, edge):
    """What ▼'s moves on the way to `edge` of `node` gave away, ĝ ≥ 0 (conditional values, see DESIGN).

    Needs cfv and infoset_reach of ▼'s infosets as `refresh_values` leaves them; they are in ▼'s view.
    An infoset that ▲ does not reach has no conditional value and gives nothing.
    """
    gift = np.float32(0)
    action = tree.node_first_action[node] + edge - tree.node_first_edge[node]
    while True:
        infoset = tree.node_infoset[node]
        reach = tree.infoset_reach[infoset]
        if tree.node_player[node] == MIN and reach > 0:
            first = tree.infoset_first[infoset]
            expected = np.float32(0)
            for k in range(first, first + tree.infoset_actions[infoset]):
                expected += tree.strategy[k] * tree.cfv[k]
            gift += max((expected - tree.cfv[action]) / reach, np.float32(0))
        if tree.node_parent[node] == NO_PARENT:
            return gift
        action = tree.node_parent_action[node]
        node = tree.node_parent[node]


@kernel
def _describe_kept(tree, edges, above, members, infosets, offsets, order):
    """Weights, ▼'s reach and alternate values of the kept infosets (see KeptRoots)."""
    ours, theirs = _profile_reaches(tree)
    weights = np.zeros(edges.shape[0], dtype=np.float32)
    reach = np.zeros(infosets, dtype=np.float32)
    alternate = np.zeros(infosets, dtype=np.float32)
    for j in range(infosets):
        total = np.float32(0)
        for position in range(offsets[j], offsets[j + 1]):
            i = order[position]
            node = above[i]
            action = tree.node_first_action[node] + edges[i] - tree.node_first_edge[node]
            probability = tree.strategy[action]
            if tree.node_player[node] == MIN:
                weights[position] = ours[node]
                reach[j] = max(reach[j], theirs[node] * probability)
            else:
                weights[position] = ours[node] * probability
                reach[j] = max(reach[j], theirs[node])
            total += weights[position]
        size = offsets[j + 1] - offsets[j]
        value = np.float32(0)
        for position in range(offsets[j], offsets[j + 1]):
            weights[position] = weights[position] / total if total > 0 else np.float32(1.0 / size)
            value += weights[position] * tree.edge_value[edges[order[position]]]
        i = order[offsets[j]]
        alternate[j] = value - _gift(tree, above[i], edges[i])
    return weights, reach, alternate


def most_roots(tree: Tree) -> int:
    """How many infosets J the next subgame keeps at most, and how many may be new."""
    return len(tree.node_player) // MAX_ROOT_SHARE


def alternate_values(
    values: npt.NDArray[np.float32], last_value: float | None
) -> npt.NDArray[np.float32]:
    """Alternate values of new positions, min{ṽ(s), v*} (Obscuro, C.1 and Fig. 9), all in ▲'s view.

    values: ṽ(s), float32[n]; last_value: v*, the last search's value; None: there was none, and ṽ counts.
    """
    if last_value is None:
        return values
    return np.minimum(values, np.float32(last_value))


def keep_roots(tree: Tree, gadget: Gadget, our_key: int, depth: int) -> KeptRoots:
    """The part of the old tree that the next subgame keeps, `depth` plies below its root states.

    Brings all values of the old tree up to date first.
    """
    key = np.uint64(our_key)
    refresh_values(tree, gadget)
    most_histories = len(tree.edge_value) // MAX_ROOT_SHARE
    edges, above, members = _find_kept(tree, key, depth, most_roots(tree), most_histories)
    found, members = np.unique(members, return_inverse=True)
    infosets = len(found)
    order = np.argsort(members, kind="stable").astype(np.int64)
    offsets = np.searchsorted(members[order], np.arange(infosets + 1)).astype(np.int64)
    weights, reach, alternate = _describe_kept(
        tree, edges, above, members, infosets, offsets, order
    )
    return KeptRoots(offsets, edges[order], weights, reach, alternate)


@kernel
def _start(tree, roots):
    """Empty a tree and give it a root over `roots` infosets; its strategy is the gadget's."""
    tree.counts[:] = 0
    tree.table[:] = 0
    new_infoset(tree, np.uint64(0), MIN, roots)
    tree.counts[ROOTS] = roots


@kernel
def _add_root(tree, weights):
    """Append the chance node of the next J over len(weights) histories; returns (node, first edge)."""
    node = tree.counts[NODES]
    count = weights.shape[0]
    infoset = new_infoset(tree, np.uint64(0), CHANCE, count)
    first_action = tree.infoset_first[infoset]
    first_edge = tree.counts[EDGES]
    tree.strategy[first_action : first_action + count] = weights
    tree.counts[NODES] += 1
    tree.counts[EDGES] += count
    tree.node_player[node] = CHANCE
    tree.node_infoset[node] = infoset
    tree.node_first_edge[node] = first_edge
    tree.node_first_action[node] = first_action
    tree.node_edges[node] = count
    tree.node_parent[node] = NO_PARENT
    tree.node_parent_edge[node] = NO_PARENT
    tree.node_parent_action[node] = NO_PARENT
    tree.node_depth[node] = -1
    tree.node_new[node] = 1
    tree.node_ours[node] = 0
    tree.node_reach[node] = 0
    return node, first_edge


@kernel
def _set_leaf(tree, edge, value, keys, state):
    tree.edge_value[edge] = value
    tree.edge_child[edge] = LEAF
    tree.edge_status[edge] = OPEN
    tree.edge_keys[edge] = keys
    tree.edge_state[edge] = state


@kernel
def _copy_infoset(old, infoset, tree):
    """Append an infoset with its strategy, regrets and statistics; returns it."""
    count = old.infoset_actions[infoset]
    player = old.infoset_player[infoset]
    copy = new_infoset(tree, old.infoset_key[infoset], player, count)
    source = old.infoset_first[infoset]
    target = tree.infoset_first[copy]
    tree.infoset_visits[copy] = old.infoset_visits[infoset]
    tree.infoset_reach[copy] = old.infoset_reach[infoset]
    for k in range(count):
        tree.strategy[target + k] = old.strategy[source + k]
        tree.regret[target + k] = old.regret[source + k]
        tree.cfv[target + k] = old.cfv[source + k]
        tree.picks[target + k] = old.picks[source + k]
        tree.value_mean[target + k] = old.value_mean[source + k]
        tree.value_spread[target + k] = old.value_spread[source + k]
    return copy


@kernel
def _plant_kept(old, tree, offsets, edges, weights, below, above):
    """Write the kept infosets as the first roots; note where the subtrees below them now hang.

    below, above: int32[nodes of the old tree], -1; set to the new edge and the new node above it.
    """
    for j in range(offsets.shape[0] - 1):
        begin = offsets[j]
        end = offsets[j + 1]
        node, first = _add_root(tree, weights[begin:end])
        for k in range(end - begin):
            source = edges[begin + k]
            _set_leaf(
                tree,
                first + k,
                old.edge_value[source],
                old.edge_keys[source],
                old.edge_state[source],
            )
            child = old.edge_child[source]
            if child != LEAF:
                below[child] = first + k
                above[child] = node


@kernel
def _plant_new(tree, offsets, states, keys, weights, values):
    """Write the new infosets as the next roots; their histories are leaves."""
    for j in range(offsets.shape[0] - 1):
        begin = offsets[j]
        end = offsets[j + 1]
        _, first = _add_root(tree, weights[begin:end])
        for k in range(end - begin):
            i = begin + k
            _set_leaf(tree, first + k, values[i], keys[i], states[i])


@kernel
def _may_carry(tree, children):
    """Whether one more node with so many children fits into the part for what is kept."""
    nodes = int(CARRY_SHARE * tree.node_player.shape[0])
    edges = int(CARRY_SHARE * tree.edge_value.shape[0])
    return (
        tree.counts[NODES] < nodes
        and tree.counts[INFOSETS] < nodes
        and tree.counts[EDGES] + children <= edges
        and tree.counts[ACTIONS] + children <= edges
    )


@kernel
def _copy_subtrees(old, tree, our_key, freeze, below, above):
    """Copy all nodes below the kept histories, parent first (see `_plant_kept`).

    A node for which there is no room stays a leaf with its last value; CARRY_SHARE of the tree is
    for what is kept, so that it can always grow.
    """
    renamed = np.full(old.counts[INFOSETS], -1, dtype=np.int32)
    for source in range(old.counts[NODES]):
        edge = below[source]
        if edge < 0:
            continue
        parent = above[source]
        player = old.node_player[source]
        ours = tree.node_ours[parent]
        if tree.node_parent[parent] == NO_PARENT:
            ours = np.uint8(tree.edge_keys[edge, MAX] == our_key)
        if not _may_carry(tree, old.node_edges[source]):
            continue
        old_infoset = old.node_infoset[source]
        if renamed[old_infoset] < 0:
            renamed[old_infoset] = _copy_infoset(old, old_infoset, tree)
            if freeze and player == MAX and not ours:
                tree.infoset_frozen[renamed[old_infoset]] = 1
        first = old.node_first_edge[source]
        last = first + old.node_edges[source]
        node = add_node(
            tree,
            edge,
            parent,
            player,
            renamed[old_infoset],
            ours,
            old.edge_state[first:last],
            old.edge_keys[first:last],
            old.edge_value[first:last],
            old.edge_status[first:last] == TERMINAL,
        )
        tree.node_new[node] = old.node_new[source]
        start = tree.node_first_edge[node]
        for k in range(last - first):
            child = old.edge_child[first + k]
            if child != LEAF:
                below[child] = start + k
                above[child] = node


def build_subgame(
    old: Tree,
    tree: Tree,
    kept: KeptRoots,
    new: NewRoots,
    our_key: int,
    mixed_prior: bool,
    freeze: bool,
) -> Gadget:
    """Write the next subgame into `tree` (emptied first); returns its gadget.

    The kept infosets come first among the roots, then the new ones, whose histories are leaves.
    mixed_prior: α(J) = ½ (y(J) / Σ y + 1 / m), else uniform. freeze: 1-KLSS, ▲'s infosets outside
    our own keep the strategy they have. Raises ValueError if the tree has no room for the roots.
    """
    kept_count, new_count = len(kept.offsets) - 1, len(new.offsets) - 1
    roots = kept_count + new_count
    histories = len(kept.edges) + len(new.states)
    if roots >= len(tree.node_player) or roots + histories > len(tree.edge_value):
        raise ValueError(f"no room for {roots} infosets of {histories} positions at the root")
    _start(tree, roots)
    nodes = int(old.counts[NODES])
    below = np.full(nodes, -1, dtype=np.int32)
    above = np.full(nodes, -1, dtype=np.int32)
    _plant_kept(old, tree, kept.offsets, kept.edges, kept.weights, below, above)
    _plant_new(tree, new.offsets, new.states, new.keys, new.weights, new.values)
    _copy_subtrees(old, tree, np.uint64(our_key), freeze, below, above)
    played = np.concatenate((kept.reach, np.zeros(new_count, dtype=np.float32)))
    prior = np.full(roots, 1 / max(roots, 1), dtype=np.float32)
    if mixed_prior and played.sum() > 0:
        prior = PRIOR_SHARE * played / played.sum() + (1 - PRIOR_SHARE) * prior
    alternate = np.concatenate((kept.alternate, new.alternate))
    gadget = new_gadget(alternate, prior.astype(np.float32))
    root_strategy(tree, gadget)
    return gadget
