"""The steps of a search on one subgame's tree, and the loop that takes them by the clock.

A search is a series of turns. In each the calling thread selects leaves. The other threads expand
them, while the calling one iterates on the tree, for a fixed measure of work. Whoever is done first
helps with the rest, and the new leaves are attached at the end of the turn. So a search with
several threads is that with one, and faster. Two threads that do different work side by side are a
fifth faster on two halves of one core than two that do the same. Whoever works on the tree finds it
at rest: nobody else changes it meanwhile.
"""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.search.gadget import new_gadget
from obscuro.search.game import MAX, Expansion, Game
from obscuro.search.growth import attach
from obscuro.search.joint import JointSolver
from obscuro.search.pace import Clock, Limits
from obscuro.search.parameters import (
    BATCH,
    EXHAUSTED_AFTER,
    LEAVES_PER_PART,
    NODES_PER_BATCH,
    SLICE_EDGES,
    SLICE_ITERATIONS,
    SearchParameters,
)
from obscuro.search.progress import Progress
from obscuro.search.selection import Batch, exploration, release, select_batch
from obscuro.search.solver import iterate
from obscuro.search.team import Team
from obscuro.search.tree import (
    FULL,
    NODES,
    Tree,
    allocate_tree,
    bytes_per_edge,
    find_infoset,
)

NO_INFOSET = -1
MAX_ACTIONS = 1024  # of one infoset, for the scratch array of stable actions


class Selected(NamedTuple):
    """Leaves that are being expanded.

    batches: how many were selected together. batch: their leaves. parts: of the batch. finish:
    helps, and returns the parts' expansions.
    """

    batches: int
    batch: Batch
    parts: list[slice]
    finish: Callable[[], list[Expansion]]


class SearchSteps:
    """The trees of one player, and what a search does with the one in use.

    The arguments and attributes are those of `obscuro.search.search.Search`. random: uint64[1], the
    state of its random numbers. our_key: our information key; root_key: our key at the roots.
    nodes_before: of the tree, when the last search began.
    """

    def __init__(
        self,
        games: Sequence[Game],
        parameters: SearchParameters,
        hash_bytes: int,
        threads: int = 1,
        seed: int = 1,
    ) -> None:
        self.games = list(games)
        self.parameters = parameters
        self.threads = threads
        words = self.games[0].state_words
        edges = max(4096, int(hash_bytes / 2 / bytes_per_edge(words)))
        edges = min(edges, 2**31 - 1)
        self.tree: Tree = allocate_tree(edges, words)
        self.spare: Tree = allocate_tree(edges, words)
        self.state_words = words
        self.position_words = self.games[0].position_words
        self.seed = seed
        self._team = Team(threads)
        self._joint: JointSolver | None = None  # of a search that runs with several threads
        self.random = np.array([seed], dtype=np.uint64)
        self._fruitless = 0
        self._last_absent = np.zeros(MAX_ACTIONS, dtype=np.int64)
        self.nodes_before = 0
        self.last_value: float | None = None
        none = np.zeros(0, dtype=np.float32)
        self.gadget = new_gadget(none, none)
        self.our_key = np.uint64(0)
        self.root_key = np.uint64(0)
        self.progress = Progress()
        if threads > 1:
            JointSolver(self.tree, self.spare, self.gadget, self._team).load()

    def run(
        self,
        limits: Limits,
        stop: threading.Event,
        report: Callable[[Progress], None] | None = None,
        interval: float = 0.5,
    ) -> Progress:
        """Search until a limit is reached or `stop` is set, for at least one iteration.

        report: called in the calling thread, after the first slice and every `interval` seconds.
        Raises an exception of a game's `expand`; the tree stays intact.
        """
        self._last_absent = np.full(MAX_ACTIONS, -1, dtype=np.int64)
        self._fruitless = 0
        self.nodes_before = int(self.tree.counts[NODES])
        self.progress.exhausted = False
        clock = Clock(self.progress, limits, stop, self.parameters.edges_per_expansion)
        next_report = time.monotonic()
        selected: Selected | None = None
        try:
            if self.threads > 1:
                self._joint = JointSolver(self.tree, self.spare, self.gadget, self._team)
            while True:
                if not clock.expanding_over():
                    # The last turn's leaves are NEW until an iteration has passed them.
                    self.solve(SLICE_EDGES, self.parameters.iterations_per_expansion)
                    selected = self.begin_expanding()
                batches = 1 if selected is None else selected.batches
                for _ in self._solve_turn(clock, batches):
                    if report is not None and time.monotonic() >= next_report:
                        next_report = time.monotonic() + interval
                        report(self.summary(clock))
                    if clock.due():
                        self._look(clock)
                if selected is not None:
                    done, selected = selected, None
                    self.finish_expanding(done)
                if clock.over():
                    break
        finally:
            if selected is not None:
                release(self.tree, selected.batch.edges)
            self._team.close()
            if self._joint is not None:
                self._joint.settle()
                self._joint = None
        self.last_value = self.summary(clock).value
        return self.progress

    # -- the steps: `run` takes them by the clock, others one by one ---------------------------

    def select(self, explorer: int, random: npt.NDArray[np.uint64]) -> Batch | None:
        """Select up to BATCH leaves to expand, and mark them as in flight; None if there is none.

        explorer: MAX or MIN, the player that explores. random: uint64[1], the state of its random
        numbers, which advances. No other thread may change the tree meanwhile.
        """
        edges = np.empty(BATCH, dtype=np.int32)
        nodes = np.empty(BATCH, dtype=np.int32)
        states = np.empty((BATCH, self.state_words), dtype=np.uint64)
        keys = np.empty((BATCH, 2), dtype=np.uint64)
        found = select_batch(
            self.tree,
            explorer,
            exploration(self.parameters),
            random,
            edges,
            nodes,
            states,
            keys,
        )
        if not found:
            return None
        return Batch(edges[:found], nodes[:found], states[:found], keys[:found])

    def attach(
        self,
        edges: npt.NDArray[np.int32],
        nodes: npt.NDArray[np.int32],
        expansion: Expansion,
    ) -> None:
        """Attach the expansions of leaves; no other thread may select meanwhile.

        edges, nodes: int32[B], the leaves and the nodes above them; expansion: theirs, in that
        order.
        """
        progress = self.progress
        before = self.tree.nodes
        attached, depth = attach(
            self.tree, self.root_key, not self.parameters.unfrozen, edges, nodes, expansion
        )
        progress.nodes += self.tree.nodes - before
        progress.full = bool(self.tree.counts[FULL])
        if attached:
            total = progress.depth * progress.expansions + depth
            progress.expansions += int(attached)
            progress.depth = total / progress.expansions
            newest = int(self.tree.counts[NODES])
            deepest = int(self.tree.node_depth[newest - int(attached) : newest].max())
            progress.seldepth = max(progress.seldepth, deepest + 1)

    def expand_once(self) -> int:
        """Select, expand and attach leaves: one batch with one thread; returns how many batches."""
        selected = self.begin_expanding()
        return 0 if selected is None else self.finish_expanding(selected)

    def begin_expanding(self) -> Selected | None:
        """Select leaves and have the other threads expand them; None if there is no leaf.

        Each thread has a part of the leaves at a time, and a game of its own.
        """
        found: list[Batch] = []
        try:
            self._select_batches(found)
            if not found:
                return None
            batch = Batch(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))
            parts, finish = self._begin_parts(batch.states, batch.keys, LEAVES_PER_PART)
        except BaseException:
            for each in found:
                release(self.tree, each.edges)
            raise
        return Selected(len(found), batch, parts, finish)

    def finish_expanding(self, selected: Selected) -> int:
        """Help with what is left of a selection, and attach it; returns how many batches it was."""
        batch = selected.batch
        try:
            expansions = selected.finish()
        except BaseException:
            release(self.tree, batch.edges)
            raise
        for part, expansion in zip(selected.parts, expansions, strict=True):
            self.attach(batch.edges[part], batch.nodes[part], expansion)
        return selected.batches

    def expand_parts(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], size: int
    ) -> tuple[list[slice], list[Expansion]]:
        """Expand states uint64[n, W] with keys uint64[n, 2] by all threads.

        size: a thread takes at least so many states at a time. Returns the parts and their
        expansions.
        """
        parts, finish = self._begin_parts(states, keys, size)
        return parts, finish()

    def solve(self, max_edges: int, max_iterations: int = SLICE_ITERATIONS) -> int:
        """Iterate until about `max_edges` edges are visited, at least once; returns the visits."""
        own = int(find_infoset(self.tree, self.our_key))
        number, absent = self.progress.iterations, self._last_absent
        if self._joint is not None:
            done = self._joint.iterate(max_iterations, max_edges, own, number, absent)
        else:
            done = iterate(self.tree, self.gadget, max_iterations, max_edges, own, number, absent)
        iterations, edges = map(int, done)
        self.progress.iterations += iterations
        return edges

    def summary(self, clock: Clock) -> Progress:
        """The progress, with the present strategy at our infoset."""
        tree, progress = self.tree, self.progress
        progress.infosets = tree.infosets
        progress.resolve = bool(self.gadget.p_max[0] > 0)
        own = int(find_infoset(tree, self.our_key))
        if own != NO_INFOSET:
            first, count = int(tree.infoset_first[own]), int(tree.infoset_actions[own])
            progress.policy = tree.strategy[first : first + count].copy()
            progress.stable = self._last_absent[:count] < clock.iteration_at_half()
        progress.value = self._value(own)
        return progress

    # -- inside --------------------------------------------------------------------------------

    def _begin_parts(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], size: int
    ) -> tuple[list[slice], Callable[[], list[Expansion]]]:
        """See `expand_parts`; the calling thread has nothing to do yet."""
        leaves = len(states)
        count = max(1, leaves // size) if self.threads > 1 else 1
        cuts = [leaves * number // count for number in range(count + 1)]
        parts = [slice(*ends) for ends in itertools.pairwise(cuts)]

        def expand(thread: int, number: int) -> Expansion:
            part = parts[number]
            return self.games[thread].expand(states[part], keys[part])

        return parts, self._team.begin(expand, count)

    def _select_batches(self, found: list[Batch]) -> None:
        """Select what is expanded at once: more batches for more threads, but few in a small tree.

        All of them are selected under the same strategies. found: gets them.
        """
        most = min(max(1, self.threads // 2), 1 + self.tree.nodes // NODES_PER_BATCH)
        while len(found) < most:
            batch = self.select(MAX, self.random)
            self._fruitless = 0 if batch is not None else self._fruitless + 1
            self.progress.exhausted = self._fruitless >= EXHAUSTED_AFTER
            if batch is not None:
                found.append(batch)
            if batch is None or len(batch.edges) < BATCH:
                return  # only the solver can open the way to others

    def _solve_turn(self, clock: Clock, batches: int) -> Iterator[None]:
        """Solve for as long as so many batches of leaves are worth; yields after each slice."""
        leaves = batches * BATCH
        edges = leaves * self.parameters.edges_per_expansion
        end = self.progress.iterations + leaves * self.parameters.iterations_per_expansion
        while edges > 0 and self.progress.iterations < end:
            clock.start_slice()
            visited = self.solve(
                min(edges, self.threads * SLICE_EDGES), end - self.progress.iterations
            )
            clock.end_slice(visited)
            edges -= visited
            yield
            if clock.over():
                break

    def _look(self, clock: Clock) -> None:
        """Show the clock the strategy at our infoset."""
        own = int(find_infoset(self.tree, self.our_key))
        if own != NO_INFOSET:
            first, count = int(self.tree.infoset_first[own]), int(self.tree.infoset_actions[own])
            strategy = self.tree.strategy[first : first + count]
            top = int(np.argmax(strategy))
            clock.look(top, float(strategy[top]), self._value(own))

    def _value(self, own: int) -> float:
        """▲'s value at our infoset, or if ▼ does not play there, at the roots by their prior."""
        tree = self.tree
        if own != NO_INFOSET and tree.infoset_reach[own] > 0:
            first, count = int(tree.infoset_first[own]), int(tree.infoset_actions[own])
            values = tree.cfv[first : first + count] / tree.infoset_reach[own]
            value = float(np.dot(tree.strategy[first : first + count], values))
        else:
            value = float(np.dot(self.gadget.prior, self.gadget.value))
        return min(1.0, max(-1.0, value))
