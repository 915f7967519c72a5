"""The steps of a search, with one thread and with several."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search import steps
from obscuro.search.game import Expansion
from obscuro.search.parameters import BATCH
from obscuro.search.selection import Batch
from tests.search.invariants import check

from .random_game import RandomGame
from .test_search import new_search


class Waiting(RandomGame):
    """Returns when another thread works."""

    def __init__(self, seed: int, other_works: threading.Event) -> None:
        super().__init__(seed, plies=30)
        self.other_works = other_works

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        assert self.other_works.wait(60), "nobody takes the other leaves"
        return super().expand(states, keys)


class Telling(Waiting):
    """Says that it works."""

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        self.other_works.set()
        return super().expand(states, keys)


def test_many_threads_select_several_batches_before_the_solver_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "NODES_PER_BATCH", 1000)
    search = new_search(threads=6)
    search.solve(10_000)
    assert search.expand_once() == 1  # the tree is small
    while search.tree.nodes < 2000:
        search.solve(10_000)
        search.expand_once()
    select, found = search.select, list[int]()

    def counted(explorer: int, random: NDArray[np.uint64]) -> Batch | None:
        batch = select(explorer, random)
        found.append(0 if batch is None else len(batch.edges))
        return batch

    monkeypatch.setattr(search, "select", counted)
    seen = set()
    for _ in range(10):
        found.clear()
        before = search.progress.expansions
        batches = search.expand_once()
        seen.add(batches)
        assert search.progress.expansions - before == sum(found)
        assert batches == np.count_nonzero(found)
        assert all(size == BATCH for size in found[:-1])
        assert len(found) == 3 or found[-1] < BATCH  # only the solver can open the way to others
        search.solve(10_000)
    assert max(seen) == 3
    check(search.tree)


def test_every_thread_expands_by_its_own_game() -> None:
    search = new_search(threads=2)
    for _ in range(20):
        search.expand_once()
        search.solve(10_000)
    other_works = threading.Event()
    search.games = [Waiting(9, other_works), Telling(9, other_works)]
    assert search.expand_once() == 1
    assert other_works.is_set()
