"""Counterfactual regret minimisation (CFR) on the whole tree of a small game, over arrays.

Zinkevich et al., *Regret minimization in games with incomplete information* (2007). This is the
textbook's version, whose average after few iterations is a coarse blueprint. `solve.py` solves a
game well, by the search that plays chess.

Sums are made in OpenSpiel's order, level by level. In a symmetric game regrets are equal but for
rounding, and then the order of a sum decides between pure and uniform play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import NO_INFOSET, GameTree
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.search.game import MAX, MIN


class CounterfactualRegret:
    """CFR with an unweighted average.

    An iteration updates ▲ first, then ▼ against ▲'s new strategy; or, with simultaneous updates,
    both against the last strategies. After T iterations the average strategy of both together has a
    Nash gap of O(1/√T).

    Parameters
    ----------
    tree : GameTree
        The game.
    simultaneous : bool
        Whether updates are simultaneous and not alternating.

    """

    def __init__(self, tree: GameTree[Any], *, simultaneous: bool = False) -> None:
        """Begin with the uniform strategy."""
        form = SequenceForm(tree)
        self._tree = tree
        self._offsets = tree.infosets.offsets
        self._infoset_of = form.infoset_of
        self._chance = form.chance
        self._levels = tree.deeper_levels()
        self._mover = np.full(len(tree.states), NO_INFOSET, np.int8)  # who chose the edge to a node
        self._mover[1:] = tree.player[tree.parent[1:]]
        self._owner = tree.infosets.player[form.infoset_of]  # [S]
        self._policy = form.uniform()
        self._regret = np.zeros(len(self._policy))
        self._total = np.zeros(len(self._policy))
        self._simultaneous = simultaneous
        self.iterations = 0

    def run(self, iterations: int) -> None:
        """Run iterations."""
        for _ in range(iterations):
            against = self._policy
            for player in (MAX, MIN):
                changed = self._update(player, against)
                mine = self._owner == player
                self._policy = np.where(mine, changed, self._policy)
                if not self._simultaneous:
                    against = self._policy
            self.iterations += 1

    def average(self) -> NDArray[np.float64]:
        """Return the average policy of both players, float64[S]; uniform where never reached."""
        return self._normalised(self._total)

    def _update(self, player: int, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add one player's regrets under `policy`, float64[S], and what it plays to its average.

        Returns its new strategy, float64[S].
        """
        tree = self._tree
        own, other = self._reach(player, policy), self._reach(1 - player, policy)
        sign = 1.0 if player == MAX else -1.0
        values = sign * tree.payoff
        gained = np.zeros(len(self._policy))
        for level in reversed(self._levels):
            above = tree.parent[level]
            chosen = self._mover[level] == player
            weight = tree.chance[level].copy()
            slots = tree.slot[level]
            played = slots >= 0
            weight[played] = policy[slots[played]]
            np.add.at(values, above, weight * values[level])
            # The counterfactual value of an action is weighed by all but the player.
            np.add.at(
                gained,
                slots[chosen],
                (other[above] * self._chance[above] * values[level])[chosen],
            )
        mine = self._owner == player
        mean = np.bincount(self._infoset_of, policy * gained)
        self._regret += np.where(mine, gained - mean[self._infoset_of], 0.0)
        reach = np.zeros(len(self._policy))
        choosing = np.flatnonzero(self._mover == player)
        reach[tree.slot[choosing]] = own[tree.parent[choosing]]  # the same for a whole infoset
        self._total += reach * policy
        return self._normalised(np.maximum(self._regret, 0.0))

    def _reach(self, player: int, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a player's own reach of each node, float64[N], under `policy`, float64[S]."""
        tree = self._tree
        reach = np.ones(len(tree.states))
        for level in self._levels:
            above = tree.parent[level]
            chosen = self._mover[level] == player
            played = np.where(chosen, policy[tree.slot[level]], 1.0)
            reach[level] = reach[above] * played
        return reach

    def _normalised(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide weights, float64[S], by the sum of their infoset; uniform where it is 0."""
        total = np.bincount(self._infoset_of, weight)[self._infoset_of]
        uniform = 1.0 / np.diff(self._offsets)[self._infoset_of]
        return np.where(total > 0.0, weight / np.where(total > 0.0, total, 1.0), uniform)
