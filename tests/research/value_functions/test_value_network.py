"""A small network: it learns what bottoms are worth, and the trunk gets better by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obscuro.research.value_functions.limited_trunk import (
    LimitedTrunk,
    RegionCfr,
    TrunkExploitability,
)
from obscuro.research.value_functions.random_trunks import (
    DepthLimitedCfr,
    Examples,
    make_examples,
    random_policy,
    zero_values,
)
from obscuro.research.value_functions.value_network import (
    NetworkShape,
    NetworkValues,
    ValueNetwork,
    encoded_states,
    goofspiel,
    gradients,
    losses,
    random_network,
    rate_starts,
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
    return list(train(trunk, learned, NetworkShape(2, 32), epochs=240))


def test_examples_are_one_for_each_public_state(trunk: LimitedTrunk, examples: Examples) -> None:
    assert len(examples.state) == 150 * len(trunk.public)
    assert examples.ranges.shape == examples.values.shape == (len(examples.state), sum(trunk.width))
    assert examples.ranges.min() >= 0.0 and examples.ranges.max() <= 1.0


def test_strategies_of_less_concentration_play_fewer_actions() -> None:
    region = RegionCfr(GAME.tree, (0, GAME.level))
    random = np.random.default_rng(1)
    squares = [
        np.mean([(random_policy(region, GAME, random, each)[:3] ** 2).sum() for _ in range(200)])
        for each in (1.0, 0.3)
    ]
    assert squares[0] == pytest.approx(0.9 * 0.5 + 0.1, abs=0.05)  # a tenth is pure
    assert squares[1] > squares[0] + 0.1


def test_public_states_are_encoded_apart(trunk: LimitedTrunk) -> None:
    encoded = encoded_states(trunk)
    assert len(np.unique(encoded, axis=0)) == len(trunk.public)
    assert set(np.unique(encoded)) == {0.0, 1.0}


def test_learning_lowers_the_loss_on_what_was_not_learned_from(
    trunk: LimitedTrunk, examples: Examples, networks: list[ValueNetwork]
) -> None:
    held = examples.where(np.arange(len(examples.state)) < 45)
    unit = networks[-1].unit
    untrained = random_network(trunk, NetworkShape(2, 32), unit=unit, seed=1)
    first, last, none = (
        losses(network, trunk, held) for network in (networks[0], networks[-1], untrained)
    )
    assert last.huber < first.huber / 5
    assert last.unexplained < 0.1 < none.unexplained


def test_losses_are_those_of_a_loop(
    trunk: LimitedTrunk, examples: Examples, networks: list[ValueNetwork]
) -> None:
    few = examples.where(np.arange(len(examples.state)) < 6)
    found = losses(networks[0], trunk, few)
    huber, absolute, greatest, missed, aimed = [], [], [], 0.0, 0.0
    states, cut = encoded_states(trunk), trunk.width[0]
    scale = GAME.tree.game.scale
    for state, ranges, values in zip(*few, strict=True):
        mine, theirs = ranges[:cut], ranges[cut:]
        plain = [states[state], mine / (mine.sum() or 1.0), theirs / (theirs.sum() or 1.0)]
        output = networks[0].outputs(np.concatenate(plain)[None])[0]
        output = np.concatenate([output[:cut] * theirs.sum(), output[cut:] * mine.sum()])
        errors = [
            abs(float(a) * networks[0].unit - float(b)) * scale
            for a, b in zip(output, values, strict=True)
        ]
        huber += [error**2 / 2 if error < 1 else error - 0.5 for error in errors]
        absolute += errors
        greatest.append(max(errors))
        missed += sum(error**2 for error in errors)
        aimed += sum((float(value) * scale) ** 2 for value in values)
    expected = np.mean(huber), np.mean(absolute), np.mean(greatest), missed / aimed
    assert tuple(found) == pytest.approx(expected, rel=1e-4)


def test_plain_ranges_are_learned_from_as_they_are(trunk: LimitedTrunk, examples: Examples) -> None:
    (network,) = train(trunk, examples, NetworkShape(1, 4), epochs=1, sums=False)
    inputs = np.concatenate([encoded_states(trunk)[examples.state], examples.ranges], axis=1)
    expected = network.outputs(inputs) * network.unit
    np.testing.assert_allclose(
        network.values(trunk, examples.state, examples.ranges), expected, rtol=1e-5
    )
    assert network.unit == pytest.approx(np.sqrt((examples.values**2).mean()), rel=1e-5)


@pytest.mark.parametrize("huber", [False, True])
def test_gradients_are_those_of_small_steps(
    trunk: LimitedTrunk, examples: Examples, huber: bool
) -> None:
    random = np.random.default_rng(1)
    start = random_network(trunk, NetworkShape(2, 5), unit=1.0, seed=1)
    inputs = random.normal(size=(4, len(start.weights[0]))).astype(np.float32)
    aims = random.normal(0.0, 2.0, (4, len(start.biases[-1]))).astype(np.float32)

    def loss(network: ValueNetwork) -> float:
        missed = np.abs(network.outputs(inputs).astype(np.float64) - aims)
        if huber:
            missed = np.sqrt(np.where(missed < 1.0, missed**2, 2 * missed - 1.0))
        return float((missed**2).sum() / 2 / len(inputs))

    assert np.abs(start.outputs(inputs) - aims).max() > 1.0  # some errors are in the linear part
    count = len(start.weights)
    for number, found in enumerate(gradients(start, inputs, aims, huber=huber)):
        for at in ([0] * found.ndim, [-1] * found.ndim):
            sides = []
            for step in (-1e-2, 1e-2):
                arrays = [each.astype(np.float64) for each in (*start.weights, *start.biases)]
                arrays[number][tuple(at)] += step
                moved = start._replace(
                    weights=tuple(arrays[:count]),  # type: ignore[arg-type]
                    biases=tuple(arrays[count:]),  # type: ignore[arg-type]
                )
                sides.append(loss(moved))
            slope = (sides[1] - sides[0]) / 2e-2
            assert float(found[tuple(at)]) == pytest.approx(slope, rel=0.02, abs=2e-3)


def test_training_goes_on_from_a_network(
    trunk: LimitedTrunk, examples: Examples, networks: list[ValueNetwork]
) -> None:
    before = losses(networks[-1], trunk, examples)
    shape = NetworkShape(2, 32)
    (again,) = train(trunk, examples, shape, epochs=1, huber=True, start=networks[-1])
    (fresh,) = train(trunk, examples, shape, epochs=1, huber=True)
    assert losses(again, trunk, examples).huber < losses(fresh, trunk, examples).huber / 3
    assert losses(networks[-1], trunk, examples) == before  # it is not changed itself
    assert again.unit == networks[-1].unit


def test_the_rate_falls_within_any_number_of_epochs() -> None:
    assert rate_starts(100) == {0: 1e-3, 50: 3e-4, 70: 1e-4, 85: 3e-5}
    assert max(rate_starts(1)) <= 1 and rate_starts(1)[0] == 1e-3


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
    assert losses(again, trunk, examples) == losses(networks[-1], trunk, examples)
