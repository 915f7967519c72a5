"""How many leaves solving pays for."""

from __future__ import annotations

import pytest

from obscuro.search.parameters import BATCH, LEAST_SOLVING, SearchParameters
from obscuro.search.search import Balance

PRICE = SearchParameters(iterations_per_expansion=4, edges_per_expansion=1000)


def test_leaves_are_paid_by_iterations_or_edges_whichever_is_more() -> None:
    balance = Balance(PRICE, 3, BATCH)
    balance.selected(1)
    assert balance.leaves == 0
    balance.solved(8, 100, BATCH)
    assert balance.leaves == 2
    balance.solved(1, 5000, BATCH)
    assert balance.leaves == 7


def test_a_solver_that_is_ahead_does_not_save_up() -> None:
    balance = Balance(PRICE, 3, 2 * BATCH)
    balance.solved(10**6, 10**9, 2 * BATCH)
    assert balance.leaves == 2 * BATCH
    balance.selected(2)
    balance.selected(1)
    assert balance.leaves == 0
    balance.solved(4 * BATCH, 0, 2 * BATCH)
    assert balance.leaves == 0  # it pays its debt first


@pytest.mark.parametrize(("threads", "share"), [(2, LEAST_SOLVING), (3, 1.0), (8, 1.0)])
def test_two_threads_pay_less(threads: int, share: float) -> None:
    balance = Balance(PRICE, threads, 0)
    balance.solved(40, 0, 10**6)
    assert balance.leaves == 10 / share
