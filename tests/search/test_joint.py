"""Several threads that iterate on one tree, against one that does it alone."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.search import joint
from obscuro.search.joint import JointSolver
from obscuro.search.search import Search
from obscuro.search.solver import iterate
from obscuro.search.sync import OPENED, counted
from obscuro.search.team import Expanders, Team
from obscuro.search.tree import EDGES, INFOSETS, Tree
from tests.search.invariants import check

from .random_game import RandomGame
from .trees import (
    NO_LIMIT,
    copied,
    copied_gadget,
    grow_at_random,
    random_search,
    random_strategies,
)

GAME = RandomGame(3, plies=30)
ROUNDING = 1e-4  # after ten iterations; it is magnified where all regrets are tiny
LATER = 1e-3  # after fifty; see `test_solver.ROUNDING`
WRITTEN = ("strategy", "regret", "cfv", "infoset_reach", "node_reach", "edge_value", "node_new")


@pytest.fixture(autouse=True)
def even_small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 100)


class Pair:
    """One tree twice: one thread iterates on the first, a team on the second."""

    def __init__(self, seed: int, threads: int, *, expansions: int = 400) -> None:
        search = random_search(seed, game=GAME, expansions=expansions)
        random_strategies(search.tree, np.random.default_rng(seed))
        self.alone, self.gadget = copied(search.tree), copied_gadget(search.gadget)
        self.tree, self.their_gadget = search.tree, search.gadget
        self.solver = JointSolver(search.tree, search.spare, search.gadget, threads)
        self.team = Expanders([GAME] * threads, Team(threads), self.solver)
        self.absent, self.their_absent = (np.full(16, -1, np.int64) for _ in range(2))
        self.seed = seed

    def iterate(self, iterations: int, edges: int = NO_LIMIT, own: int = 5) -> tuple[int, int]:
        """Both iterate, and have done as much; returns how much."""
        done = iterate(self.alone, self.gadget, iterations, edges, own, 3, self.absent)
        assert self.solver.iterate(iterations, edges, own, 3, self.their_absent) == done
        return int(done[0]), int(done[1])

    def grow(self, expansions: int, seed: int) -> None:
        for tree in (self.alone, self.tree):
            grow_at_random(tree, GAME, np.random.default_rng(seed), expansions)

    def compare(self, tolerance: float = ROUNDING) -> None:
        self.solver.settle()
        for name in WRITTEN:
            one, other = getattr(self.alone, name), getattr(self.tree, name)
            np.testing.assert_allclose(other, one, 0, tolerance, err_msg=name)
        for name, ours in self.gadget._asdict().items():
            theirs = getattr(self.their_gadget, name)
            np.testing.assert_allclose(theirs, ours, 0, tolerance, err_msg=name)
        assert np.array_equal(self.absent, self.their_absent)


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_iterations_are_those_of_one_thread(seed: int, threads: int) -> None:
    pair = Pair(seed, threads)
    for iterations in (1, 1, 3, 5):
        pair.iterate(iterations)
        pair.compare()
    pair.iterate(30)
    pair.compare(LATER)
    check(pair.tree)
    pair.team.close()


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_on_a_tree_that_grows_too(seed: int, threads: int) -> None:
    pair = Pair(seed, threads, expansions=150)
    for step in range(20):
        pair.iterate(2)
        pair.grow(30, step)
    pair.iterate(1)
    pair.compare(LATER)
    check(pair.tree)
    pair.team.close()


def test_what_selection_reads_is_there_after_every_call(seed: int = 1) -> None:
    pair = Pair(seed, 3)
    for _ in range(5):
        pair.iterate(2)
        for name in ("strategy", "cfv", "infoset_reach"):
            one, other = getattr(pair.alone, name), getattr(pair.tree, name)
            np.testing.assert_allclose(other, one, 0, ROUNDING, err_msg=name)
    pair.team.close()


def test_frozen_infosets_keep_their_strategies() -> None:
    pair = Pair(0, 3)
    for tree in (pair.alone, pair.tree):
        tree.infoset_frozen[1 : tree.counts[INFOSETS] : 2] = 1
    pair.iterate(10)
    pair.compare()
    pair.team.close()


def test_the_limit_of_edges_is_that_of_one_thread() -> None:
    pair = Pair(0, 3)
    once = pair.iterate(1)[1]
    done, edges = pair.iterate(1000, 5 * once)
    assert 5 <= done < 1000 and edges >= 5 * once
    assert pair.iterate(1000, 0)[0] == 1
    pair.compare()
    pair.team.close()


def arrays(tree: Tree) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in tree._asdict().items()}


def test_the_same_number_of_threads_gives_the_same_bits() -> None:
    one, other = Pair(1, 3), Pair(1, 3)
    for pair in (one, other):
        for step in range(12):
            pair.iterate(5)
            pair.grow(25, step)
        pair.solver.settle()
        pair.team.close()
    assert arrays(one.tree) == arrays(other.tree)


def test_shares_are_made_anew_as_the_tree_grows_and_where_they_are_uneven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []
    make = JointSolver._share_out

    def counted(self: JointSolver, threads: int) -> None:
        made.append(int(pair.tree.counts[EDGES]))
        make(self, threads)

    monkeypatch.setattr(JointSolver, "_share_out", counted)
    pair = Pair(1, 2)
    pair.iterate(3)
    pair.grow(10, 0)
    pair.iterate(3)
    assert len(made) == 1  # a tenth is not enough
    pair.grow(200, 1)
    pair.iterate(3)
    assert len(made) == 2
    monkeypatch.setattr(joint, "UNEVEN", 0.0)
    pair.iterate(joint.ITERATIONS_PER_SHARING)
    pair.iterate(1)
    assert len(made) == 3
    pair.team.close()


def test_a_small_tree_is_solved_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 10_000)
    pair = Pair(1, 8)
    assert pair.solver.threads_for(19_999) == 1
    assert pair.solver.threads_for(20_000) == 2
    assert pair.solver.threads_for(10**7) == 8
    pair.iterate(10)
    assert counted(pair.solver.desk, OPENED) == 0  # nobody is asked to help
    pair.team.close()
    for name, array in pair.alone._asdict().items():
        assert np.array_equal(getattr(pair.tree, name), array), name


def test_a_full_tree_is_shared_out_too() -> None:
    search = random_search(2, game=GAME, expansions=0)
    tiny = Search([GAME], search.parameters, 1, seed=2)
    tiny.begin(12345, GAME.roots(4, 6, np.random.default_rng(2)), [])
    solver = JointSolver(tiny.tree, tiny.spare, tiny.gadget, 2)
    team = Expanders([GAME] * 2, Team(2), solver)
    absent = np.zeros(16, np.int64)
    rng = np.random.default_rng(0)
    while True:
        try:
            grow_at_random(tiny.tree, GAME, rng, 32)
        except AssertionError:  # the helper wants all of them attached
            break
        solver.iterate(2, NO_LIMIT, -1, 0, absent)
    solver.iterate(2, NO_LIMIT, -1, 0, absent)
    solver.settle()
    check(tiny.tree)
    team.close()
