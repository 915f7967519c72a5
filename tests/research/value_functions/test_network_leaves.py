"""Leaves of a search in play that a value function of both ranges values."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.any_game.game_player import GamePlayer
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.value_functions.continuations import node_values
from obscuro.research.value_functions.limited_trunk import LimitedTrunk
from obscuro.research.value_functions.network_leaves import NetworkLeaves, limit_values
from obscuro.research.value_functions.random_trunks import (
    DepthLimitedCfr,
    Floats,
    RememberedValues,
    SolvedBottoms,
    zero_values,
)
from obscuro.research.value_functions.value_network import goofspiel
from obscuro.search.game import MAX, MIN

GAME = goofspiel(3, 1)


def of_random_play(trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
    policy = DepthLimitedCfr(GAME, zero_values).average()
    values = node_values(GAME.tree, policy)[trunk.leaves]
    return [
        trunk.counterfactual(values, reach, MAX),
        trunk.counterfactual(-values, reach, MIN),
    ]


def test_values_of_states_have_the_mean_of_their_public_state() -> None:
    solver = DepthLimitedCfr(GAME, zero_values)
    trunk = solver.trunk
    reach = solver.region.reach(None, solver.average())
    found = limit_values(solver, reach, of_random_play)
    exact = node_values(GAME.tree, solver.average())[trunk.leaves]
    assert found != pytest.approx(exact)  # an infoset does not tell its states apart
    mass = reach[trunk.leaves].prod(axis=1)
    for state in range(len(trunk.public)):
        there = trunk.state == state
        means = [np.average(each[there], weights=mass[there]) for each in (found, exact)]
        assert means[0] == pytest.approx(means[1], abs=1e-12)


def test_a_playout_ends_at_the_limit_or_at_the_end() -> None:
    leaves = NetworkLeaves(GAME, of_random_play, 10)
    tree = GAME.tree
    at_limit = {leaves(tree.states[node]) for node in LimitedTrunk(GAME).leaves.tolist()}
    assert {leaves(tree.states[0]) for _ in range(100)} <= at_limit
    assert len({leaves(tree.states[0]) for _ in range(100)}) > 2
    below = int(tree.levels[GAME.level + 1])
    payoffs = {float(each) for each in tree.payoff[tree.degree == 0]}
    assert {leaves(tree.states[below]) for _ in range(20)} <= payoffs


def test_a_search_asks_them() -> None:
    asked = []

    def leaf(state: object) -> float:
        asked.append(state)
        return NetworkLeaves(GAME, of_random_play, 1)(state)

    player = GamePlayer(GAME.tree.game, PlaySettings(iterations=16), leaf)
    assert player.choose() in (0, 1, 2)
    assert asked


def test_the_better_word_on_every_third_question_is_kept() -> None:
    solved = SolvedBottoms(GAME, 20)
    kept = RememberedValues(zero_values, solved, every=3)
    solver = DepthLimitedCfr(GAME, kept)
    plain = DepthLimitedCfr(GAME, zero_values)
    solver.run(3)  # two questions each
    plain.run(3)
    np.testing.assert_array_equal(solver.average(), plain.average())
    examples = kept.examples()
    assert len(examples.state) == 2 * len(solver.trunk.public)
    start = DepthLimitedCfr(GAME, zero_values)
    said = solved(start.trunk, start.region.reach(None, start.region.policy))
    first = examples.where(np.arange(len(examples.state)) < len(solver.trunk.public))
    np.testing.assert_allclose(first.values, np.concatenate(said, axis=1), rtol=1e-6)
