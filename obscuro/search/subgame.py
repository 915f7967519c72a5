"""Building the next subgame: knowledge-limited, unfrozen (Obscuro §3.1, C.2, C.3 and Fig. 9).

What is kept of the last tree is copied into a second one, so that nothing is freed or moved while a
search runs. New positions are added as infosets of their own, in which ▼ knows the position.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.gadget import Gadget, new_gadget, root_strategy
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.keeping import KeptRoots
from obscuro.search.parameters import PRIOR_SHARE, SearchParameters
from obscuro.search.tree import (
    ACTIONS,
    EDGES,
    INFOSETS,
    LEAF,
    NO_PARENT,
    NODES,
    OPEN,
    ROOTS,
    TERMINAL,
    Tree,
    add_node,
    new_infoset,
)

Words = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float32]

MOST_VALUE = 0.95  # larger values count as this where J are weighed by their values
CARRY_SHARE = np.float32(0.75)  # of the next tree, for what is kept: the rest is for growth
LEAST_OURS = 0.1  # by which α(J) is divided: it is no more than ten times as large
NOT_OURS = 0.01  # a J of which no more than this is ours counts as it is


class NewRoots(NamedTuple):
    """Root infosets of ▼ that are not in the old tree: m of them, over n states."""

    offsets: npt.NDArray[np.int64]  # [m + 1] states of J are offsets[J]:offsets[J + 1]
    states: Words  # [n, W]
    keys: Words  # [n, 2] ▲'s and ▼'s information keys
    weights: Reals  # [n] chance's probability of h within its J
    values: Reals  # [n] ▲'s view
    alternate: Reals  # [m] alternate values, ▲'s view
    masses: Reals | None = None  # [m] how many J each stands for, mean 1; None: 1 each


def alternate_values(
    values: npt.NDArray[np.float32], last_value: float | None
) -> npt.NDArray[np.float32]:
    """Alternate values of new positions, min{ṽ(s), v*} (Obscuro, C.1 and Fig. 9), all in ▲'s view.

    values: ṽ(s), float32[n]. last_value: v*, the last search's value; without one (None), ṽ counts.
    Returns float32[n].
    """
    if last_value is None:
        return values
    return np.minimum(values, np.float32(last_value))


@kernel
def _start(tree, roots):
    """Empty a tree and give it a root over `roots` infosets; its strategy is the gadget's."""
    tree.counts[:] = 0
    tree.table[:] = 0
    new_infoset(tree, np.uint64(0), MIN, roots)
    tree.counts[ROOTS] = roots


@kernel
def _add_root(tree, weights):
    """Append the chance node of the next J, over len(weights) histories; returns (node, edge)."""
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
    """Write the kept infosets as the first roots; note what their subtrees hang on now.

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
    """Whether one more node with `children` children fits into the part for what is kept."""
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

    A node for which there is no room stays a leaf with its last value. Only CARRY_SHARE of the tree
    is for what is kept, so that the tree can always grow.
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


def _ours(old: Tree, kept: KeptRoots, our_key: int) -> Reals:
    """The share of each kept J that is in our infoset, by the reach of ▲ and chance: float32[k]."""
    ours = old.edge_keys[kept.edges, MAX] == np.uint64(our_key)
    shares = np.add.reduceat(kept.weights * ours, kept.offsets[:-1], dtype=np.float64)
    return np.asarray(shares, dtype=np.float32)


def _root_prior(
    kept: KeptRoots, new: NewRoots, temperature: float, likelihoods: Reals | None
) -> Reals:
    """The share e(J) of each root infoset, the kept ones first: float32[m]; see `build_subgame`."""
    new_count = len(new.offsets) - 1
    roots = len(kept.offsets) - 1 + new_count
    even = np.full(roots, 1 / max(roots, 1), dtype=np.float32)
    if new.masses is not None:
        even[roots - new_count :] *= new.masses
    if likelihoods is not None and likelihoods.sum() > 0:
        even *= likelihoods
        even /= even.sum()
    if temperature <= 0 or not roots:
        return even
    fresh = np.zeros(new_count, dtype=np.float32)
    if new_count:
        fresh = np.add.reduceat(new.weights * new.values, new.offsets[:-1])
    values = np.concatenate((kept.alternate + kept.gift, fresh))
    likely = even * np.exp(-np.arctanh(np.clip(values, -MOST_VALUE, MOST_VALUE)) / temperature)
    return np.asarray(likely / likely.sum(), dtype=np.float32)


def build_subgame(
    old: Tree,
    tree: Tree,
    kept: KeptRoots,
    new: NewRoots,
    our_key: int,
    parameters: SearchParameters,
    likelihoods: Reals | None = None,
) -> Gadget:
    """Empty `tree` and write the next subgame into it; returns its gadget.

    old: the tree that `kept` was chosen from. Among the roots the kept infosets come first, then
    the new ones, whose histories are leaves. our_key: our information key at the roots. Raises
    ValueError if the tree has no room for the roots.

    Without `unfrozen` (1-KLSS) ▲'s infosets outside our own keep their strategy. For soft_root see
    `new_gadget`.
    With `mixed_prior` α(J) = ½ (y(J) / Σ y + e(J)), else e(J). e(J) = 1 / m, times the number of J
    that a new one stands for (`NewRoots.masses`), times likelihoods, float32[m] on any scale. With
    a `root_temperature` T above 0 it is in proportion to that times exp(−artanh(u) / T), where u is
    J's value for ▲: so J that are good for ▼ are likelier.
    `ours_prior` x: α(J) is divided by s^x, where s is the share of J that is in our infoset, and what
    is ours of J has α(J) for itself. s counts LEAST_OURS at least, and 1 up to NOT_OURS.
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
    _copy_subtrees(old, tree, np.uint64(our_key), not parameters.unfrozen, below, above)
    played = np.concatenate((kept.reach, np.zeros(new_count, dtype=np.float32)))
    prior = _root_prior(kept, new, parameters.root_temperature, likelihoods)
    if parameters.mixed_prior and played.sum() > 0:
        prior = PRIOR_SHARE * played / played.sum() + (1 - PRIOR_SHARE) * prior
    if parameters.ours_prior > 0:
        ours = _ours(old, kept, our_key)
        ours = np.where(ours > NOT_OURS, np.maximum(ours, LEAST_OURS), 1)
        prior[:kept_count] /= ours**parameters.ours_prior
        prior /= prior.sum()
    alternate = np.concatenate((kept.alternate, new.alternate))
    gadget = new_gadget(alternate, prior.astype(np.float32), parameters.soft_root)
    root_strategy(tree, gadget)
    return gadget
