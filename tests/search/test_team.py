"""Threads that help the one that calls them."""

from __future__ import annotations

import threading

import pytest

from obscuro.search.team import Team


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
