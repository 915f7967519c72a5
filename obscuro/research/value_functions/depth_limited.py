"""Depth-limited CFR+, whose leaves are a value function of both players' ranges (V, Section 6.1.1)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk
from obscuro.research.value_functions.region_cfr import RegionCfr
from obscuro.search.game import MAX, MIN

Floats = NDArray[np.float64]


class ValueFunction(Protocol):
    """Counterfactual values of all infosets at the limit, as a function of both ranges."""

    def __call__(self, trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
        """Return ▲'s and ▼'s counterfactual values, each in its own view, float64[m, width].

        reach: float64[N, 3], of ▲, ▼ and chance; `LimitedTrunk.ranges` makes the ranges of it.
        """
        ...


def zero_values(trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
    """Return 0 for every infoset, float64[m, width] of ▲ and of ▼ (V, Section 6.2).

    reach: float64[N, 3], which does not matter.
    """
    return [np.zeros((len(trunk.public), width)) for width in trunk.width]


class DepthLimitedCfr:
    """CFR+ in the trunk; at the limit it asks a value function.

    Parameters
    ----------
    game : LimitedGame
        The game and its limit.
    values : ValueFunction
        What is asked, once for each player's update.

    """

    def __init__(self, game: LimitedGame, values: ValueFunction) -> None:
        """Begin with the uniform strategy."""
        self.trunk = LimitedTrunk(game)
        self.region = RegionCfr(game.tree, (0, game.level))
        self._values = values
        # Ends at the limit keep their payoffs.
        self._at = self.trunk.leaves - self.region.leaves.start
        self._payoff = game.tree.payoff[self.region.leaves]

    def run(self, iterations: int) -> None:
        """Run iterations, ▲'s update before ▼'s in each."""
        region, trunk = self.region, self.trunk
        for _ in range(iterations):
            for learner in (MAX, MIN):
                reach = region.reach(None, region.policy)
                asked = self._values(trunk, reach)[learner]
                below = self._payoff if learner == MAX else -self._payoff
                below = below.copy()
                below[self._at] = trunk.history_values(asked, reach, learner)
                region.values(reach, region.policy, learner, below)
                region.learn(reach, learner)
            region.iterations += 1

    def average(self) -> Floats:
        """Return the average policy, float64[S]; uniform below the limit."""
        return self.region.average()
