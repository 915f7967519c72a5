"""Training data: random trunk strategies, and what the solved bottoms are worth (V, 6.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk, RegionCfr
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
    """Solve the bottoms below random trunk strategies by `iterations` of CFR+.

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
    """A value function that keeps what it was asked, and what it said.

    Parameters
    ----------
    values : ValueFunction
        What is asked.
    better : ValueFunction, optional
        Another value function whose word is kept in place of what was said.
    every : int
        Only every so many questions are kept.

    """

    def __init__(
        self, values: ValueFunction, better: ValueFunction | None = None, every: int = 1
    ) -> None:
        """Keep nothing yet."""
        self._values = values
        self._better = better
        self._every = every
        self._asked = 0
        self._parts: list[Examples] = []

    def __call__(self, trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
        """Ask the value function, and return what it says."""
        said = self._values(trunk, reach)
        if self._asked % self._every == 0:
            kept = said if self._better is None else self._better(trunk, reach)
            self._parts.append(as_examples(trunk, reach, kept))
        self._asked += 1
        return said

    def examples(self) -> Examples:
        """Return all that was asked, in order. Something must have been asked."""
        return joined(self._parts)


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
        self.region.iterate(above, self.iterations)


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
