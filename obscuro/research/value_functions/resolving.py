"""Continual resolving (V, Section 7, after DeepStack): a value function plays a whole game.

At the first turn a player solves the trunk with a value function at the limit. Below the limit it
forgets what it planned, and solves the bottom of the public state again, from its own range and from
what the value function said that the other player's infosets are worth: the gadget of CFR-D (Burch,
Johanson and Bowling 2014), in which the other player may take these values in place of playing on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk, RegionCfr
from obscuro.research.value_functions.random_trunks import DepthLimitedCfr, ValueFunction
from obscuro.search.game import MAX, MIN

Floats = NDArray[np.float64]


def resolving_policy(
    game: LimitedGame, values: ValueFunction, iterations: int, below: int
) -> Floats:
    """Return what both players play by continual resolving, float64[S].

    values: asked at the limit. iterations: of CFR+ in the trunk. below: of CFR+ in each bottom.
    """
    solver = DepthLimitedCfr(game, values)
    solver.run(iterations)
    policy = solver.average()
    reach = solver.region.reach(None, policy).copy()
    said = values(solver.trunk, reach)
    owner = game.tree.infosets.owner
    bottom = np.ones(len(policy), np.bool_)
    bottom[solver.region.slots] = False
    for side in (MAX, MIN):
        own = bottom & (owner == side)
        policy[own] = resolve(game, solver.trunk, side, reach, said[1 - side], below)[own]
    return policy


def resolve(
    game: LimitedGame,
    trunk: LimitedTrunk,
    side: int,
    reach: Floats,
    worth: Floats,
    iterations: int,
) -> Floats:
    """Solve all bottoms for one player by the gadget of CFR-D; return policies, float64[S].

    Only the player's own part counts. side: the player. reach: float64[N, 3], of which its own and
    chance's count. worth: float64[m, width], the other player's counterfactual values of its infosets,
    in its own view; it may take them in place of playing on.
    """
    other = 1 - side
    region = RegionCfr(game.tree, (game.level, len(game.tree.levels) - 1))
    above = reach[region.roots].copy()
    leaves = trunk.leaves - region.roots.start
    entering = np.zeros_like(worth)
    leaving = np.zeros_like(worth)
    for _ in range(iterations):
        total = entering + leaving
        enters = np.where(total > 0.0, entering / np.where(total > 0.0, total, 1.0), 0.5)
        above[leaves, other] = enters[trunk.state, trunk.infoset[other]]
        region.iterate(above)
        below = region.reach(above, region.policy)
        played = region.values(below, region.policy, other, None)[trunk.leaves]
        stays = trunk.counterfactual(played, below, other)
        mean = enters * stays + (1.0 - enters) * worth
        entering = np.maximum(entering + stays - mean, 0.0)
        leaving = np.maximum(leaving + worth - mean, 0.0)
    return region.average()
