from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
import pytest

from obscuro.research.games.game_tree import (
    GameTree,
    best_response,
    expected_value,
    exploitability,
    nash_gap,
    strategy_of,
)
from obscuro.research.games.kuhn import BET, PASS, KuhnState
from obscuro.search.game import MAX, MIN

from .oracle import (
    cfr_plus,
    information_states,
    random_policy,
    spiel_game,
    spiel_policy,
    twin_states,
)

KUHN_VALUE = -1 / 18


def kuhn_equilibrium(tree: GameTree[Any], bluff: float) -> dict[int, list[float]]:
    """Kuhn's equilibrium in which ▲ bets the lowest card with probability `bluff` ≤ 1/3."""
    bets = {
        (): (bluff, 0.0, 3 * bluff),
        (PASS, BET): (0.0, bluff + 1 / 3, 1.0),
        (PASS,): (1 / 3, 0.0, 1.0),
        (BET,): (0.0, 1 / 3, 1.0),
    }
    strategy = {}
    for node, state in enumerate(tree.states):
        mover = tree.player[node]
        if mover in (MAX, MIN):
            assert isinstance(state, KuhnState)
            bet = bets[state.betting][state.cards[mover]]
            strategy[int(tree.keys[node, mover])] = [1 - bet, bet]
    return strategy


def test_uniform_play_is_as_exploitable_as_openspiel_says(small_tree: GameTree[Any]) -> None:
    game = spiel_game(small_tree)
    expected = pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game))
    assert exploitability(small_tree, {}) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_random_play_is_as_exploitable_as_openspiel_says(
    small_tree: GameTree[Any], seed: int
) -> None:
    game = spiel_game(small_tree)
    policy = random_policy(small_tree, np.random.default_rng(seed))
    strategy = strategy_of(small_tree, policy)
    theirs = spiel_policy(
        small_tree, information_states(small_tree, twin_states(small_tree)), policy
    )
    assert exploitability(small_tree, strategy) == pytest.approx(
        pyspiel.exploitability(game, theirs), abs=1e-9
    )
    assert nash_gap(small_tree, strategy) == pytest.approx(
        pyspiel.nash_conv(game, theirs), abs=1e-9
    )


@pytest.mark.parametrize("seed", range(2))
def test_expected_value_is_openspiels(small_tree: GameTree[Any], seed: int) -> None:
    game = spiel_game(small_tree)
    policy = random_policy(small_tree, np.random.default_rng(seed))
    theirs = spiel_policy(
        small_tree, information_states(small_tree, twin_states(small_tree)), policy
    )
    expected = pyspiel.expected_returns(
        game.new_initial_state(), pyspiel.TabularPolicy(theirs), -1, True
    )
    assert expected_value(small_tree, strategy_of(small_tree, policy)) == pytest.approx(
        expected[0], abs=1e-9
    )


@pytest.mark.parametrize("player", [MAX, MIN])
def test_best_response_earns_the_value_it_promises(tree: GameTree[Any], player: int) -> None:
    policy = random_policy(tree, np.random.default_rng(7))
    strategy = strategy_of(tree, policy)
    value, response = best_response(tree, strategy, player)
    assert len(response) == np.count_nonzero(tree.infosets.player == player)
    sign = 1 if player == MAX else -1
    assert sign * expected_value(tree, strategy | response) == pytest.approx(value, abs=1e-12)
    assert value >= sign * expected_value(tree, strategy)


@pytest.mark.parametrize("bluff", [0.0, 0.1, 0.25, 1 / 3])
def test_kuhns_equilibria_cannot_be_exploited(kuhn: GameTree[Any], bluff: float) -> None:
    strategy = kuhn_equilibrium(kuhn, bluff)
    assert nash_gap(kuhn, strategy) == pytest.approx(0.0, abs=1e-12)
    assert expected_value(kuhn, strategy) == pytest.approx(KUHN_VALUE, abs=1e-12)


def test_bluffing_too_much_can_be_exploited(kuhn: GameTree[Any]) -> None:
    strategy = kuhn_equilibrium(kuhn, 1 / 3)
    lowest = int(kuhn.keys[kuhn.states.index(KuhnState((0, 1))), MAX])
    assert exploitability(kuhn, strategy | {lowest: [0.5, 0.5]}) > 1e-3


def test_cfr_plus_reaches_kuhns_value(kuhn: GameTree[Any]) -> None:
    strategy = strategy_of(kuhn, cfr_plus(kuhn, 500))
    assert exploitability(kuhn, strategy) < 1e-3
    assert expected_value(kuhn, strategy) == pytest.approx(KUHN_VALUE, abs=1e-3)
