from __future__ import annotations

import numpy as np
import pytest

from obscuro.search.selection import sample, uniform


def state(seed: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([seed], np.uint64)


def test_uniform_is_in_the_unit_interval_and_even() -> None:
    random = state(1)
    numbers = np.array([uniform(random) for _ in range(20_000)])
    assert (numbers >= 0).all() and (numbers < 1).all()
    counts, _ = np.histogram(numbers, 20, (0, 1))
    assert (np.abs(counts - 1000) < 150).all()  # five standard deviations
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03


def test_same_state_same_numbers() -> None:
    one, same, other = state(7), state(7), state(8)
    numbers = [uniform(one) for _ in range(5)]
    assert numbers == [uniform(same) for _ in range(5)]
    assert numbers != [uniform(other) for _ in range(5)]
    assert one[0] == same[0]


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0, 4.0], [0.0, 0.25, 0.0, 0.75], [1e-6, 3e-6]])
def test_sample_draws_in_proportion_to_any_weights(weights: list[float]) -> None:
    random, draws = state(3), 10_000
    weighted = np.array(weights, np.float32)
    counts = np.bincount([sample(random, weighted) for _ in range(draws)], minlength=len(weights))
    expected = draws * weighted / weighted.sum()
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()


def test_sample_never_draws_what_has_no_weight() -> None:
    random = state(5)
    weights = np.array([0, 1e-30, 0, 1e-30, 0], np.float32)
    assert {sample(random, weights) for _ in range(500)} == {1, 3}


def test_sample_of_nothing_says_so() -> None:
    assert sample(state(1), np.zeros(4, np.float32)) == -1
    assert sample(state(1), np.zeros(0, np.float32)) == -1
