"""The steps and the loop of a search, with one thread and with several."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.search_game import PARAMETERS, SearchGame
from obscuro.search import joint, steps
from obscuro.search import search as search_loop
from obscuro.search.game import Expansion
from obscuro.search.pace import Limits, Progress
from obscuro.search.parameters import BATCH, EXHAUSTED_AFTER, LEAST_SOLVING, SearchParameters
from obscuro.search.search import Balance, Search
from obscuro.search.selection import Batch
from obscuro.search.team import Expanders, Team
from obscuro.search.tree import ACTIONS, IN_FLIGHT, INFOSETS, NODES, ROOTS
from tests.search.invariants import check
from tests.sizes import quick_among

from .random_game import RandomGame
from .test_search import FOREVER, Stopper, go, new_search

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


class Waiting(RandomGame):
    """Returns when another thread works."""

    def __init__(self, seed: int, other_works: threading.Event) -> None:
        super().__init__(seed, plies=30)
        self.other_works = other_works

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        assert self.other_works.wait(60), "no thread takes the other leaves"
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


LONG = 60.0  # seconds; no test that passes waits for so long


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


class Slow(RandomGame):
    """Returns when the solver has made more iterations, and never works in the first thread."""

    more = 50

    def __init__(self, seed: int) -> None:
        super().__init__(seed, plies=30)
        self.iterations = 0
        self.changed = threading.Condition()

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        assert threading.current_thread() is not threading.main_thread()
        with self.changed:
            enough = self.iterations + self.more
            assert self.changed.wait_for(lambda: self.iterations >= enough, LONG), "it waits for us"
        return super().expand(states, keys)

    def told_by(self, search: Search, solve: Callable[..., int]) -> Callable[..., int]:
        """The step of solving; it tells the game how many iterations there have been."""

        def told(*arguments: int) -> int:
            edges = solve(*arguments)
            with self.changed:
                self.iterations = search.progress.iterations
                self.changed.notify_all()
            return edges

        return told


def fails_and_goes_on(search: Search, error: type[BaseException], match: str, more: int) -> None:
    """Search until it fails; all is in order then, and `more` nodes can be added."""
    before = threading.active_count()
    with pytest.raises(error, match=match):
        go(search, 10**9)
    assert threading.active_count() == before
    check(search.tree)
    assert not (search.tree.edge_status == IN_FLIGHT).any()
    assert go(search, search.progress.nodes + more).nodes >= more
    check(search.tree)


@pytest.fixture
def even_small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let several threads iterate on small trees too."""
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 100)


@pytest.mark.parametrize("threads", [2, 3])
def test_the_solver_does_not_wait_for_expansions(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Slow(9)
    search = new_search(game=game, threads=threads)
    monkeypatch.setattr(search, "solve", game.told_by(search, search.solve))
    progress = go(search, 300)
    assert progress.expansions > 50
    check(search.tree)


@pytest.mark.usefixtures("even_small_trees")
@pytest.mark.parametrize("threads", [2, 3])
def test_leaves_are_selected_and_attached_while_the_tree_is_at_rest(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the solver writes what is compared, and it must have returned."""
    search = new_search(threads=threads)
    written = {"strategy": ACTIONS, "regret": ACTIONS, "cfv": ACTIONS, "infoset_reach": INFOSETS}
    solving = False
    seen = dict.fromkeys(("solve", "select", "attach"), 0)

    def watched(name: str) -> Callable[..., Any]:
        step = getattr(search, name)

        def at_rest(*arguments: Any) -> Any:
            nonlocal solving
            assert not solving and threading.current_thread() is threading.main_thread()
            seen[name] += 1
            solving = name == "solve"
            used = {array: int(search.tree.counts[count]) for array, count in written.items()}
            before = {array: getattr(search.tree, array)[:n].copy() for array, n in used.items()}
            result = step(*arguments)
            if name != "solve":
                for array, old in before.items():
                    now = getattr(search.tree, array)[: used[array]]
                    assert np.array_equal(now, old), array
            solving = False
            return result

        return at_rest

    for name in seen:
        monkeypatch.setattr(search, name, watched(name))
    go(search, 3000)
    assert min(seen.values()) > 10


@pytest.mark.parametrize("threads", quick_among([2, 3], lambda threads: threads == 2))
def test_the_others_always_have_leaves_but_not_too_many(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = new_search(threads=threads)
    most = search_loop.BATCHES_AHEAD * search_loop.BATCH
    handed: list[int] = []
    hand_over = Expanders.hand_over

    def noted(expanders: Expanders, batch: Batch) -> None:
        hand_over(expanders, batch)
        handed.append(expanders.leaves)

    monkeypatch.setattr(Expanders, "hand_over", noted)
    go(search, 5000)
    assert most - search_loop.BATCH < max(handed) <= most


@pytest.mark.parametrize("threads", [2, 3])
def test_a_stop_ends_a_search_though_others_expand(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They end what they have begun, and begin nothing else; the rest is released."""
    closing = threading.Event()
    close = Team.close

    def told(team: Team) -> None:  # called when what has not been begun is withdrawn
        closing.set()
        close(team)

    class Busy(Stopper):
        def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
            expansion = super().expand(states, keys)
            if self.stop.is_set():
                assert closing.wait(LONG), "the search does not end"
            return expansion

    game = Busy(9, 60)
    search = new_search(game=game, threads=threads)
    monkeypatch.setattr(Team, "close", told)
    progress = search.run(FOREVER, game.stop)
    assert closing.is_set() and progress.expansions == sum(game.calls)
    before = int(np.flatnonzero(np.cumsum(game.calls) >= 60)[0])
    assert len(game.calls) - before <= threads - 1
    assert not (search.tree.edge_status == IN_FLIGHT).any()
    check(search.tree)


@pytest.mark.usefixtures("even_small_trees")
@pytest.mark.parametrize(
    ("name", "threads"),
    quick_among(
        product(["kuhn", "goofspiel_increasing"], [1, 2, 3]),
        lambda case: case[0] == "kuhn" or case[1] == 2,
    ),
)
def test_the_value_of_a_solved_game_is_found(name: str, threads: int) -> None:
    known = CATALOG[name]
    tree = enumerate_game(known.make())
    games = [SearchGame(tree, None) for _ in range(threads)]
    search = Search(games, PARAMETERS, 1 << 20, threads)
    search.begin(0, games[0].roots().whole_game(), [])
    progress = search.run(Limits(nodes=10**6), threading.Event())
    assert progress.exhausted
    search.solve(10**12, 2000)
    assert search.gadget.value[0] / games[0].scale == pytest.approx(known.value, abs=0.01)


@pytest.mark.usefixtures("even_small_trees")
@pytest.mark.parametrize("threads", [2, 16])
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
    fails_and_goes_on(search, OSError, "evaluator has died", 500)


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
    fails_and_goes_on(search, MemoryError, "no room to select", 100)
