"""Training data: random trunk strategies, and what the solved bottoms are worth (V, 6.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.value_functions.bottoms import SolvedBottoms
from obscuro.research.value_functions.depth_limited import ValueFunction
from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk
from obscuro.research.value_functions.region_cfr import RegionCfr
from obscuro.search.game import MAX, MIN

Floats = NDArray[np.float64]

PURE_SHARE: Final = 0.1
"""How often an infoset plays one action for sure."""


class Examples(NamedTuple):
    """n examples: one for each public state of each random trunk strategy."""

    state: NDArray[np.int64]  # [n] the public state
    ranges: NDArray[np.float32]  # [n, w] ▲'s range, then ▼'s
    values: NDArray[np.float32]  # [n, w] counterfactual values, each in its player's view

    def where(self, chosen: NDArray[np.bool_]) -> Examples:
        """Return the chosen examples. chosen: bool[n]."""
        return Examples(self.state[chosen], self.ranges[chosen], self.values[chosen])


def random_policy(
    region: RegionCfr, game: LimitedGame, random: np.random.Generator, concentration: float = 1.0
) -> Floats:
    """Return a random policy, float64[S]: drawn from the simplex, or pure at every tenth infoset.

    concentration: of the Dirichlet distribution of the draws. 1 is uniform, as V's; less gives
    strategies that play few actions.
    """
    offsets = game.tree.infosets.offsets
    policy = region.policy.copy()
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        if random.random() < PURE_SHARE:
            policy[begin:end] = 0.0
            policy[random.integers(begin, end)] = 1.0
        else:
            policy[begin:end] = random.dirichlet(np.full(end - begin, concentration))
    return policy


def as_examples(trunk: LimitedTrunk, reach: Floats, values: list[Floats]) -> Examples:
    """Return one question and its answer as examples, one for each public state.

    reach: float64[N, 3]. values: ▲'s and ▼'s, float64[m, width].
    """
    ranges = trunk.ranges(reach)
    return Examples(
        np.arange(len(trunk.public)),
        np.concatenate([ranges[MAX], ranges[MIN]], axis=1).astype(np.float32),
        np.concatenate([values[MAX], values[MIN]], axis=1).astype(np.float32),
    )


def joined(parts: Sequence[Examples]) -> Examples:
    """Return all examples of these, in order. There must be some."""
    return Examples(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def make_examples(
    game: LimitedGame,
    strategies: int,
    iterations: int,
    random: np.random.Generator,
    concentration: float = 1.0,
) -> Examples:
    """Solve the bottoms below random trunk strategies by so many iterations of CFR+.

    concentration: as `random_policy` takes it.
    """
    trunk = LimitedTrunk(game)
    region = RegionCfr(game.tree, (0, game.level))
    bottoms = SolvedBottoms(game, iterations)
    parts = []
    for _ in range(strategies):
        reach = region.reach(None, random_policy(region, game, random, concentration))
        parts.append(as_examples(trunk, reach, bottoms(trunk, reach)))
    return joined(parts)


class RememberedValues:
    """A value function that keeps what it was asked, and what it said."""

    def __init__(self, values: ValueFunction) -> None:
        self._values = values
        self._parts: list[Examples] = []

    def __call__(self, trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
        """Ask the value function, and return what it says."""
        said = self._values(trunk, reach)
        self._parts.append(as_examples(trunk, reach, said))
        return said

    def examples(self) -> Examples:
        """Return all that was asked, in order. Something must have been asked."""
        return joined(self._parts)
