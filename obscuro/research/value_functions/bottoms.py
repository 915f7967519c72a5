"""Exact values at the depth limit: the bottoms are solved for the trunk's ranges (CFR-D).

V, Section 6.1.2 calls it value solving. The values belong to an equilibrium of the game in which
the trunk's strategy is fixed. They are counterfactually optimal: CFR+ makes them the best also
where a player itself does not go (Proposition 4.19).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk
from obscuro.research.value_functions.region_cfr import RegionCfr
from obscuro.search.game import MAX, MIN

Floats = NDArray[np.float64]


class SolvedBottoms:
    """The value function that solves the bottoms by CFR+, all public states at the same time.

    Parameters
    ----------
    game : LimitedGame
        The game and its limit.
    iterations : int
        CFR+'s, for each question.

    """

    def __init__(self, game: LimitedGame, iterations: int) -> None:
        """Number what is below the limit."""
        self.iterations = iterations
        self.region = RegionCfr(game.tree, (game.level, len(game.tree.levels) - 1))

    def __call__(self, trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
        """Return both players' counterfactual values for the trunk's reach, float64[m, width]."""
        above = reach[self.region.roots].copy()
        self.solve(above)
        average = self.region.average()
        below = self.region.reach(above, average)
        found = []
        for side in (MAX, MIN):
            values = self.region.values(below, average, side, None)
            found.append(trunk.counterfactual(values[trunk.leaves], below, side))
        return found

    def solve(self, above: Floats) -> None:
        """Solve the bottoms from the beginning. above: float64[r, 3], the reach of their roots."""
        self.region.restart()
        for _ in range(self.iterations):
            self.region.iterate(above)
