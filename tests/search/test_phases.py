"""Tasks that threads share out among them inside compiled code."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from obscuro.kernels import kernel
from obscuro.search.rows import COMPILED
from obscuro.search.shares import PADDING, claim, finish, new_sync, wait_for

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs compiled code")

TASKS, PHASES = 5, 400


@kernel
def add_neighbours(sync, sums, thread):
    """In each phase a task adds up what all tasks had in the phase before."""
    for phase in range(1, PHASES + 1):
        for turn in range(TASKS):
            task = (thread + turn) % TASKS
            if claim(sync, task, phase):
                total = 0
                for other in range(TASKS):
                    total += sums[phase - 1, other] % 1000 + other
                sums[phase, task] += total + task
                finish(sync)
        wait_for(sync, phase * TASKS)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_phase_begins_when_the_last_one_is_done_and_no_task_is_done_twice(threads: int) -> None:
    expected = np.zeros((PHASES + 1, TASKS), dtype=np.int64)
    for phase in range(1, PHASES + 1):
        total = int((expected[phase - 1] % 1000 + np.arange(TASKS)).sum())
        expected[phase] = total + np.arange(TASKS)
    sync = new_sync(TASKS)
    sums = np.zeros_like(expected)
    helpers = [
        threading.Thread(target=add_neighbours, args=(sync, sums, number))
        for number in range(1, threads)
    ]
    for helper in helpers:
        helper.start()
    add_neighbours(sync, sums, 0)
    assert np.array_equal(sums, expected)  # before the helpers have ended
    for helper in helpers:
        helper.join()
    assert np.array_equal(sums, expected)


def test_who_comes_late_finds_nothing_to_do() -> None:
    sync, sums = new_sync(TASKS), np.zeros((PHASES + 1, TASKS), dtype=np.int64)
    add_neighbours(sync, sums, 0)
    before = sums.copy()
    add_neighbours(sync, sums, 3)
    assert np.array_equal(sums, before)
    assert sync[TASKS * PADDING] == TASKS * PHASES
