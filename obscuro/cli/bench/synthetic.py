"""A synthetic tree for measuring the solver. Every run builds the same tree.

The tree grows like the engine's trees, by attaching expansions. Its game consists of hashes, so the
tree does not change when the engine's play changes. All values are 0, so iterations do not change
the strategies, and every iteration does the same work. This work equals that of a real iteration,
because the solver's control flow does not depend on the values.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from obscuro.search.gadget import Gadget, new_gadget, root_strategy
from obscuro.search.game import CHANCE, MIN, Expansion
from obscuro.search.keeping import nothing_kept
from obscuro.search.parameters import SearchParameters
from obscuro.search.subgame import NewRoots, build_subgame
from obscuro.search.tree import INFOSETS, LEAF, NODES, OPEN, ROOTS, Tree, allocate_tree, attach

EDGES = 1_000_000
ROOT_INFOSETS, ROOT_HISTORIES = 250, 500
FEWEST_ACTIONS, MOST_ACTIONS = 16, 46  # actions of an infoset; 31 on average
SUPPORT = 3  # actions in the support of a sparse strategy
DECAY = 0.1  # the ratio of the probabilities of successive actions of the support, during growth
EXPLORE = 0.5  # how often the exploring player leaves its support
SKEW = 4.0  # how strongly it then prefers some actions
BATCH = 256  # walks in a batch
SIGHTS = 2  # number of different observations of the mover after its action
HIDDEN, CASES = 4, 8  # in 4 of 8 cases the other player observes nothing of the action

OUR_KEY: Final = 1
HASH, PLY = 0, 1  # words of a state

Words = npt.NDArray[np.uint64]
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)
_SEEN = np.uint64(1 << 20)  # larger than every number of actions
_SHARES = np.cumsum(DECAY ** np.arange(SUPPORT) / np.sum(DECAY ** np.arange(SUPPORT)))[:-1]


def mix(words: Words) -> Words:
    """Hash each of uint64[n] to uint64[n], by the finaliser of SplitMix64."""
    for shift, multiplier in zip((30, 27), _MULTIPLIERS, strict=True):
        words = (words ^ (words >> np.uint64(shift))) * multiplier
    return words ^ (words >> np.uint64(31))


class HashGame:
    """A game of hashes in which the players alternate; see `obscuro.search.game`.

    A state is a hash of the history and the ply. The mover's key determines the number of actions.
    After an action the mover makes one of two observations. The other player observes something of
    the action in half of the cases.
    """

    state_words: int = 2
    position_words: int = 2

    def expand(self, states: Words, keys: Words) -> Expansion:
        """Return all children of `states`, uint64[n, 2], with keys uint64[n, 2].

        All values are 0, and some children are terminal.
        """
        mover = (states[:, PLY] % np.uint64(2)).astype(np.int8)
        rows = np.arange(len(states))
        span = np.uint64(MOST_ACTIONS - FEWEST_ACTIONS + 1)
        counts = FEWEST_ACTIONS + (mix(keys[rows, mover]) % span).astype(np.int64)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        above = np.repeat(rows, counts)
        action = (np.arange(offsets[-1]) - offsets[above]).astype(np.uint64)
        children = np.empty((len(above), self.state_words), dtype=np.uint64)
        children[:, HASH] = mix(states[above, HASH] + (action + np.uint64(1)) * _STEP)
        children[:, PLY] = states[above, PLY] + np.uint64(1)
        own = _SEEN + children[:, HASH] % np.uint64(SIGHTS)
        shown = children[:, HASH] // np.uint64(SIGHTS) % np.uint64(CASES)
        other = np.where(shown < np.uint64(HIDDEN), _SEEN, _SEEN + shown)
        child_keys = np.empty((len(above), 2), dtype=np.uint64)
        columns = mover[above]
        everywhere = np.arange(len(above))
        chained = mix(keys[above, columns] + (action + np.uint64(1)) * _STEP)
        child_keys[everywhere, columns] = mix(chained + own)
        child_keys[everywhere, 1 - columns] = mix(mix(keys[above, 1 - columns]) + other)
        return Expansion(
            mover,
            offsets,
            children,
            child_keys,
            np.zeros(len(above), dtype=np.float32),
            (children[:, HASH] % np.uint64(97) == 0).astype(np.uint8),
            np.zeros(len(above), dtype=np.float32),
        )


def synthetic_tree(edges: int = EDGES, seed: int = 1) -> tuple[Tree, Gadget]:
    """Build a tree of about `edges` edges and its gadget, with the strategies of a new tree."""
    random = np.random.default_rng(seed)
    tree = allocate_tree(edges + 10_000, HashGame.state_words)
    gadget = build_subgame(
        allocate_tree(1024, HashGame.state_words),
        tree,
        nothing_kept(),
        _roots(random),
        OUR_KEY,
        SearchParameters(),
    )
    game = HashGame()
    while tree.nodes < edges:
        batch = min(BATCH, 1 + (edges - tree.nodes) // MOST_ACTIONS)
        leaves, above = _walk(tree, random, batch)
        expansion = game.expand(tree.edge_state[leaves], tree.edge_keys[leaves])
        attach(tree, np.uint64(OUR_KEY), False, leaves, above, expansion)
    tree.node_new[: tree.counts[NODES]] = 0
    return tree, gadget


def play_dense(tree: Tree) -> Gadget:
    """Give all actions of all infosets a positive probability; return the gadget to solve with."""
    return _set_strategies(tree, MOST_ACTIONS)


def play_sparse(tree: Tree) -> Gadget:
    """Give SUPPORT random actions of each infoset a positive probability, as late in a search.

    Returns the gadget to solve with.
    """
    return _set_strategies(tree, SUPPORT)


def _roots(random: np.random.Generator) -> NewRoots:
    """Draw ▼'s infosets J at the root. Most have few histories, and all are in our infoset."""
    cuts = random.choice(np.arange(1, ROOT_HISTORIES), ROOT_INFOSETS - 1, replace=False)
    offsets = np.concatenate(([0], np.sort(cuts), [ROOT_HISTORIES])).astype(np.int64)
    sizes = np.diff(offsets)
    states = np.zeros((ROOT_HISTORIES, HashGame.state_words), dtype=np.uint64)
    states[:, HASH] = random.integers(1, 2**63, ROOT_HISTORIES, dtype=np.uint64)
    keys = np.full((ROOT_HISTORIES, 2), OUR_KEY, dtype=np.uint64)
    keys[:, MIN] = np.repeat(random.integers(2, 2**63, ROOT_INFOSETS, dtype=np.uint64), sizes)
    none = np.zeros(ROOT_HISTORIES, dtype=np.float32)
    weights = np.repeat(1 / sizes, sizes).astype(np.float32)
    return NewRoots(offsets, states, keys, weights, none, none[:ROOT_INFOSETS])


def _walk(
    tree: Tree, random: np.random.Generator, walks: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Walk down at random to distinct open leaves; return their edges and the nodes above them.

    The walks are one-sided, as in the search: one player explores, the other plays its support.
    """
    root_edges = int(tree.node_edges[: tree.counts[ROOTS]].sum())
    edge = random.integers(0, root_edges, walks)
    above = np.searchsorted(tree.node_first_edge[: tree.counts[ROOTS]], edge, side="right") - 1
    explorer = random.integers(0, 2, walks)
    while len(inner := np.flatnonzero(tree.edge_child[edge] != LEAF)):
        node = tree.edge_child[edge[inner]]
        wide = tree.node_edges[node] * random.random(len(node)) ** SKEW
        narrow = np.searchsorted(_SHARES, random.random(len(node)))
        explores = tree.node_player[node] == explorer[inner]
        rank = np.where(explores & (random.random(len(node)) < EXPLORE), wide, narrow)
        action = _preferred(tree, tree.node_infoset[node], rank.astype(np.int64))
        edge[inner] = tree.node_first_edge[node] + action
        above[inner] = node
    is_open = tree.edge_status[edge] == OPEN
    leaves, first = np.unique(edge[is_open], return_index=True)
    return leaves.astype(np.int32), above[is_open][first].astype(np.int32)


def _preferred(
    tree: Tree, infoset: npt.NDArray[np.int32], rank: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the action with the given rank of preference, 0 for the most preferred."""
    start = (tree.infoset_key[infoset] >> np.uint64(40)).astype(np.int64)
    action: npt.NDArray[np.int64] = (start + rank) % tree.infoset_actions[infoset]
    return action


def _set_strategies(tree: Tree, most: int) -> Gadget:
    """Give up to `most` random actions of each infoset a regret and a probability."""
    random = np.random.default_rng(1)
    infosets, roots = int(tree.counts[INFOSETS]), int(tree.counts[ROOTS])
    deciding = np.flatnonzero(tree.infoset_player[:infosets] != CHANCE)[1:].astype(np.int32)
    for infoset in deciding:
        first, count = int(tree.infoset_first[infoset]), int(tree.infoset_actions[infoset])
        size = min(most, count)
        actions = random.choice(count, size, replace=False)
        regrets = np.zeros(count, dtype=np.float32)
        regrets[actions] = random.uniform(0.5, 1.5, size)
        tree.regret[first : first + count] = regrets
        tree.strategy[first : first + count] = regrets / regrets.sum()
    # Constant regrets keep the root's choice constant too: ▼ enters half the time, every J equally.
    prior = np.full(roots, 1 / roots, dtype=np.float32)
    gadget = new_gadget(np.zeros(roots, dtype=np.float32), prior)
    gadget.enter_regret[:] = 1
    gadget.margin_regret[:] = 1
    root_strategy(tree, gadget)
    return gadget


def mean_depth(tree: Tree) -> float:
    """Return the mean number of plies from the root to the children of expanded histories."""
    nodes, roots = int(tree.counts[NODES]), int(tree.counts[ROOTS])
    return float(tree.node_depth[roots:nodes].mean()) + 1
