"""The stages of a search, each timed by itself, in one thread: on made-up trees and on real ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from obscuro.bench.following import Follower
from obscuro.engine.chess_game import ChessGame
from obscuro.evaluation.evaluator import ChildValues
from obscuro.search.gadget import Gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.parameters import SLICE_EDGES, SLICE_ITERATIONS
from obscuro.search.search import MAX_ACTIONS
from obscuro.search.solver import iterate
from obscuro.search.subgame import NewRoots, build_subgame, keep_roots
from obscuro.search.tree import Tree

T = TypeVar("T")
MICRO, MILLI, MEGA = 1e6, 1e3, 1e6
SLICE_SIZE = 4 * SLICE_EDGES  # some whole iterations of the largest trees


class Stopwatch:
    """Times work by the seconds that a core worked for this thread, so that others may work too.

    On an idle machine these are the seconds on the clock; it counts both, of all it has timed.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.worked = 0.0

    def time(self, work: Callable[[], T]) -> tuple[T, float]:
        """Do something, and return what came of it and the seconds of work."""
        begin, before = time.perf_counter(), time.thread_time()
        result = work()
        worked = time.thread_time() - before
        self.seconds += time.perf_counter() - begin
        self.worked += worked
        return result, worked

    @property
    def cpu_share(self) -> float | None:
        """The share of the time in which a core worked; None of no time."""
        return min(1.0, self.worked / self.seconds) if self.seconds else None


@dataclass
class Speed:
    """Slices of solving."""

    ips: list[float] = field(default_factory=list)  # iterations a second, of each slice
    meps: list[float] = field(default_factory=list)  # million edge visits a second
    edges: list[float] = field(default_factory=list)  # visited in an iteration

    def add(self, iterations: int, edges: int, seconds: float) -> None:
        """Note a slice."""
        self.ips.append(iterations / seconds)
        self.meps.append(edges / seconds / MEGA)
        self.edges.append(edges / iterations)


@dataclass
class Growth:
    """Batches of leaves, in a tree that is solved beside."""

    solver: Speed = field(default_factory=Speed)
    select_us: list[float] = field(default_factory=list)  # a leaf
    expand_us: list[float] = field(default_factory=list)  # a leaf's children, evaluation left out
    store_us: list[float] = field(default_factory=list)  # a leaf's children, into the tree
    children: list[float] = field(default_factory=list)  # of a leaf

    @property
    def attach_us(self) -> list[float]:
        """Both: children with what both sides see, their keys, and into the tree."""
        return [a + b for a, b in zip(self.expand_us, self.store_us, strict=True)]


@dataclass
class Building:
    """Building the same next subgame, again and again."""

    nodes: int  # of the tree that it is built from
    carried: int = 0
    keep_ms: list[float] = field(default_factory=list)
    build_ms: list[float] = field(default_factory=list)

    @property
    def subgame_ms(self) -> list[float]:
        """Both."""
        return [a + b for a, b in zip(self.keep_ms, self.build_ms, strict=True)]


def solver_speed(tree: Tree, gadget: Gadget, slices: int, watch: Stopwatch) -> Speed:
    """Solve in slices of at least SLICE_EDGES edge visits; the first one is not timed."""
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
    """An evaluator that has been given its answer before it is asked, so that it takes no time."""

    name = "given"

    def __init__(self, values: ChildValues) -> None:
        self._values = values

    def start(self) -> None:
        """Nothing to start."""

    def evaluate(self, positions: object) -> ChildValues:
        """What was given."""
        return self._values

    def forget(self) -> None:
        """Nothing to forget."""

    def close(self) -> None:
        """Nothing to release."""


def growth(follower: Follower, batches: int, watch: Stopwatch) -> Growth:
    """Solve a slice, select a batch, have it evaluated (not timed), expand it, attach it; so often."""
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
    """Build the next subgame so often, after both sides' moves; nothing of it is kept.

    Without new positions at its root: these take as long as the evaluator makes them. The first time
    is not timed, so that the memory is there, as it is in a game from the second subgame on.
    """
    search, key, depth = follower.search, follower.key, follower.depth
    found = Building(search.tree.nodes)
    freeze = not search.parameters.unfrozen
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
                search.parameters.mixed_prior,
                freeze,
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
