"""Threads that help the one that calls them, and leaves that they expand."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search.game import Expansion
from obscuro.search.joint import JointSolver
from obscuro.search.selection import Batch
from obscuro.search.team import Expanded, Expanders, Team

from .random_game import RandomGame
from .trees import random_search


def test_parts_are_done_in_any_thread_and_returned_in_order() -> None:
    team = Team(3)
    assert team.map(lambda thread, part: (thread < 3, part), 50) == [(True, n) for n in range(50)]
    team.close()


def test_several_threads_are_at_work_at_once() -> None:
    team = Team(3)
    all_here = threading.Barrier(3, timeout=60)
    team.map(lambda thread, part: all_here.wait(), 3)
    assert not all_here.broken
    team.close()


def test_one_thread_works_in_the_calling_one() -> None:
    team, before = Team(1), threading.active_count()
    names = team.map(lambda thread, part: threading.current_thread(), 4)
    assert set(names) == {threading.current_thread()}
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_is_raised_when_all_are_through(threads: int) -> None:
    team = Team(threads)
    running: list[int] = []

    def work(thread: int, part: int) -> int:
        running.append(part)
        try:
            if part == 2:
                raise OSError("part 2")
            return part
        finally:
            running.remove(part)

    with pytest.raises(OSError, match="part 2"):
        team.map(work, 20)
    assert running == []
    assert team.map(lambda thread, part: part, 5) == list(range(5))
    team.close()


def test_threads_end_and_start_again() -> None:
    team, before = Team(4), threading.active_count()
    started = threading.Barrier(4, timeout=60)

    def job(number: int) -> None:
        started.wait()

    for _ in range(2):
        team.start(job, 4)
        started.wait()
        team.close()
        assert threading.active_count() == before


LONG = 60.0  # seconds; no test that passes waits for so long


def solver(threads: int) -> JointSolver:
    """A solver that nobody asks to iterate."""
    search = random_search(1, expansions=0)
    return JointSolver(search.tree, search.spare, search.gadget, threads)


def leaves(first: int, count: int) -> Batch:
    """Leaves with edges from `first` on."""
    edges = np.arange(first, first + count, dtype=np.int32)
    states = np.stack((edges + 7, np.zeros_like(edges)), axis=1).astype(np.uint64)
    return Batch(edges, edges, states, states.copy())


class Gated(RandomGame):
    """Waits until it may begin, and counts the calls that have ended."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.may_begin = threading.Event()
        self.ended = threading.Semaphore(0)
        self.threads: set[int] = set()
        self.fails = False

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        try:
            assert self.may_begin.wait(LONG)
            self.threads.add(threading.get_ident())
            if self.fails:
                raise OSError("the evaluator has died")
            return super().expand(states, keys)
        finally:
            self.ended.release()


def edges_of(expanded: list[Expanded]) -> list[int]:
    return sorted(int(edge) for each in expanded for edge in each.batch.edges)


@pytest.mark.parametrize("threads", [2, 3, 6])
def test_parts_are_expanded_by_the_others_and_taken_back(threads: int) -> None:
    game, team = Gated(9), Team(threads)
    expanders = Expanders([game] * threads, team, solver(threads))
    for first in (0, 16):
        expanders.hand_over(leaves(first, 16))
    assert expanders.leaves == 32
    assert expanders.take() == []
    game.may_begin.set()
    done: list[Expanded] = []
    while expanders.leaves:
        assert game.ended.acquire(timeout=LONG)
        done += expanders.take()
    assert edges_of(done) == list(range(32))
    for batch, expansion in done:
        alone = RandomGame(9).expand(batch.states, batch.keys)
        assert np.array_equal(expansion.states, alone.states)
    assert threading.get_ident() not in game.threads
    assert expanders.close() == ([], [])


def test_closing_ends_what_has_begun_and_hands_back_the_rest() -> None:
    game, team = Gated(9), Team(2)
    expanders = Expanders([game] * 2, team, solver(2))
    begun = threading.Event()
    wait = game.may_begin.wait

    def told(timeout: float | None = None) -> bool:
        begun.set()
        return wait(timeout)

    game.may_begin.wait = told  # type: ignore[method-assign]
    for first in (0, 16, 32):
        expanders.hand_over(leaves(first, 16))
    assert begun.wait(LONG)
    close = team.close

    def let_begin() -> None:
        game.may_begin.set()
        close()

    team.close = let_begin  # type: ignore[method-assign]
    done, left = expanders.close()
    assert edges_of(done) == list(range(16))
    assert sorted(int(edge) for part in left for edge in part.edges) == list(range(16, 48))


def test_an_error_is_raised_and_no_other_part_begun() -> None:
    game, team = Gated(9), Team(2)
    game.fails = True
    game.may_begin.set()
    expanders = Expanders([game] * 2, team, solver(2))
    expanders.hand_over(leaves(0, 64))
    assert game.ended.acquire(timeout=LONG)
    done, left = expanders.close()
    assert done == [] and sum(len(part.edges) for part in left) == 64
    with pytest.raises(OSError, match="evaluator has died"):
        expanders.take()
    with pytest.raises(OSError, match="evaluator has died"):
        expanders.check()
