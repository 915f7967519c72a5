"""Exact values of strategies in small games: expectation, best response, exploitability.

All values are in the game's own units and in double precision. At an infoset that a strategy lacks
it plays uniformly (`strategy.policy_of`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import State
from obscuro.research.games.game_tree import NO_SLOT, GameTree
from obscuro.research.games.strategy import Strategy, policy_of
from obscuro.search.game import MAX, MIN


def expected_value(tree: GameTree[State], strategy: Strategy) -> float:
    """Return ▲'s expected payoff, u(x, y), if both players play `strategy`."""
    likelihood = _edge_probabilities(tree, strategy)
    values = tree.payoff.copy()
    for level in reversed(tree.deeper_levels()):
        np.add.at(values, tree.parent[level], likelihood[level] * values[level])
    return float(values[0])


def best_response(
    tree: GameTree[State], strategy: Strategy, player: int
) -> tuple[float, dict[int, list[float]]]:
    """Compute a best response of `player` to the other player's part of `strategy`.

    Returns
    -------
    value : float
        The value of the best response, in the view of `player`.
    response : {information key: probabilities}
        A pure best response of `player`. Among equally good actions it plays the first.

    """
    likelihood = _edge_probabilities(tree, strategy)
    sign = 1.0 if player == MAX else -1.0
    reach = _reach_without(tree, likelihood, player)
    values = sign * tree.payoff
    offsets = tree.infosets.offsets
    slot_values = np.zeros(offsets[-1])  # counterfactual values
    policy = np.zeros(offsets[-1])
    for level in reversed(tree.deeper_levels()):
        parent, slot = tree.parent[level], tree.slot[level]
        own = tree.player[parent] == player
        np.add.at(slot_values, slot[own], (reach[level] * values[level])[own])
        for i in np.unique(tree.infoset[parent[own]]):
            choices = slice(offsets[i], offsets[i + 1])
            policy[offsets[i] + np.argmax(slot_values[choices])] = 1.0
        weight = likelihood[level].copy()
        weight[own] = policy[slot[own]]
        np.add.at(values, parent, weight * values[level])
    response = {
        int(tree.infosets.key[i]): policy[offsets[i] : offsets[i + 1]].tolist()
        for i in np.flatnonzero(tree.infosets.player == player)
    }
    return float(values[0]), response


def nash_gap(tree: GameTree[State], strategy: Strategy) -> float:
    """Return what both players together gain by best responses (NashConv); 0 in equilibrium."""
    return best_response(tree, strategy, MAX)[0] + best_response(tree, strategy, MIN)[0]


def exploitability(tree: GameTree[State], strategy: Strategy) -> float:
    """Return half of the Nash gap: the strategy's mean loss to a best response."""
    return nash_gap(tree, strategy) / 2


def _edge_probabilities(tree: GameTree[State], strategy: Strategy) -> NDArray[np.float64]:
    """Return the probability of the action that led to each node, float64[N]."""
    policy = policy_of(tree, strategy)
    chosen = tree.slot != NO_SLOT
    likelihood = tree.chance.copy()
    likelihood[chosen] = policy[tree.slot[chosen]]
    return likelihood


def _reach_without(
    tree: GameTree[State], likelihood: NDArray[np.float64], player: int
) -> NDArray[np.float64]:
    """Return the reach of each node by all but `player`, float64[N]."""
    reach = np.ones(len(tree.states))
    for level in tree.deeper_levels():
        parent = tree.parent[level]
        others = np.where(tree.player[parent] == player, 1.0, likelihood[level])
        reach[level] = reach[parent] * others
    return reach
