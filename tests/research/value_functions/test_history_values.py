"""A network learns the values of histories, also of those that it was not shown."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.value_functions.continuations import node_values
from obscuro.research.value_functions.history_values import (
    LearnedValues,
    StateEncoding,
    learn_values,
)
from obscuro.research.value_functions.limited_trunk import RegionCfr
from obscuro.research.value_functions.value_network import NetworkShape

Tree = GameTree[object]


@pytest.fixture(scope="module")
def tree() -> Tree:
    return enumerate_game(Goofspiel(4, "decreasing", stake="points"))


@pytest.fixture(scope="module")
def values(tree: Tree) -> np.ndarray:
    region = RegionCfr(tree, (0, len(tree.levels) - 1))
    region.iterate(None, 300)
    return node_values(tree, region.average())


@pytest.fixture(scope="module")
def learned(tree: Tree, values: np.ndarray) -> LearnedValues:
    return learn_values(tree, values, NetworkShape(2, 32), epochs=1500, held_share=0.1)


def test_states_are_encoded_apart() -> None:
    tree = enumerate_game(LeducPoker())
    encoded = StateEncoding(tree.states)(tree.states)
    assert len(np.unique(encoded, axis=0)) == len(set(tree.states))
    assert set(np.unique(encoded)) == {0.0, 1.0}


def test_what_no_state_had_is_not_encoded() -> None:
    encoding = StateEncoding([((0, 1), 2), ((1,), 2)])
    assert len(encoding) == 4
    assert encoding([((0, 3), 2)]).sum() == 2.0


def test_it_learns_what_it_was_shown_and_much_of_what_it_was_not(
    tree: Tree, values: np.ndarray, learned: LearnedValues
) -> None:
    open_nodes = np.flatnonzero(tree.player != TERMINAL)
    assert learned.learned + learned.held == len(open_nodes)
    found = learned.values.of([tree.states[node] for node in open_nodes.tolist()])
    assert np.square(found - values[open_nodes]).sum() < 0.05 * np.square(values[open_nodes]).sum()
    assert learned.unexplained < 0.15


def test_a_leaf_is_worth_what_the_network_says(tree: Tree, learned: LearnedValues) -> None:
    states = tree.states[1:6]
    singly = [learned.values(state) for state in states]
    assert singly == pytest.approx(learned.values.of(states).tolist(), rel=1e-5)
    assert len(set(singly)) == len(states)
