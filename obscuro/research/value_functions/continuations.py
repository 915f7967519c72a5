"""Multi-valued states: at the depth limit ▼ chooses among strategies for the rest of the game.

Kovařík et al. (V), Definition 4.25: the game G(T, P) ends at the limit, where the players choose from
a portfolio P. As in Brown, Sandholm and Amos (2018), who are V's [4], ▲'s portfolio is one strategy,
the blueprint's, and only ▼ chooses. To solve a trunk for ▼, mirror the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.research.games.game_tree import (
    NO_SLOT,
    GameTree,
    best_response,
    enumerate_game,
    policy_of,
    strategy_of,
)
from obscuro.research.value_functions.limited_trunk import RegionCfr
from obscuro.search.game import MIN

Floats = NDArray[np.float64]

UNCHOSEN = -1


class LimitState(NamedTuple):
    """A state of `ContinuationGame`."""

    node: int  # of the tree
    choice: int = UNCHOSEN  # ▼'s continuation strategy, at the end


class ContinuationGame:
    """A game down to a depth limit, where ▼ chooses what the rest is worth; an `ExtensiveForm`.

    Infosets and slots above the limit have the numbers that they have in the tree.

    Parameters
    ----------
    tree : GameTree
        The game.
    level : int
        The plies above the limit.
    values : float64[k, N]
        ▲'s value of each node, in the game's units, if ▼ goes on by each of k strategies. Only those
        of the nodes at the limit count. One row is a value function of histories.

    """

    def __init__(self, tree: GameTree[Any], level: int, values: Floats) -> None:
        """Keep the tree, whose nodes are the states."""
        self._tree, self._values = tree, values
        self._limit = int(tree.levels[level])
        self.name = f"{tree.game.name}_continuations_{len(values)}"
        self.scale = tree.game.scale

    def start(self) -> LimitState:
        """Return the state before the first ply."""
        return LimitState(0)

    def player(self, state: LimitState) -> int:
        """Return who moves; at the limit ▼ does."""
        if state.choice != UNCHOSEN:
            return TERMINAL
        player = int(self._tree.player[state.node])
        return MIN if state.node >= self._limit and player != TERMINAL else player

    def actions(self, state: LimitState) -> Sequence[int]:
        """Return the game's actions, and at the limit the numbers of the strategies."""
        if self.player(state) == TERMINAL:
            return []
        if state.node >= self._limit:
            return range(len(self._values))
        actions: list[int] = self._tree.action[self._below(state)].tolist()
        return actions

    def chances(self, state: LimitState) -> Sequence[float]:
        """Return the probability of each action of a `CHANCE` state."""
        chances: list[float] = self._tree.chance[self._below(state)].tolist()
        return chances

    def apply(self, state: LimitState, action: int) -> LimitState:
        """Return the state after `action`."""
        if state.node >= self._limit:
            return state._replace(choice=action)
        below = self._below(state)
        return LimitState(below.start + self._tree.action[below].tolist().index(action))

    def payoff(self, state: LimitState) -> float:
        """Return ▲'s payoff at an end of the game, or its value by the strategy that ▼ chose."""
        if state.choice == UNCHOSEN:
            return float(self._tree.payoff[state.node])
        return float(self._values[state.choice, state.node])

    def observation(self, state: LimitState, player: int) -> Observation:
        """Return what the player observes in the game."""
        return self._tree.game.observation(self._tree.states[state.node], player)

    def _below(self, state: LimitState) -> slice:
        first = int(self._tree.first[state.node])
        return slice(first, first + int(self._tree.degree[state.node]))


def node_values(tree: GameTree[Any], policy: Floats) -> Floats:
    """Return ▲'s expected payoff at each node, float64[N], if both play a policy, float64[S]."""
    likelihood = np.where(tree.slot == NO_SLOT, tree.chance, policy[tree.slot])
    values = tree.payoff.copy()
    for level in reversed(tree.deeper_levels()):
        np.add.at(values, tree.parent[level], likelihood[level] * values[level])
    return values


def solve_with_values(tree: GameTree[Any], level: int, values: Floats, iterations: int) -> Floats:
    """Solve the trunk by CFR+ and return the average policy of both players, float64[S].

    values: float64[k, N], as `ContinuationGame` takes it. Below the limit the policy is uniform.
    """
    limited = enumerate_game(ContinuationGame(tree, level, values))
    region = RegionCfr(limited, (0, len(limited.levels) - 1))
    region.iterate(None, iterations)
    policy = policy_of(tree, {})
    trunk = RegionCfr(tree, (0, level)).slots
    policy[trunk] = region.average()[trunk]
    return policy


def grow_portfolio(
    tree: GameTree[Any], level: int, blueprint: Floats, iterations: int
) -> Iterator[Floats]:
    """Yield ▲'s policies, float64[S], with 1, 2, 3, ... continuation strategies for ▼.

    The first strategy is the blueprint's, float64[S] of both players. Each next one is ▼'s best
    response to ▲'s policy with those before; ▲ goes on by the blueprint. It ends if the portfolio
    holds that response already. The policies are `solve_with_values`'s in the trunk, and the
    blueprint's below the limit.
    """
    below = np.ones(len(blueprint), np.bool_)
    below[RegionCfr(tree, (0, level)).slots] = False
    owner = tree.infosets.owner
    theirs = below & (owner == MIN)
    portfolio = [blueprint]
    while True:
        values = np.array([node_values(tree, each) for each in portfolio])
        trunk = solve_with_values(tree, level, values, iterations)
        policy = np.where(below, blueprint, trunk)
        yield policy
        response = best_response(tree, strategy_of(tree, policy), MIN)[1]
        answer = np.where(theirs, policy_of(tree, response), blueprint)
        if any(np.array_equal(answer, known) for known in portfolio):
            return
        portfolio.append(answer)
