"""A search's clock: when expanding ends, when solving ends, and where half of the time was."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search import pace as pace_module
from obscuro.search.game import Expansion
from obscuro.search.pace import Clock, Limits, Progress
from obscuro.search.parameters import (
    EDGES_PER_EXPANSION,
    SOLVER_TAIL,
    SearchParameters,
)
from obscuro.search.search import Search

from .random_game import OUR_KEY, RandomGame


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
