"""A network of both ranges as the heuristic of a search in play (V, Section 7)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.value_functions.limited_trunk import LimitedGame
from obscuro.research.value_functions.random_trunks import DepthLimitedCfr, ValueFunction
from obscuro.search.game import CHANCE, MAX, MIN

UNIFORM_SHARE: Final = 0.05
"""Ranges are those of a policy that plays uniformly this often: a network sees no empty ones."""


class NetworkLeaves:
    """Values a state by a random playout down to the limit, and the value function's word there.

    A search in play asks about single states, a value function about infosets in the light of both
    ranges. The ranges are those of the trunk that the value function solves. The value of a state h
    in the public state S is V_▲(I_▲(h)) − V_▼(I_▼(h)) − v(S), where v(S) is ▲'s mean value: what both
    players' infosets say of h, if what they say adds up. Below the limit a playout goes on to the
    end.

    Parameters
    ----------
    game : LimitedGame
        The game and its limit.
    values : ValueFunction
        Such as `NetworkValues`.
    iterations : int
        Of CFR+ in the trunk.
    seed : int
        Of the playouts.

    """

    def __init__(
        self, game: LimitedGame, values: ValueFunction, iterations: int, seed: int = 1
    ) -> None:
        """Solve the trunk."""
        self._game = game.tree.game
        self._draw = np.random.default_rng(seed).random
        solver = DepthLimitedCfr(game, values)
        uniform = solver.region.policy.copy()
        solver.run(iterations)
        policy = (1 - UNIFORM_SHARE) * solver.average() + UNIFORM_SHARE * uniform
        reach = solver.region.reach(None, policy)
        nodes = limit_values(solver, reach, values)
        states = (game.tree.states[node] for node in solver.trunk.leaves.tolist())
        self._values: dict[Any, float] = dict(zip(states, nodes.tolist(), strict=True))

    def __call__(self, state: Any) -> float:
        """Return ▲'s value of a state, in the game's units."""
        game = self._game
        while state not in self._values:
            mover = game.player(state)
            if mover == TERMINAL:
                return float(game.payoff(state))
            actions = game.actions(state)
            if mover == CHANCE:
                drawn = np.searchsorted(np.cumsum(game.chances(state)), self._draw(), "right")
                index = min(int(drawn), len(actions) - 1)
            else:
                index = int(self._draw() * len(actions))
            state = game.apply(state, actions[index])
        return self._values[state]


def limit_values(
    solver: DepthLimitedCfr, reach: NDArray[np.float64], values: ValueFunction
) -> NDArray[np.float64]:
    """Return ▲'s value of each node at the limit, float64[l], as `NetworkLeaves` says.

    reach: float64[N, 3], of the trunk.
    """
    trunk = solver.trunk
    said = values(trunk, reach)
    mine, theirs = (trunk.history_values(said[side], reach, side) for side in (MAX, MIN))
    mass = reach[trunk.leaves].prod(axis=1)
    totals = np.bincount(trunk.state, weights=mass)
    means = np.bincount(trunk.state, weights=mass * (mine - theirs) / 2) / totals
    found: NDArray[np.float64] = mine - theirs - means[trunk.state]
    return found
