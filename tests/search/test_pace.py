"""When a search on a clock ends: early, as planned, or later; and where half of its time was."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search import pace as pace_module
from obscuro.search.game import Expansion
from obscuro.search.pace import Clock, Limits, Pace, Progress
from obscuro.search.parameters import (
    EASY_FROM,
    EASY_PROBABILITY,
    EDGES_PER_EXPANSION,
    EXTENSION,
    SOLVER_TAIL,
    UNSETTLED_LOSS,
    SearchParameters,
)
from obscuro.search.search import Search

from .random_game import OUR_KEY, RandomGame

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


class FakeTime:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTime]:
    fake = FakeTime()
    monkeypatch.setattr(pace_module, "time", SimpleNamespace(monotonic=fake.monotonic))
    yield fake


def clock(progress: Progress, **limits: float) -> Clock:
    nodes, deadline = limits.get("nodes"), limits.get("deadline")
    return Clock(progress, Limits(deadline, None if nodes is None else int(nodes)), STOP)


STOP = threading.Event()


def test_expanding_ends_before_the_deadline_and_solving_at_it(seconds: FakeTime) -> None:
    timed = clock(Progress(), deadline=110.0)
    assert not timed.expanding_over() and not timed.over()
    seconds.now = 110 - 10 * SOLVER_TAIL - 0.01
    assert not timed.expanding_over()
    seconds.now = 110 - 10 * SOLVER_TAIL
    assert timed.expanding_over() and not timed.over()
    seconds.now = 110.0
    assert timed.over()


def test_a_flexible_deadline_is_put_off_in_time_and_kept_once_expanding_is_over(
    seconds: FakeTime,
) -> None:
    flexible = Clock(Progress(), Limits(110.0, None, 125.0), STOP)
    seconds.now = 103.0
    assert flexible.due()
    flexible.look(2, 0.5, 0.0)
    assert not flexible.due()
    seconds.now = 108.9
    flexible.look(3, 0.5, 0.0)
    seconds.now = 109.0
    assert not flexible.expanding_over()  # another action has come to the top
    seconds.now = 113.0
    assert flexible.expanding_over()
    flexible.look(4, 0.5, 0.0)  # too late: expanding is over
    assert flexible.expanding_over() and not flexible.over()
    seconds.now = 114.0
    assert flexible.over()


def test_an_easy_move_ends_a_flexible_search_and_no_other(seconds: FakeTime) -> None:
    flexible = Clock(Progress(), Limits(110.0, None, 125.0), STOP)
    fixed = clock(Progress(), deadline=110.0)
    for _ in range(12):
        seconds.now += 0.4
        assert not fixed.due()
        if flexible.due():
            flexible.look(2, 1.0, 0.0)
    assert flexible.expanding_over() and not fixed.expanding_over()


def test_half_of_the_search_is_half_of_what_it_took_in_the_end(seconds: FakeTime) -> None:
    progress = Progress()
    flexible = Clock(progress, Limits(110.0, None, 125.0), STOP)
    for _ in range(28):
        flexible.start_slice()
        seconds.now += 0.5
        progress.iterations += 1
        flexible.end_slice(1)
        if flexible.due():
            flexible.look(progress.iterations % 5, 0.5, 0.0)
    # Put off to 114 and 119.6, half of which is 9.8; a slice takes half a second.
    assert flexible.iteration_at_half() == 19


def test_another_slice_is_begun_only_if_the_slowest_one_would_fit(seconds: FakeTime) -> None:
    timed = clock(Progress(), deadline=110.0)
    timed.start_slice()
    seconds.now += 2
    timed.end_slice(1)
    seconds.now = 107.9
    assert not timed.over()
    seconds.now = 108.1
    assert timed.over()


def test_by_nodes_the_solvers_last_part_is_a_share_of_the_work_done() -> None:
    progress = Progress()
    counted = clock(progress, nodes=1000)
    progress.nodes, progress.expansions = 999, 30
    counted.end_slice(10**9)
    assert not counted.expanding_over() and not counted.over()
    progress.nodes = 1000
    tail = int(SOLVER_TAIL * EDGES_PER_EXPANSION * 30)
    counted.end_slice(tail - 1)
    assert counted.expanding_over() and not counted.over()
    counted.end_slice(1)
    assert counted.over()


def test_by_nodes_an_exhausted_search_ends_unless_a_leaf_is_found_again() -> None:
    progress = Progress(nodes=10, expansions=1, exhausted=True)
    counted = clock(progress, nodes=1000)
    tail = int(SOLVER_TAIL * EDGES_PER_EXPANSION)
    counted.end_slice(tail - 1)
    assert not counted.expanding_over()  # another leaf may matter yet
    assert not counted.over()
    progress.exhausted = False
    counted.end_slice(tail)
    assert not counted.over()
    progress.exhausted = True
    counted.end_slice(tail - 1)
    assert not counted.over()
    counted.end_slice(1)
    assert counted.over()


@pytest.mark.parametrize("by", ["deadline", "nodes"])
def test_half_is_where_half_of_the_limit_was(by: str, seconds: FakeTime) -> None:
    progress = Progress()
    limited = clock(progress, **({"deadline": 110.0} if by == "deadline" else {"nodes": 1000}))
    for step in range(10):  # iterations become slower
        limited.start_slice()
        limited.end_slice(1)
        progress.iterations += 100 - 10 * step
        progress.nodes += 100
        seconds.now += 1
    assert limited.iteration_at_half() == 100 + 90 + 80 + 70 + 60


def test_iterations_end_expanding_and_then_the_search(seconds: FakeTime) -> None:
    progress = Progress()
    counted = Clock(progress, Limits(iterations=1000), threading.Event())
    ends = []
    for _ in range(20):
        counted.start_slice()
        progress.iterations += 50
        counted.end_slice(1)
        seconds.now += 1
        ends.append((counted.expanding_over(), counted.over()))
    assert ends.index((True, False)) == 17  # after 900 iterations
    assert ends.index((True, True)) == 19
    assert counted.iteration_at_half() == 500


def test_half_of_a_search_without_limits_is_half_of_the_time_so_far(seconds: FakeTime) -> None:
    progress = Progress()
    endless = clock(progress)
    for _ in range(7):
        endless.start_slice()
        progress.iterations += 10
        seconds.now += 1
    assert endless.iteration_at_half() == 30


class Watched(RandomGame):
    """Notes the time of every expansion; each takes a while."""

    def __init__(self, seconds: FakeTime) -> None:
        super().__init__(9, plies=30)
        self.seconds = seconds
        self.expanded_at: list[float] = []

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        self.seconds.now += 0.05
        self.expanded_at.append(self.seconds.now)
        return super().expand(states, keys)


def test_expanding_ends_before_solving(seconds: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Watched(seconds)
    search = Search([game], SearchParameters(), 4 << 20)
    search.begin(OUR_KEY, game.roots(4, 5, np.random.default_rng(0)), [])
    solved_at: list[tuple[float, int]] = []
    solve = search.solve

    def slow_solve(*limits: int) -> int:
        edges = solve(*limits)
        seconds.now += 0.01
        solved_at.append((seconds.now, search.tree.nodes))
        return edges

    monkeypatch.setattr(search, "solve", slow_solve)
    search.run(Limits(deadline=110.0), threading.Event())
    assert 108 < game.expanded_at[-1] <= 109.05  # the last tenth is the solver's
    tail = [nodes for when, nodes in solved_at if when > 109.1]
    assert len(tail) > 50 and set(tail) == {search.tree.nodes}
    assert solved_at[-1][0] <= 110
