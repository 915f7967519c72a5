"""The average strategy, which converges to an equilibrium; playing uses the last iterate instead.

It serves proofs on small games (`obscuro.research.games.search_game`). It costs a pass over the tree each
iteration, so the solver does without it. The average is one in sequence form (Obscuro, footnote
16): the weight of an infoset's strategy is its own player's probability of playing there. The t-th
strategy weighs t², as in the experiments of PCFR+ (Farina et al. 2021), so that the early ones soon
count little.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.tree import INFOSETS, NO_PARENT, NODES, ROOT_INFOSET, Tree

AVERAGE_POWER = 2  # the t-th strategy weighs t ** AVERAGE_POWER

Policies = dict[int, npt.NDArray[np.float64]]
"""The probabilities of the actions under the information key of the player who moves."""


class Sums(NamedTuple):
    """What has been accumulated, and scratch; n, i, a as in `Tree`, double precision."""

    weighted: npt.NDArray[np.float64]  # [a] Σ_t weight_t · own reach · x^t(a | I)
    max_reach: npt.NDArray[np.float64]  # [n] scratch: ▲'s probability of playing to the node
    min_reach: npt.NDArray[np.float64]  # [n] scratch: ▼'s, its choice of J included
    last_added: npt.NDArray[np.int64]  # [i] scratch: when the infoset was last added, from 1


@kernel
def accumulate(tree, sums, time, weight):
    """Add the current strategies of both players with `weight`.

    time: > 0, another one in each call. A player does not forget its own actions, so all nodes of
    an infoset have the same own reach; the first node's is used.
    """
    first = tree.infoset_first[ROOT_INFOSET]
    for node in range(tree.counts[NODES]):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            sums.max_reach[node] = 1.0
            sums.min_reach[node] = tree.strategy[first + node]
        else:
            probability = np.float64(tree.strategy[tree.node_parent_action[node]])
            mover = tree.node_player[parent]
            sums.max_reach[node] = sums.max_reach[parent] * (probability if mover == MAX else 1.0)
            sums.min_reach[node] = sums.min_reach[parent] * (probability if mover == MIN else 1.0)
        player = tree.node_player[node]
        infoset = tree.node_infoset[node]
        if player == CHANCE or sums.last_added[infoset] == time:
            continue
        sums.last_added[infoset] = time
        share = weight * (sums.max_reach[node] if player == MAX else sums.min_reach[node])
        action = tree.node_first_action[node]
        for k in range(action, action + tree.node_edges[node]):
            sums.weighted[k] += share * tree.strategy[k]


class AverageStrategy:
    """The average of a tree's strategies over iterations. The tree may grow meanwhile."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        nodes, infosets = len(tree.node_player), len(tree.infoset_key)
        self._sums = Sums(
            np.zeros(len(tree.strategy)),
            np.zeros(nodes),
            np.zeros(nodes),
            np.zeros(infosets, dtype=np.int64),
        )
        self._time = 0
        self.iterations = 0  # averaged over

    def add(self) -> None:
        """Add the present strategies. Call it after each iteration."""
        self._time += 1
        self.iterations += 1
        accumulate(self._tree, self._sums, self._time, float(self.iterations**AVERAGE_POWER))

    def restart(self) -> None:
        """Drop all sums: the tree has grown since, so they are of another game."""
        self._sums.weighted[:] = 0
        self.iterations = 0

    def policies(self) -> Policies:
        """The average strategy of both, without the infosets that their player never reached."""
        return _policies(self._tree, self._sums.weighted)


def last_iterate(tree: Tree) -> Policies:
    """The current strategy of both players, which a search plays."""
    return _policies(tree, tree.strategy.astype(np.float64))


def _policies(tree: Tree, weights: npt.NDArray[np.float64]) -> Policies:
    """`weights` (float64[a]) of each infoset with a key, divided by their sum where it isn't 0."""
    policies = {}
    for infoset in np.flatnonzero(tree.infoset_key[: tree.counts[INFOSETS]]):
        first, count = int(tree.infoset_first[infoset]), int(tree.infoset_actions[infoset])
        own = weights[first : first + count]
        if own.sum() > 0:
            policies[int(tree.infoset_key[infoset])] = own / own.sum()
    return policies
