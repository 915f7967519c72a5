from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.search.choice import purify

POLICY = [0.1, 0.4, 0.2, 0.05, 0.25]
ALL = [True] * 5


def played(
    policy: list[float],
    stable: list[bool],
    *,
    resolve: bool = False,
    max_support: int = 3,
    purification: bool = True,
) -> list[float]:
    found = purify(
        np.array(policy, np.float32), np.array(stable), resolve, max_support, purification
    )
    assert found.dtype == np.float64
    return [float(p) for p in found]


def approx(*expected: float) -> object:
    return pytest.approx(expected, abs=1e-6)


def test_resolve_plays_the_top_action() -> None:
    assert played(POLICY, ALL, resolve=True) == approx(0, 1, 0, 0, 0)


def test_the_best_three_are_mixed_and_the_top_one_takes_the_rest() -> None:
    assert played(POLICY, ALL) == approx(0, 0.55, 0.2, 0, 0.25)


def test_unstable_actions_are_not_played() -> None:
    assert played(POLICY, [True, True, False, True, False]) == approx(0.1, 0.85, 0, 0.05, 0)


def test_the_top_action_need_not_be_stable() -> None:
    assert played(POLICY, [False, False, True, False, False]) == approx(0, 0.8, 0.2, 0, 0)


def test_with_nothing_stable_the_top_action_is_played() -> None:
    assert played(POLICY, [False] * 5) == approx(0, 1, 0, 0, 0)


def test_a_support_of_one_is_pure() -> None:
    assert played(POLICY, ALL, max_support=1) == approx(0, 1, 0, 0, 0)


def test_actions_of_no_probability_do_not_use_up_the_support() -> None:
    assert played([0.7, 0, 0.3, 0], [True] * 4) == approx(0.7, 0, 0.3, 0)


def test_of_equals_the_first_is_played() -> None:
    quarter = [0.25] * 4
    assert played(quarter, [True] * 4, resolve=True) == approx(1, 0, 0, 0)
    assert played(quarter, [True] * 4) == approx(0.5, 0.25, 0.25, 0)


def test_a_single_action() -> None:
    assert played([1.0], [True]) == [1.0]


@pytest.mark.parametrize("resolve", [False, True])
def test_without_purification_all_stable_actions_are_mixed(resolve: bool) -> None:
    stable = [True, True, True, False, True]
    found = played(POLICY, stable, resolve=resolve, purification=False)
    assert found == approx(0.1, 0.45, 0.2, 0, 0.25)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40),
    st.booleans(),
    st.integers(1, 5),
    st.booleans(),
)
def test_what_is_played_is_a_distribution(
    actions: list[tuple[float, bool]], resolve: bool, max_support: int, purification: bool
) -> None:
    weights = np.array([w for w, _ in actions]) + 1e-6
    policy, stable = (weights / weights.sum()).tolist(), [s for _, s in actions]
    found = np.array(
        played(policy, stable, resolve=resolve, max_support=max_support, purification=purification)
    )
    top = int(np.argmax(np.array(policy, np.float32)))
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    assert found[top] >= policy[top] - 1e-6
    if purification:
        assert np.count_nonzero(found) <= (1 if resolve else max_support)
    mixed = found > 0
    mixed[top] = False
    assert np.array(stable)[mixed].all()
    np.testing.assert_allclose(found[mixed], np.array(policy)[mixed], atol=1e-6)
