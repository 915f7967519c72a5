"""A small network: it learns what bottoms are worth, and the trunk gets better by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obscuro.value_functions.depth_limited import DepthLimitedCfr, zero_values
from obscuro.value_functions.domains import goofspiel
from obscuro.value_functions.limited_trunk import LimitedTrunk
from obscuro.value_functions.random_trunks import Examples, make_examples
from obscuro.value_functions.region_cfr import RegionCfr
from obscuro.value_functions.trunk_exploitability import TrunkExploitability
from obscuro.value_functions.value_network import (
    NetworkValues,
    ValueNetwork,
    encoded_states,
    huber,
    train,
)

GAME = goofspiel(3, 1)


@pytest.fixture(scope="module")
def trunk() -> LimitedTrunk:
    return LimitedTrunk(GAME)


@pytest.fixture(scope="module")
def examples() -> Examples:
    return make_examples(GAME, 150, 100, np.random.default_rng(1))


@pytest.fixture(scope="module")
def networks(trunk: LimitedTrunk, examples: Examples) -> list[ValueNetwork]:
    learned = examples.where(np.arange(len(examples.state)) >= 45)
    return list(train(trunk, learned, layers=2, neurons=32, epochs=60))


def test_examples_are_one_for_each_public_state(trunk: LimitedTrunk, examples: Examples) -> None:
    assert len(examples.state) == 150 * len(trunk.public)
    assert examples.ranges.shape == examples.values.shape == (len(examples.state), sum(trunk.width))
    assert examples.ranges.min() >= 0.0 and examples.ranges.max() <= 1.0


def test_public_states_are_encoded_apart(trunk: LimitedTrunk) -> None:
    encoded = encoded_states(trunk)
    assert len(np.unique(encoded, axis=0)) == len(trunk.public)
    assert set(np.unique(encoded)) == {0.0, 1.0}


def test_learning_lowers_the_loss_on_what_was_not_learned_from(
    trunk: LimitedTrunk, examples: Examples, networks: list[ValueNetwork]
) -> None:
    held = examples.where(np.arange(len(examples.state)) < 45)
    losses = [huber(network, trunk, held) for network in (networks[0], networks[-1])]
    assert losses[1] < losses[0] / 5


def test_the_trunk_is_less_exploitable_with_a_trained_network(
    trunk: LimitedTrunk, networks: list[ValueNetwork]
) -> None:
    slots = RegionCfr(GAME.tree, (0, GAME.level)).slots
    measured = TrunkExploitability(GAME.tree, slots)
    lost = []
    for values in (zero_values, NetworkValues(networks[-1], trunk)):
        solver = DepthLimitedCfr(GAME, values)
        solver.run(200)
        lost.append(measured.of(solver.average()))
    assert lost[1] < lost[0] / 2


def test_a_saved_network_answers_as_before(
    tmp_path: Path, trunk: LimitedTrunk, examples: Examples, networks: list[ValueNetwork]
) -> None:
    networks[-1].save(tmp_path / "network.npz")
    again = ValueNetwork.load(tmp_path / "network.npz")
    assert huber(again, trunk, examples) == huber(networks[-1], trunk, examples)
    assert again.unit == networks[-1].unit == 1 / GAME.tree.game.scale
