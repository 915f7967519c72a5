"""CFR+ on one region of a game tree: a trunk above a level, or the bottoms below it.

Tammelin, *Solving large imperfect information games using CFR+* (2014). A region is a range of
levels. What comes from above is each player's reach of the region's first nodes; what comes from
below is the values of its last ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.kernels import kernel
from obscuro.research.games.game_tree import GameTree
from obscuro.search.game import CHANCE, MAX, MIN

Floats = NDArray[np.float64]


@kernel
def _spread(begin, end, player, first, degree, slot, chance, policy, reach):
    """Carry the reach of ▲, ▼ and chance, [N, 3], from the nodes of a range to their children."""
    for node in range(begin, end):
        mover = player[node]
        for child in range(first[node], first[node] + degree[node]):
            for k in range(3):
                reach[child, k] = reach[node, k]
            if mover == CHANCE:
                reach[child, CHANCE] *= chance[child]
            else:
                reach[child, mover] *= policy[slot[child]]


@kernel
def _gather(begin, end, player, first, degree, slot, chance, policy, reach, learner, values, gains):
    """Bring the learner's values [N] up from the children, and count its actions' values [S].

    gains: counterfactual values of the learner's actions; they must be 0 before.
    """
    other = 1 - learner
    for node in range(end - 1, begin - 1, -1):
        if degree[node] == 0:
            continue
        mover = player[node]
        value = 0.0
        for child in range(first[node], first[node] + degree[node]):
            if mover == CHANCE:
                value += chance[child] * values[child]
            else:
                value += policy[slot[child]] * values[child]
            if mover == learner:
                gains[slot[child]] += reach[node, other] * reach[node, CHANCE] * values[child]
        values[node] = value


@kernel
def _learn(infosets, offsets, own, gains, regret, total, policy, weight):
    """Update regrets, the average's total and the policy at these infosets.

    own: each infoset's reach by its player. weight: of this iteration in the average.
    """
    for at in range(infosets.shape[0]):
        infoset = infosets[at]
        begin, end = offsets[infoset], offsets[infoset + 1]
        mean = 0.0
        for k in range(begin, end):
            mean += policy[k] * gains[k]
            total[k] += weight * own[at] * policy[k]
        mass = 0.0
        for k in range(begin, end):
            regret[k] = max(regret[k] + gains[k] - mean, 0.0)
            mass += regret[k]
        for k in range(begin, end):
            policy[k] = regret[k] / mass if mass > 0.0 else 1.0 / (end - begin)


class RegionCfr:
    """CFR+ with alternating updates and linear averaging on the levels of one region.

    Parameters
    ----------
    tree : GameTree
        The game.
    levels : (int, int)
        The first level of the region, and the first one below it whose nodes are only valued.

    """

    def __init__(self, tree: GameTree[Any], levels: tuple[int, int]) -> None:
        """Number the region's infosets."""
        self._tree = tree
        self._edges = tree.player, tree.first, tree.degree, tree.slot, tree.chance
        bounds = tree.levels
        first, below = levels
        self.roots = slice(int(bounds[first]), int(bounds[first + 1]))
        self.begin, self.end = int(bounds[first]), int(bounds[below])
        last = min(below + 1, len(bounds) - 1)
        self.leaves = slice(self.end, int(bounds[last]))
        inner = np.arange(self.begin, self.end)
        self._of_player = []
        for side in (MAX, MIN):
            moves = inner[tree.player[inner] == side]
            infosets, at = np.unique(tree.infoset[moves], return_index=True)
            self._of_player.append((infosets, moves[at]))
        slots = len(tree.infosets.action)
        degrees = np.diff(tree.infosets.offsets)
        self._uniform = np.repeat(1.0 / degrees, degrees)
        self._gains = np.zeros(slots)
        self._reach = np.ones((len(tree.states), 3))
        self._values = np.zeros(len(tree.states))
        self.restart()

    @property
    def slots(self) -> NDArray[np.int64]:
        """The slots of the region's infosets, int64[r]."""
        offsets = self._tree.infosets.offsets
        found = [
            np.arange(offsets[infoset], offsets[infoset + 1])
            for infosets, _ in self._of_player
            for infoset in infosets.tolist()
        ]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def restart(self) -> None:
        """Forget all regrets, and begin with the uniform policy."""
        self.policy = self._uniform.copy()
        self._regret = np.zeros_like(self._uniform)
        self._total = np.zeros_like(self._uniform)
        self.iterations = 0

    def average(self) -> Floats:
        """Return the average policy, float64[S]; elsewhere, and where never reached, uniform."""
        offsets = self._tree.infosets.offsets
        sums = np.add.reduceat(self._total, offsets[:-1]).repeat(np.diff(offsets))
        return np.where(sums > 0.0, self._total / np.where(sums > 0.0, sums, 1.0), self._uniform)

    def reach(self, above: Floats | None, policy: Floats) -> Floats:
        """Return each player's and chance's reach of the nodes, float64[N, 3], under a policy.

        above: float64[r, 3], the reach of the region's first nodes; None: 1. The array is used again
        by the next call.
        """
        self._reach[self.roots] = 1.0 if above is None else above
        _spread(
            self.begin,
            self.end,
            *self._edges,
            policy,
            self._reach,
        )
        return self._reach

    def values(self, reach: Floats, policy: Floats, learner: int, below: Floats | None) -> Floats:
        """Return the nodes' values in the learner's view, float64[N], under a policy.

        reach: as `reach` returned it. below: the values of the leaves, float64[l], in the learner's
        view; None: there are none but ends. It counts the actions' values for `learn`.
        """
        tree = self._tree
        sign = 1.0 if learner == MAX else -1.0
        stop = self.leaves.stop
        self._values[self.begin : stop] = sign * tree.payoff[self.begin : stop]
        if below is not None:
            self._values[self.leaves] = below
        self._gains[:] = 0.0
        _gather(
            self.begin,
            self.end,
            *self._edges,
            policy,
            reach,
            learner,
            self._values,
            self._gains,
        )
        return self._values

    def iterate(self, above: Floats | None) -> None:
        """Run one iteration on a region whose leaves are ends, ▲'s update before ▼'s.

        above: float64[r, 3], the reach of the region's first nodes; None: 1. A player's average
        weighs its policies by its reach within the region: above it, the reach is the same for all
        iterations, and where it is 0 the average would say nothing of what is best there.
        """
        for learner in (MAX, MIN):
            within = None
            if above is not None:
                within = above.copy()
                within[:, learner] = 1.0
            reach = self.reach(within, self.policy)
            self.values(reach, self.policy, learner, None)
            self.learn(reach, learner)
        self.iterations += 1

    def learn(self, reach: Floats, learner: int) -> None:
        """Update one player's strategy by what the last `values` counted under `policy`.

        reach: float64[N, 3], as `reach` returned it.
        """
        infosets, nodes = self._of_player[learner]
        own = np.ascontiguousarray(reach[nodes, learner])
        _learn(
            infosets,
            self._tree.infosets.offsets,
            own,
            self._gains,
            self._regret,
            self._total,
            self.policy,
            float(self.iterations + 1),
        )
