"""The steps of a search on one subgame's tree.

The caller makes sure that no other thread changes the tree meanwhile.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from obscuro.machine import usable_cores
from obscuro.search.gadget import new_gadget
from obscuro.search.game import MAX, Expansion, Game
from obscuro.search.joint import JointSolver
from obscuro.search.pace import Clock, Progress
from obscuro.search.parameters import (
    BATCH,
    EXHAUSTED_AFTER,
    LEAVES_PER_PART,
    MAX_ACTIONS,
    NODES_PER_BATCH,
    SLICE_ITERATIONS,
    SearchParameters,
)
from obscuro.search.selection import Batch, exploration, joined_batches, release, select_batch
from obscuro.search.solver import iterate
from obscuro.search.team import Team
from obscuro.search.tree import (
    FULL,
    NODES,
    Tree,
    allocate_tree,
    attach,
    bytes_per_edge,
    find_infoset,
)

NO_INFOSET = -1


class SearchSteps:
    """The trees of one player, and what a search does with the one in use.

    games: one for each thread that may expand leaves. threads: how many work at once; with 1 all
    runs in the caller's thread. hash_bytes: limit for the memory of both trees together. seed: of
    the random numbers.

    tree, gadget: of the present subgame. spare: the tree that the next subgame is built in.
    our_key: our information key; root_key: our key at the roots. random: uint64[1], the state of
    the random numbers. team: the threads. progress: of the present search. last_value: our value
    after the last one, None before the first. nodes_before: of the tree, when the last search began.
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
        self.random = np.empty(1, dtype=np.uint64)
        self.seed = seed
        self.nodes_before = 0
        self._fruitless = 0
        self._last_absent = np.zeros(MAX_ACTIONS, dtype=np.int64)
        self.team = Team(threads)
        self._joint: JointSolver | None = None  # of a search that runs with several threads
        self.forget()
        if threads > 1:  # have the kernels loaded that one thread does not need
            JointSolver(self.tree, self.spare, self.gadget, threads).load()
            release(self.tree, np.zeros(0, dtype=np.int32))

    def forget(self, seed: int | None = None) -> None:
        """Drop the tree and the last value, for a new game or a position that does not follow.

        seed: of the random numbers from here on; None: the same ones begin again.
        """
        if seed is not None:
            self.seed = seed
        none = np.zeros(0, dtype=np.float32)
        self.tree.counts[:] = 0
        self.tree.table[:] = 0
        self.gadget = new_gadget(none, none)
        self.our_key = np.uint64(0)
        self.root_key = np.uint64(0)
        self.last_value: float | None = None
        self.random[0] = self.seed
        self.progress = Progress()

    def prepare(self) -> None:
        """Note where a search begins."""
        self._last_absent = np.full(MAX_ACTIONS, -1, dtype=np.int64)
        self._fruitless = 0
        self.nodes_before = int(self.tree.counts[NODES])
        self.progress.exhausted = False

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

    @property
    def most_batches(self) -> int:
        """How many batches are selected together: more for more threads, but few in a small tree.

        All of them are selected under the same strategies.
        """
        return min(max(1, self.threads // 2), 1 + self.tree.nodes // NODES_PER_BATCH)

    def select_batches(self, most: int, others: bool = False) -> list[Batch]:
        """Select up to `most` batches, all of them under the same strategies.

        others: whether more leaves are in flight, which may come to matter again.
        """
        found: list[Batch] = []
        try:
            while len(found) < most:
                batch = self.select(MAX, self.random)
                if batch is not None:
                    found.append(batch)
                    self._fruitless = 0
                elif not others:
                    self._fruitless += 1
                self.progress.exhausted = self._fruitless >= EXHAUSTED_AFTER
                if batch is None or len(batch.edges) < BATCH:
                    break  # only the solver can open the way to others
        except BaseException:
            self.release(found)
            raise
        return found

    def release(self, batches: Sequence[Batch]) -> None:
        """Take back the marks of selected leaves that will not be expanded."""
        for batch in batches:
            release(self.tree, batch.edges)

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
        """Select, expand and attach leaves: one batch with one thread; returns how many batches.

        All threads expand, each part of the leaves by a game of its own.
        """
        found = self.select_batches(self.most_batches)
        if found:
            self.expand(joined_batches(found))
        return len(found)

    def expand(self, batch: Batch) -> None:
        """Expand selected leaves by all threads, and attach them."""
        try:
            parts, expansions = self.expand_parts(batch.states, batch.keys, LEAVES_PER_PART)
        except BaseException:
            self.release([batch])
            raise
        for part, expansion in zip(parts, expansions, strict=True):
            self.attach(batch.edges[part], batch.nodes[part], expansion)

    def expand_parts(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], size: int
    ) -> tuple[list[slice], list[Expansion]]:
        """Expand states uint64[n, W] with keys uint64[n, 2] by all threads.

        size: the fewest states that a thread takes at a time. Returns the parts and their
        expansions.
        """
        leaves = len(states)
        count = max(1, leaves // size) if self.threads > 1 else 1
        cuts = [leaves * number // count for number in range(count + 1)]
        parts = [slice(*ends) for ends in itertools.pairwise(cuts)]

        def expand(thread: int, number: int) -> Expansion:
            part = parts[number]
            return self.games[thread].expand(states[part], keys[part])

        return parts, self.team.map(expand, count)

    @contextlib.contextmanager
    def solving_jointly(self) -> Iterator[JointSolver]:
        """Iterate in `solve` by all threads that help what this gives."""
        # Threads without a core of their own would only interrupt those that have one.
        threads = min(self.threads, usable_cores())
        self._joint = JointSolver(self.tree, self.spare, self.gadget, threads)
        try:
            yield self._joint
        finally:
            self._joint.settle()
            self._joint = None

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

    def look(self, clock: Clock) -> None:
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
