"""Which leaf to expand: one-sided growing-tree CFR (Obscuro, C.4 and Fig. 12).

The exploring player follows ½ uniform over the support of its strategy + ½ PUCT; the other one
plays its current strategy. Two-sided GT-CFR (Schmid et al. 2023) is the same with both exploring.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.parameters import EXPLORE_BY_PUCT, PRIOR_SAMPLES, SearchParameters
from obscuro.search.tree import (
    IN_FLIGHT,
    LEAF,
    OPEN,
    ROOT_INFOSET,
)

_STEP = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S40 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(40)
_UNIT = np.float32(2.0**-24)


@kernel
def uniform(state):
    """The next number in [0, 1) as float32; state: uint64[1], advanced."""
    state[0] += _STEP
    word = state[0]
    word = (word ^ (word >> _S30)) * _M1
    word = (word ^ (word >> _S27)) * _M2
    word ^= word >> _S31
    return np.float32(word >> _S40) * _UNIT


@kernel
def sample(state, weights):
    """Draw an index in proportion to `weights`, float32[k] of any sum; -1 if all are 0."""
    total = np.float32(0)
    for weight in weights:
        total += weight
    if total <= 0:
        return -1
    left = uniform(state) * total
    last = -1
    for index in range(weights.shape[0]):
        if weights[index] > 0:
            last = index
            left -= weights[index]
            if left < 0:
                return index
    return last


NOTHING = -1  # instead of an edge: the walk found no leaf that can be expanded
ENDED = -1  # why: it came to the end of the game
BLOCKED = -2  # why: it came to a NEW node, or to a leaf in flight; later it may get further

_ZERO = np.float32(0)
_MOST = np.float32(1)  # a conditional value is in [-1, 1]
_MOST_AT_ROOT = np.float32(2)  # where it is the difference of two
_EXPLORE_BY_PUCT = np.float32(EXPLORE_BY_PUCT)
_PRIOR_SAMPLES = np.float32(PRIOR_SAMPLES)


class Batch(NamedTuple):
    """Selected leaves, B of them, marked as in flight."""

    edges: npt.NDArray[np.int32]  # [B]
    nodes: npt.NDArray[np.int32]  # [B] the nodes above
    states: npt.NDArray[np.uint64]  # [B, W]
    keys: npt.NDArray[np.uint64]  # [B, 2]

    def part(self, of: slice) -> "Batch":
        """Some of the leaves."""
        return Batch(self.edges[of], self.nodes[of], self.states[of], self.keys[of])


def joined_batches(batches: Sequence[Batch]) -> Batch:
    """Several batches as one."""
    return Batch(*(np.concatenate(arrays) for arrays in zip(*batches, strict=True)))


class Exploration(NamedTuple):
    """How leaves are selected, as the kernels take it."""

    one_sided: bool  # only one player explores in a walk
    puct_c: np.float32  # C
    least_variance: np.float32  # below which σ does not fall
    ours_share: np.float32  # of the walks that stay in our infoset at a chance node


def exploration(parameters: SearchParameters) -> Exploration:
    """The parameters of selection."""
    return Exploration(
        parameters.one_sided,
        np.float32(parameters.puct_c),
        np.float32(parameters.puct_least_variance),
        np.float32(parameters.ours_share),
    )


@kernel
def _add_sample(tree, action, value, samples):
    """Add a value to an action's statistics (Welford). samples: with it and the prior ones."""
    before = value - tree.value_mean[action]
    tree.value_mean[action] += before / samples
    tree.value_spread[action] += before * (value - tree.value_mean[action])


@kernel
def _within(value, most):
    """The value, or the nearest in [-most, most]."""
    return max(-most, min(most, value))


@kernel
def explore(tree, infoset, rule, random_state):
    """The exploring player's action at an infoset; counts the visit and its values.

    Q̄ = u(I, a) + C · σ · √N(I) / (1 + N(I, a)), where u is conditional: cfv / reach. The paper
    says that σ is the empirical variance of u(I, a) over the visits to I, with two prior samples −1
    and +1. The variance of an estimate that no longer changes falls like 2 / N(I), and the bonus of
    an action never tried like 2 / √N(I); so here σ does not fall below `least_variance`, and every
    action is tried again and again, as the proof of Theorem 1 needs. Chess needs it less the larger
    the tree is (docs/results/exploration.md).

    u is held to the range of values, whatever reach and cfv say: it goes into statistics that stay
    from turn to turn.
    """
    first = tree.infoset_first[infoset]
    count = tree.infoset_actions[infoset]
    reach = tree.infoset_reach[infoset]
    scale = np.float32(1) / reach if reach > 0 else _ZERO
    most = _MOST_AT_ROOT if infoset == ROOT_INFOSET else _MOST
    tree.infoset_visits[infoset] += 1
    visits = np.float32(tree.infoset_visits[infoset])
    samples = visits + _PRIOR_SAMPLES
    root = np.sqrt(visits)
    best = 0
    best_value = np.float32(-1e30)
    for action in range(first, first + count):
        value = _within(tree.cfv[action] * scale, most)
        picks = np.float32(tree.picks[action])
        _add_sample(tree, action, value, samples)
        sigma = max(tree.value_spread[action] / samples, rule.least_variance)
        optimistic = value + rule.puct_c * sigma * root / (np.float32(1) + picks)
        if optimistic > best_value:
            best_value = optimistic
            best = action - first
    if uniform(random_state) >= _EXPLORE_BY_PUCT:
        support = 0
        for k in range(count):
            if tree.strategy[first + k] > 0:
                support += 1
        if support > 0:
            chosen = min(int(uniform(random_state) * np.float32(support)), support - 1)
            for k in range(count):
                if tree.strategy[first + k] > 0:
                    if chosen == 0:
                        best = k
                        break
                    chosen -= 1
    tree.picks[first + best] += 1
    return best


@kernel
def _sample_ours(tree, node, random_state):
    """Draw one of a root's edges that lead into our infoset by its probability; -1 if none has any.

    Only histories that were expanded are drawn; those of our infoset are, before a search begins.
    """
    first = tree.node_first_action[node]
    edge = tree.node_first_edge[node]
    total = _ZERO
    drawn = -1
    # Each edge takes the place of the one drawn so far with its share of the total up to it.
    for k in range(tree.node_edges[node]):
        child = tree.edge_child[edge + k]
        probability = tree.strategy[first + k]
        if child != LEAF and tree.node_ours[child] and probability > 0:
            total += probability
            if uniform(random_state) * total < probability:
                drawn = k
    return drawn


@kernel
def select_leaf(tree, explorer, rule, random_state):
    """Walk from the root to a leaf that can be expanded, and mark it as in flight.

    Where ▼ picked its infoset J, a history of J is drawn by chance's probabilities, but in
    `ours_share` of the walks among those of our infoset alone, if J has any: the others are known to
    be false, and ▼'s ignorance of that is all that they are there for.

    Returns (edge, node above it), or (NOTHING, why).
    """
    first = tree.infoset_first[ROOT_INFOSET]
    if explorer == MIN or not rule.one_sided:
        node = explore(tree, ROOT_INFOSET, rule, random_state)
    else:
        root = tree.strategy[first : first + tree.infoset_actions[ROOT_INFOSET]]
        node = sample(random_state, root)
    if node < 0:
        return NOTHING, ENDED
    while True:
        if tree.node_new[node]:
            return NOTHING, BLOCKED
        player = tree.node_player[node]
        first = tree.node_first_action[node]
        if player != CHANCE and (player == explorer or not rule.one_sided):
            k = explore(tree, tree.node_infoset[node], rule, random_state)
        else:
            k = -1
            stay = player == CHANCE and rule.ours_share > 0 and tree.node_edges[node] > 1
            if stay and uniform(random_state) < rule.ours_share:
                k = _sample_ours(tree, node, random_state)
            if k < 0:
                k = sample(random_state, tree.strategy[first : first + tree.node_edges[node]])
            if k < 0:
                return NOTHING, ENDED
        edge = tree.node_first_edge[node] + k
        child = tree.edge_child[edge]
        if child == LEAF:
            if tree.edge_status[edge] == IN_FLIGHT:
                return NOTHING, BLOCKED
            if tree.edge_status[edge] != OPEN:
                return NOTHING, ENDED
            tree.edge_status[edge] = IN_FLIGHT
            return edge, node
        node = child


@kernel
def select_batch(tree, explorer, rule, random_state, edges, nodes, states, keys):
    """Select up to len(edges) leaves, the exploring player alternating from `explorer`.

    Written: edges, nodes: int32[B]; states: uint64[B, W]; keys: uint64[B, 2]. Returns how many were
    found in at most 4·B walks. Ends when B / 2 walks in a row were blocked: every walk counts as a
    visit, and those that a solver's iteration would have let through should not use them up.
    """
    size = edges.shape[0]
    found = 0
    blocked = 0
    for walk in range(4 * size):
        if found == size or 2 * blocked > size:
            break
        side = explorer if walk % 2 == 0 else MAX + MIN - explorer
        edge, node = select_leaf(tree, side, rule, random_state)
        blocked = blocked + 1 if edge == NOTHING and node == BLOCKED else 0
        if edge == NOTHING:
            continue
        edges[found] = edge
        nodes[found] = node
        states[found] = tree.edge_state[edge]
        keys[found] = tree.edge_keys[edge]
        found += 1
    return found


@kernel
def release(tree, edges):
    """Take back the marks of leaves that will not be expanded after all. edges: int32[B]."""
    for edge in edges:
        if tree.edge_status[edge] == IN_FLIGHT:
            tree.edge_status[edge] = OPEN
