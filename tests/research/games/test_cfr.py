"""CFR over arrays, beside OpenSpiel's, which walks the tree by recursion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from open_spiel.python.algorithms import cfr

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.cfr import CounterfactualRegret
from obscuro.research.games.game_tree import GameTree, enumerate_game, exploitability, strategy_of
from obscuro.research.games.leduc import LeducPoker

from .oracle import information_states, spiel_game, twin_states


@pytest.mark.parametrize("name", ["kuhn", "goofspiel_increasing"])
@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("iterations", [1, 7])
def test_average_is_openspiels(name: str, simultaneous: bool, iterations: int) -> None:
    tree = enumerate_game(CATALOG[name].make())
    ours = CounterfactualRegret(tree, simultaneous=simultaneous)
    ours.run(iterations)
    solver = cfr._CFRSolver(
        spiel_game(tree),
        alternating_updates=not simultaneous,
        linear_averaging=False,
        regret_matching_plus=False,
    )
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    theirs = solver.average_policy()
    policy = ours.average()
    states = information_states(tree, twin_states(tree))
    for text, infoset in states.items():
        slots = slice(*tree.infosets.offsets[infoset : infoset + 2])
        row = theirs.action_probability_array[theirs.state_lookup[text]]
        expected = row[tree.infosets.action[slots]]
        assert policy[slots] == pytest.approx(expected, abs=1e-12), text


def test_exploitability_falls(kuhn: GameTree[Any]) -> None:
    solver = CounterfactualRegret(kuhn)
    found = []
    for _ in range(3):
        solver.run(100)
        found.append(exploitability(kuhn, strategy_of(kuhn, solver.average())))
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.004
    assert solver.iterations == 300


def test_before_the_first_iteration_it_is_uniform(leduc: GameTree[Any]) -> None:
    policy = CounterfactualRegret(leduc).average()
    degrees = np.diff(leduc.infosets.offsets)
    assert np.array_equal(policy, np.repeat(1.0 / degrees, degrees))
    assert leduc.game.name == LeducPoker().name
