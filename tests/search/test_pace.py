"""When a search on a clock ends: early, as planned, or later."""

from __future__ import annotations

import threading
import time

import pytest

from obscuro.search.pace import Clock, Limits, Pace, Progress
from obscuro.search.parameters import (
    EASY_FROM,
    EASY_PROBABILITY,
    EXTENSION,
    SOLVER_TAIL,
    UNSETTLED_LOSS,
)

BEGIN, PLANNED, LATEST = 100.0, 10.0, 30.0


def run(strategy, slice_seconds: float = 0.005) -> float:  # type: ignore[no-untyped-def]
    """The seconds that expansions go on for; strategy(seconds) gives (top, probability, value)."""
    pace = Pace(BEGIN, BEGIN + PLANNED, BEGIN + LATEST)
    now, end = BEGIN, BEGIN + PLANNED
    while now < BEGIN + (1 - SOLVER_TAIL) * (end - BEGIN):
        if pace.due(now):
            end = pace.look(now, slice_seconds, *strategy(now - BEGIN))
        now += 0.01
    return now - BEGIN


def test_a_settled_mixture_takes_the_time_planned() -> None:
    assert run(lambda _: (3, 0.6, 0.1)) == pytest.approx((1 - SOLVER_TAIL) * PLANNED, abs=0.02)


def test_an_overwhelming_action_is_played_early_but_not_at_once() -> None:
    took = run(lambda _: (3, 1.0, 0.1))
    assert EASY_FROM * PLANNED <= took <= (EASY_FROM + 0.05) * PLANNED


def test_an_action_that_was_overwhelming_only_of_late_takes_as_long_again() -> None:
    took = run(lambda now: (3, 1.0 if now > 3 else EASY_PROBABILITY - 0.01, 0.1))
    assert took == pytest.approx(6, abs=0.5)


def test_another_overwhelming_action_begins_anew() -> None:
    took = run(lambda now: (3 if now > 2.4 else 2, 1.0, 0.1))
    assert took == pytest.approx(4.8, abs=0.5)


def test_a_new_top_action_near_the_end_gets_more_time() -> None:
    took = run(lambda now: (3 if now > 8.5 else 2, 0.5, 0.1))
    assert took == pytest.approx((1 - SOLVER_TAIL) * EXTENSION * PLANNED, abs=0.02)


def test_a_falling_value_gets_more_time_and_a_rising_one_does_not() -> None:
    fallen = run(lambda now: (3, 0.5, 0.1 if now < 8.5 else 0.1 - UNSETTLED_LOSS))
    risen = run(lambda now: (3, 0.5, 0.1 if now < 8.5 else 0.1 + UNSETTLED_LOSS))
    assert fallen > PLANNED > risen


def test_what_never_settles_ends_in_time() -> None:
    took = run(lambda now: (int(now * 10), 0.5, 0.1))
    assert took == pytest.approx((1 - SOLVER_TAIL) * LATEST, abs=0.02)


def test_with_long_slices_the_decision_comes_before_expanding_ends() -> None:
    took = run(lambda now: (3 if now > 8.0 else 2, 0.5, 0.1), slice_seconds=0.4)
    assert took > PLANNED


@pytest.mark.parametrize("seconds", [None, 3600.0])
def test_nodes_end_a_search_that_has_time_left(seconds: float | None) -> None:
    deadline = None if seconds is None else time.monotonic() + seconds
    progress = Progress(nodes=99, expansions=10)
    clock = Clock(progress, Limits(deadline, nodes=100), threading.Event(), edges_per_expansion=50)

    def solve(edges: int) -> bool:
        clock.start_slice()
        clock.end_slice(edges)
        return clock.over()

    assert not solve(10**9), "not all nodes have been added"
    progress.nodes = 100
    assert not solve(1), "the solver has its part after the last expansion"
    assert solve(int(SOLVER_TAIL * 50 * 10))
