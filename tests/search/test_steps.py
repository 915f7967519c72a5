"""The turns of a search, with one thread and with several."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search import joint, steps
from obscuro.search.game import Expansion
from obscuro.search.invariants import check
from obscuro.search.parameters import BATCH, EXHAUSTED_AFTER, SearchParameters
from obscuro.search.progress import Progress
from obscuro.search.selection import Batch
from obscuro.search.tree import IN_FLIGHT, NODES, ROOTS

from .random_game import RandomGame
from .test_search import FOREVER, Stopper, contents, go, new_search


class Unreliable(RandomGame):
    """Raises at the n-th call of `expand`."""

    calls = 0

    def __init__(self, seed: int, fails_at: int) -> None:
        super().__init__(seed, plies=30)
        self.fails_at = fails_at

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        self.calls += 1
        if self.calls == self.fails_at:
            raise OSError("the evaluator has died")
        return super().expand(states, keys)


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


@pytest.fixture
def even_small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let several threads iterate on small trees too."""
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 100)


@pytest.mark.usefixtures("even_small_trees")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_search_as_one_thread_does(threads: int, seed: int) -> None:
    few = SearchParameters(edges_per_expansion=250)  # iterations, before rounding piles up
    one = new_search(seed, parameters=few)
    many = new_search(seed, parameters=few, threads=threads)
    for nodes, rounding in ((500, 1e-4), (1000, 1e-2)):
        alone, together = go(one, nodes), go(many, nodes)
        assert together.iterations == alone.iterations
        assert together.expansions == alone.expansions
        assert together.value == pytest.approx(alone.value, abs=rounding)
        assert together.policy == pytest.approx(alone.policy, abs=rounding)
        for name in ("edge_state", "edge_keys", "edge_child", "picks", "infoset_visits"):
            assert np.array_equal(getattr(one.tree, name), getattr(many.tree, name)), name
        for name in ("node_reach", "edge_value", "strategy", "regret", "cfv", "value_mean"):
            ours, theirs = getattr(many.tree, name), getattr(one.tree, name)
            np.testing.assert_allclose(ours, theirs, 0, rounding, err_msg=name)


@pytest.mark.usefixtures("even_small_trees")
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_give_the_same_result_again(threads: int) -> None:
    few = SearchParameters(edges_per_expansion=250)
    one, other = (new_search(threads=threads, parameters=few) for _ in range(2))
    for nodes in (1000, 2000):
        go(one, nodes)
        go(other, nodes)
        assert contents(one.tree) == contents(other.tree)


def test_many_threads_select_several_batches_before_the_solver_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "NODES_PER_BATCH", 1000)
    search = new_search(threads=6)
    go(search, 300)
    assert search.expand_once() == 1  # the tree is small
    go(search, 2000)
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
    go(search, 1000)
    other_works = threading.Event()
    search.games = [Waiting(9, other_works), Telling(9, other_works)]
    assert search.expand_once() == 1
    assert other_works.is_set()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_grow_the_tree_and_end(threads: int) -> None:
    search = new_search(threads=threads)
    before = threading.active_count()
    for nodes in (2000, 4000):
        progress = go(search, nodes)
        check(search.tree)
        assert progress.nodes >= nodes
        assert progress.expansions == search.tree.counts[NODES] - search.tree.counts[ROOTS]
        assert not (search.tree.edge_status == IN_FLIGHT).any()
        assert threading.active_count() == before


def test_threads_say_when_nothing_is_left_to_expand() -> None:
    search = new_search(game=RandomGame(9, plies=2), threads=2)
    assert go(search, 10**9).exhausted
    check(search.tree)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("fails_at", [1, 5])
def test_an_error_of_a_game_is_raised_and_leaves_the_tree_intact(
    threads: int, fails_at: int
) -> None:
    search = new_search(game=Unreliable(9, fails_at), threads=threads)
    before = threading.active_count()
    with pytest.raises(OSError, match="evaluator has died"):
        go(search, 10**9)
    assert threading.active_count() == before
    check(search.tree)
    assert not (search.tree.edge_status == IN_FLIGHT).any()
    assert go(search, search.progress.nodes + 500).nodes >= 500  # it goes on afterwards
    check(search.tree)


@pytest.mark.parametrize("threads", [1, 2])
def test_leaves_that_come_to_matter_are_found(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when for long none did: strategies change."""
    game = Stopper(9, 40)
    search = new_search(game=game, threads=threads)
    select, calls, seen = search.select, 0, set()

    def nothing_at_first(explorer: int, random: NDArray[np.uint64]) -> Batch | None:
        nonlocal calls
        calls += 1
        return None if calls < 2 * EXHAUSTED_AFTER else select(explorer, random)

    def patience(progress: Progress) -> None:
        seen.add(progress.exhausted)
        if progress.iterations > 10**6:
            game.stop.set()

    monkeypatch.setattr(search, "select", nothing_at_first)
    progress = search.run(FOREVER, game.stop, patience, interval=0.0)
    assert progress.expansions == sum(game.calls) >= 40
    assert seen == {True, False} and not progress.exhausted


@pytest.mark.parametrize("threads", [2, 3])
def test_an_error_outside_a_game_leaves_the_tree_intact(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, calls = new_search(threads=threads), 0
    select = search.select

    def fails(explorer: int, random: NDArray[np.uint64]) -> Batch | None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise MemoryError("no room to select")
        return select(explorer, random)

    monkeypatch.setattr(search, "select", fails)
    before = threading.active_count()
    with pytest.raises(MemoryError, match="no room to select"):
        go(search, 10**9)
    assert threading.active_count() == before
    check(search.tree)
    assert not (search.tree.edge_status == IN_FLIGHT).any()
    assert go(search, search.progress.nodes + 100).nodes >= 100
