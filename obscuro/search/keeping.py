"""What the next subgame keeps of the last tree: 2-KLUSS (Obscuro §3.1, C.2, C.6, Fig. 9).

I is the set of histories with our present information key. J₀ is the set of ▼'s infosets that touch
I. The next subgame keeps the histories at this ply in some J ∈ J₀, with all that is below them. For
each J it keeps the histories' weights, ▼'s reach and the alternate value.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.gadget import Gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.solver import refresh_values
from obscuro.search.tree import LEAF, NO_PARENT, NODES, ROOT_INFOSET, TERMINAL, Tree

Reals = npt.NDArray[np.float32]

MAX_ROOT_SHARE = 4  # at most a quarter of the nodes and of the edges are kept roots


class KeptRoots(NamedTuple):
    """What the old tree contributes: m infosets J over n histories, grouped by J."""

    offsets: npt.NDArray[np.int64]  # [m + 1]
    edges: npt.NDArray[np.int32]  # [n] edges of the old tree that lead to the histories
    weights: Reals  # [n] π_{-▼}(h | J), sums to 1 within a J
    reach: Reals  # [m] y(J), ▼'s probability of playing to J
    alternate: Reals  # [m] u(x, y | J) − ĝ(J), ▲'s view
    gift: Reals  # [m] ĝ(J) ≥ 0
    ours: Reals  # [m] Σ π_{-▼}(h) over the histories of J that are in I, given the old root's J


def nothing_kept() -> KeptRoots:
    """What an empty tree contributes."""
    none = np.zeros(0, dtype=np.float32)
    offsets, edges = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return KeptRoots(offsets, edges, none, none, none, none, none)


@kernel
def _profile_reaches(tree):
    """Each node's reach by ▲ and chance, and its reach by ▼, as two float32[n].

    The first is given J; the second includes ▼'s choice of J.
    """
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
    """The histories to keep, as three int32[n]: edge, node above, J; J counts from 0 without gaps.

    most_infosets, most_histories: if there are more, the first ones found are kept.
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
    """The gift ĝ ≥ 0: what ▼'s moves on the way to `edge` of `node` gave away (Obscuro, C.6).

    The values are conditional: counterfactual value over reach (docs/algorithm.md, "Gifts"). They
    are in ▼'s view, from cfv and infoset_reach as `refresh_values` leaves them. An infoset that ▲
    does not reach has no conditional value and adds nothing.
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
def _describe_kept(tree, our_key, edges, above, infosets, offsets, order):
    """What `KeptRoots` says of the kept infosets, from `weights` on."""
    ours, theirs = _profile_reaches(tree)
    weights = np.zeros(edges.shape[0], dtype=np.float32)
    reach = np.zeros(infosets, dtype=np.float32)
    alternate = np.zeros(infosets, dtype=np.float32)
    gift = np.zeros(infosets, dtype=np.float32)
    own = np.zeros(infosets, dtype=np.float32)
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
            if tree.edge_keys[edges[i], MAX] == our_key:
                own[j] += weights[position]
        size = offsets[j + 1] - offsets[j]
        value = np.float32(0)
        for position in range(offsets[j], offsets[j + 1]):
            weights[position] = weights[position] / total if total > 0 else np.float32(1.0 / size)
            value += weights[position] * tree.edge_value[edges[order[position]]]
        i = order[offsets[j]]
        gift[j] = _gift(tree, above[i], edges[i])
        alternate[j] = value - gift[j]
    return weights, reach, alternate, gift, own


def most_roots(tree: Tree) -> int:
    """How many infosets J the next subgame keeps at most; as many new ones may come."""
    return len(tree.node_player) // MAX_ROOT_SHARE


def keep_roots(tree: Tree, gadget: Gadget, our_key: int, depth: int) -> KeptRoots:
    """Choose what the next subgame keeps of the old tree, `depth` plies below its root states.

    our_key: our information key now. Brings all values of the old tree up to date first.
    """
    most_histories = len(tree.edge_value) // MAX_ROOT_SHARE
    found = _find_kept(tree, np.uint64(our_key), depth, most_roots(tree), most_histories)
    return describe_roots(tree, gadget, our_key, *found)


def describe_roots(
    tree: Tree,
    gadget: Gadget,
    our_key: int,
    edges: npt.NDArray[np.int32],
    above: npt.NDArray[np.int32],
    members: npt.NDArray[np.int32],
) -> KeptRoots:
    """Return what the next subgame needs of histories that were chosen, grouped by their J.

    edges, above, members: int32[n], the histories' edges, the nodes above them, and their J. Brings
    all values of the old tree up to date first.
    """
    key = np.uint64(our_key)
    refresh_values(tree, gadget)
    found, group = np.unique(members, return_inverse=True)
    infosets = len(found)
    order = np.argsort(group, kind="stable").astype(np.int64)
    offsets = np.searchsorted(group[order], np.arange(infosets + 1)).astype(np.int64)
    described = _describe_kept(tree, key, edges, above, infosets, offsets, order)
    return KeptRoots(offsets, edges[order], *described)


Words = npt.NDArray[np.uint64]

GIFT_SCALE = 0.1  # a gift of so much value makes a move of ▼ e times less plausible
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ROUND = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(31)
_START = np.uint64(1)


@kernel
def _hash_states(states, words):
    """A hash of the first `words` words of each state, uint64[n]."""
    hashes = np.empty(states.shape[0], dtype=np.uint64)
    for i in range(states.shape[0]):
        value = _START
        for k in range(words):
            value = (value ^ states[i, k]) * _FACTOR
            value = (value ^ (value >> _SHIFT)) * _ROUND
            value ^= value >> _SHIFT
        hashes[i] = value
    return hashes


def position_hashes(states: Words, words: int) -> Words:
    """Hash what tells positions apart, the first `words` words of states uint64[n, W]: uint64[n]."""
    return np.asarray(_hash_states(np.ascontiguousarray(states), words))


def keep_likeliest(tree: Tree, kept: KeptRoots, our_key: int, words: int, most: int) -> KeptRoots:
    """Merge the kept J with equal sets of positions, and leave out all but the `most` likeliest.

    tree: that `kept` was chosen from. our_key: our information key now. words: how many words of a
    state tell positions apart.

    Of J with equal sets the likeliest stays, and ▼'s reach of all counts as its own. How likely a J
    is, is half what ▼'s strategy says, y(J), and half how little ▼ gave away on the way to it,
    exp(−ĝ(J) / GIFT_SCALE), both times the reach of ▲ and chance. J in which ▼ does not play and
    none of our histories was expanded come last.
    """
    count = len(kept.offsets) - 1
    if count == 0:
        return kept
    states = tree.edge_state[kept.edges]
    sets = np.add.reduceat(position_hashes(states, words), kept.offsets[:-1])
    sets ^= np.diff(kept.offsets).astype(np.uint64)
    ours = tree.edge_keys[kept.edges, MAX] == np.uint64(our_key)
    known = ours & (tree.edge_child[kept.edges] != LEAF)
    looked_at = np.logical_or.reduceat(known, kept.offsets[:-1])
    played = kept.reach * kept.ours
    likely = _shares(played) + _shares(kept.ours * np.exp(-kept.gift / np.float32(GIFT_SCALE)))
    order = np.lexsort((-likely, ~(looked_at | (played > 0))))
    _, first, group = np.unique(sets[order], return_index=True, return_inverse=True)
    reach = np.bincount(group, weights=kept.reach[order]).astype(np.float32)
    rank = np.argsort(first)[:most]  # the first of each group, the likeliest group first
    return _chosen(kept, order[first[rank]], reach[rank])


def _shares(masses: Reals) -> Reals:
    """Masses as shares of their sum; all 0 if that is 0."""
    total = masses.sum()
    return masses / total if total > 0 else masses


def _chosen(kept: KeptRoots, infosets: npt.NDArray[np.intp], reach: Reals) -> KeptRoots:
    """The infosets with these numbers, in the order of `kept`. reach: theirs, as numbered."""
    order = np.argsort(infosets)
    infosets, reach = infosets[order], reach[order]
    sizes = np.diff(kept.offsets)[infosets]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    histories = np.repeat(kept.offsets[infosets], sizes) + within
    return KeptRoots(
        offsets,
        kept.edges[histories],
        kept.weights[histories],
        reach,
        kept.alternate[infosets],
        kept.gift[infosets],
        kept.ours[infosets],
    )
