"""How threads share out the tasks of a phase, and what a desk offers them."""

from __future__ import annotations

import threading
import time
from collections import Counter

import numpy as np
import pytest

from obscuro.kernels import kernel
from obscuro.search.sync import (
    CHANGES,
    ENDED,
    GUESTS,
    NO_PART,
    OFFERED,
    OPENED,
    PADDING,
    TIRED,
    claim,
    close_phases,
    count,
    counted,
    enter,
    finish,
    leave,
    new_desk,
    new_sync,
    take_part,
    wait_as_guest,
    wait_for,
    withdraw,
)

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


def test_every_part_is_taken_once() -> None:
    desk, taken = new_desk(), [list[int]() for _ in range(4)]

    def take(numbers: list[int]) -> None:
        while not counted(desk, ENDED) or len(numbers) == 0:
            while (part := take_part(desk)) != NO_PART:
                numbers.append(part)

    guests = [threading.Thread(target=take, args=(numbers,)) for numbers in taken]
    for guest in guests:
        guest.start()
    offered = 0
    while not all(taken) or offered < 1000:
        count(desk, OFFERED, 7)
        offered += 7
    while sum(map(len, taken)) < offered:
        time.sleep(0.001)
    count(desk, ENDED, 1)
    for guest in guests:
        guest.join()
    assert Counter(part for numbers in taken for part in numbers) == Counter(range(offered))


def test_what_is_withdrawn_is_not_given_out() -> None:
    desk = new_desk()
    assert take_part(desk) == NO_PART
    count(desk, OFFERED, 3)
    assert take_part(desk) == 0
    withdraw(desk)
    assert take_part(desk) == NO_PART
    count(desk, OFFERED, 1)
    assert take_part(desk) == 3


def test_a_guest_enters_while_it_is_open_and_there_is_room() -> None:
    desk = new_desk()
    assert not enter(desk, 0, 2)
    count(desk, OPENED, 1)
    assert not enter(desk, 1, 2)  # of another tree
    assert enter(desk, 0, 2) and enter(desk, 0, 2) and not enter(desk, 0, 2)
    leave(desk)
    assert counted(desk, GUESTS) == 1 and enter(desk, 0, 2)
    leave(desk)
    leave(desk)
    close_phases(desk)
    assert not enter(desk, 0, 2) and counted(desk, GUESTS) == 0


def test_a_part_comes_before_the_end_of_a_phase() -> None:
    desk, sync = new_desk(), new_sync(2)
    finish(sync)
    assert wait_as_guest(sync, 1, desk, 5) == NO_PART
    assert wait_as_guest(sync, 2, desk, 5) == TIRED  # one task is not done
    count(desk, OFFERED, 1)
    assert wait_as_guest(sync, 2, desk, 5) == 0


@kernel
def visit(desk, data, visits):
    """Enter again and again, and look whether the data are at rest meanwhile; returns the faults."""
    faults = 0
    while not counted(desk, ENDED):
        if enter(desk, counted(desk, CHANGES), 3):
            before = counted(data, 0)
            for _ in range(50):
                faults += counted(data, 0) != before or counted(data, 1) != before
            visits[0] += 1
            leave(desk)
    return faults


def test_the_host_changes_things_when_no_guest_is_in() -> None:
    desk, data = new_desk(), new_desk()
    visits = [np.zeros(1, dtype=np.int64) for _ in range(3)]
    faults: list[int] = []

    def guest(number: int) -> None:
        faults.append(visit(desk, data, visits[number]))

    guests = [threading.Thread(target=guest, args=(number,)) for number in range(3)]
    for thread in guests:
        thread.start()
    while min(int(each[0]) for each in visits) < 200:
        count(desk, OPENED, 1)
        time.sleep(0)
        close_phases(desk)
        count(data, 0, 1)
        time.sleep(0)
        count(data, 1, 1)
        count(desk, CHANGES, 1)
    count(desk, ENDED, 1)
    for thread in guests:
        thread.join()
    assert faults == [0, 0, 0]
