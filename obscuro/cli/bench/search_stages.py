"""The stages of a search, each timed alone in one thread, on synthetic trees and on real ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from obscuro.cli.bench.following import Follower
from obscuro.engine.chess_game import ChessGame
from obscuro.evaluation.evaluator import ChildValues
from obscuro.search.gadget import Gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.keeping import keep_roots
from obscuro.search.parameters import SLICE_EDGES, SLICE_ITERATIONS
from obscuro.search.solver import iterate
from obscuro.search.steps import MAX_ACTIONS
from obscuro.search.subgame import NewRoots, build_subgame
from obscuro.search.tree import Tree

T = TypeVar("T")
MICRO, MILLI, MEGA = 1e6, 1e3, 1e6
SLICE_SIZE = 4 * SLICE_EDGES  # some whole iterations of the largest trees


class Stopwatch:
    """Times work in CPU seconds of this thread, so that other programs hardly matter.

    On an idle machine these equal the seconds on the clock. The stopwatch sums up both.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.worked = 0.0

    def time(self, work: Callable[[], T]) -> tuple[T, float]:
        """Call `work`; return its result and its CPU seconds."""
        begin, before = time.perf_counter(), time.thread_time()
        result = work()
        worked = time.thread_time() - before
        self.seconds += time.perf_counter() - begin
        self.worked += worked
        return result, worked

    @property
    def cpu_share(self) -> float | None:
        """The CPU seconds as a share of the seconds on the clock; None before the first timing."""
        return min(1.0, self.worked / self.seconds) if self.seconds else None


@dataclass
class Speed:
    """The solver's speed in each timed slice."""

    ips: list[float] = field(default_factory=list)  # iterations a second
    meps: list[float] = field(default_factory=list)  # million edge visits a second
    edges: list[float] = field(default_factory=list)  # edge visits in an iteration

    def add(self, iterations: int, edges: int, seconds: float) -> None:
        """Add a slice."""
        self.ips.append(iterations / seconds)
        self.meps.append(edges / seconds / MEGA)
        self.edges.append(edges / iterations)


@dataclass
class Growth:
    """The times of each batch of leaves, while the solver runs between batches."""

    solver: Speed = field(default_factory=Speed)
    select_us: list[float] = field(default_factory=list)  # to select a leaf
    expand_us: list[float] = field(default_factory=list)  # to make a leaf's children, unevaluated
    store_us: list[float] = field(default_factory=list)  # to store a leaf's children in the tree
    children: list[float] = field(default_factory=list)  # mean number of children of a leaf

    @property
    def attach_us(self) -> list[float]:
        """Microseconds to expand a leaf and to store its children."""
        return [a + b for a, b in zip(self.expand_us, self.store_us, strict=True)]


@dataclass
class Building:
    """The times of repeatedly building the same next subgame."""

    nodes: int  # of the tree before
    carried: int = 0  # of these, nodes in the new tree
    keep_ms: list[float] = field(default_factory=list)
    build_ms: list[float] = field(default_factory=list)

    @property
    def subgame_ms(self) -> list[float]:
        """Milliseconds to choose the nodes to keep and to build the subgame."""
        return [a + b for a, b in zip(self.keep_ms, self.build_ms, strict=True)]


def solver_speed(tree: Tree, gadget: Gadget, slices: int, watch: Stopwatch) -> Speed:
    """Solve in slices of at least SLICE_SIZE edge visits; the first slice is not timed."""
    speed = Speed()
    absent = np.zeros(MAX_ACTIONS, dtype=np.int64)

    def work() -> tuple[int, int]:
        done, edges = iterate(tree, gadget, SLICE_ITERATIONS, SLICE_SIZE, -1, 0, absent)
        return int(done), int(edges)

    work()
    for _ in range(slices):
        (iterations, edges), seconds = watch.time(work)
        speed.add(iterations, edges, seconds)
    return speed


class Given:
    """An evaluator that returns prepared values, so that it takes no time."""

    name = "given"

    def __init__(self, values: ChildValues) -> None:
        self._values = values

    def start(self) -> None:
        """Do nothing."""

    def evaluate(self, positions: object) -> ChildValues:
        """Return the prepared values."""
        return self._values

    def forget(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def growth(follower: Follower, batches: int, watch: Stopwatch) -> Growth:
    """Grow the search's tree by `batches` batches and time each stage.

    For each batch: solve a slice, select leaves, evaluate them (not timed), expand and attach them.
    """
    search, found = follower.search, Growth()
    game: ChessGame = follower.games[0]
    evaluator = game.evaluator
    random = np.array([1], dtype=np.uint64)
    explorer = MAX
    for _ in range(batches):
        before = search.progress.iterations
        edges, seconds = watch.time(partial(search.solve, SLICE_EDGES))
        found.solver.add(search.progress.iterations - before, edges, seconds)
        batch, seconds = watch.time(partial(search.select, explorer, random))
        explorer = MAX + MIN - explorer
        if batch is None:
            continue
        leaves = len(batch.edges)
        found.select_us.append(seconds / leaves * MICRO)
        positions = np.ascontiguousarray(batch.states[:, :-1])
        game.evaluator = Given(evaluator.evaluate(positions))
        try:
            expansion, seconds = watch.time(partial(game.expand, batch.states, batch.keys))
        finally:
            game.evaluator = evaluator
        found.expand_us.append(seconds / leaves * MICRO)
        found.children.append(len(expansion.values) / leaves)
        _, seconds = watch.time(partial(search.attach, batch.edges, batch.nodes, expansion))
        found.store_us.append(seconds / leaves * MICRO)
    return found


def building(follower: Follower, times: int, watch: Stopwatch) -> Building:
    """Build the next subgame `times` times after both sides' moves, and discard it each time.

    The subgame gets no new positions at its root, as their time depends on the evaluator. The first
    build is not timed: it allocates memory, which a game's later subgames find allocated.
    """
    search, key, depth = follower.search, follower.key, follower.depth
    found = Building(search.tree.nodes)
    for number in range(times + 1):
        kept, seconds = watch.time(partial(keep_roots, search.tree, search.gadget, key, depth))
        if not len(kept.edges):
            return found
        keeping = seconds
        _, seconds = watch.time(
            partial(
                build_subgame,
                search.tree,
                search.spare,
                kept,
                _nothing_new(search.tree),
                key,
                search.parameters,
            )
        )
        if number:
            found.keep_ms.append(keeping * MILLI)
            found.build_ms.append(seconds * MILLI)
    found.carried = search.spare.nodes
    return found


def _nothing_new(tree: Tree) -> NewRoots:
    none = np.zeros(0, dtype=np.float32)
    words = tree.edge_state.shape[1]
    return NewRoots(
        np.zeros(1, dtype=np.int64),
        np.zeros((0, words), dtype=np.uint64),
        np.zeros((0, 2), dtype=np.uint64),
        none,
        none,
        none,
    )
