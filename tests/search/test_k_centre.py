"""The k-centre problem on a line, beside trying all choices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search.k_centre import k_centres, nearest


def radius(values: NDArray[np.float64], centres: NDArray[np.int64] | tuple[int, ...]) -> float:
    """The largest distance to the nearest centre."""
    gaps = np.abs(values[:, np.newaxis] - values[list(centres)][np.newaxis, :])
    return float(gaps.min(axis=1).max())


def instances() -> list[NDArray[np.float64]]:
    """Two hundred lines of up to twelve numbers, some with equal ones."""
    rng = np.random.default_rng(5)
    lines = []
    for number in range(200):
        values = rng.normal(size=rng.integers(1, 13))
        lines.append(np.round(values, 1) if number % 2 else values)
    return lines


def test_no_choice_is_nearer_to_all() -> None:
    for values in instances():
        for count in range(1, len(values) + 1):
            found = k_centres(values, count)
            assert len(set(found.tolist())) == len(found) <= count
            best = min(radius(values, some) for some in combinations(range(len(values)), count))
            assert radius(values, found) == pytest.approx(best, abs=1e-12)


def test_of_equal_numbers_the_first_is_a_centre() -> None:
    assert k_centres(np.array([2.0, 1.0, 2.0, 1.0]), 2).tolist() == [0, 1]
    assert k_centres(np.array([3.0, 3.0, 3.0]), 3).tolist() == [0]


def test_hundreds_of_numbers_need_no_patience() -> None:
    values = np.sort(np.random.default_rng(1).normal(size=600))
    found = k_centres(values, 3)
    assert len(found) == 3
    assert radius(values, found) <= (values[-1] - values[0]) / 2


def test_nearest_centre_of_each_number() -> None:
    values = np.array([0.0, 1.0, 2.0, 10.0])
    assert nearest(values, np.array([3, 0])).tolist() == [0, 0, 0, 3]


def test_nearest_is_the_nearest() -> None:
    rng = np.random.default_rng(3)
    for values in instances():
        centres = rng.permutation(len(values))[: rng.integers(1, len(values) + 1)].astype(np.int64)
        gaps = np.abs(values[:, np.newaxis] - values[centres][np.newaxis, :])
        found = nearest(values, centres)
        assert set(found.tolist()) <= set(centres.tolist())
        assert np.abs(values - values[found]) == pytest.approx(gaps.min(axis=1), abs=1e-12)
