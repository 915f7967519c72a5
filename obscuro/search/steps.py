"""The steps of a search on one subgame's tree, and the loop that takes them by the clock.

With one thread, solving and expanding take turns by a fixed measure of work, so that the same seed
gives the same result. With more, the calling thread solves; it alone changes the tree's structure.
Each other thread selects leaves, evaluates them, and hands the expansions over. A lock is held for
the short time of selecting and attaching.
"""

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from obscuro.search.expanders import Batch, Expanders, Operations
from obscuro.search.gadget import new_gadget
from obscuro.search.game import MAX, Expansion, Game
from obscuro.search.growth import attach
from obscuro.search.pace import Clock, Limits
from obscuro.search.parameters import (
    BATCH,
    EXHAUSTED_AFTER,
    SLICE_EDGES,
    SLICE_ITERATIONS,
    SearchParameters,
)
from obscuro.search.progress import Progress
from obscuro.search.selection import exploration, release, select_batch
from obscuro.search.solver import iterate
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
        self.turns = 0  # searches with several threads, for their random numbers
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
        turn = (
            self.parameters.edges_per_expansion * BATCH,
            self.parameters.iterations_per_expansion * BATCH,
        )
        clock = Clock(self.progress, limits, stop)
        expanders = self._start_expanders(clock) if self.threads > 1 else None
        next_report = time.monotonic()
        try:
            while True:
                if expanders is not None:
                    expanders.attach_finished()
                elif not clock.expanding_over():
                    self.expand_once()
                clock.start_slice()
                clock.end_slice(self.solve(*turn) if expanders is None else self.solve(SLICE_EDGES))
                if report is not None and time.monotonic() >= next_report:
                    next_report = time.monotonic() + interval
                    report(self.summary(clock))
                if clock.due():
                    self._look(clock)
                if clock.over():
                    break
        finally:
            if expanders is not None:
                expanders.finish()
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

    def expand_once(self) -> None:
        """Select, evaluate and attach one batch of leaves, in the calling thread."""
        batch = self.select(MAX, self.random)
        self._fruitless = 0 if batch is not None else self._fruitless + 1
        self.progress.exhausted = self._fruitless >= EXHAUSTED_AFTER
        if batch is None:
            return
        try:
            expansion = self.games[0].expand(batch.states, batch.keys)
        except BaseException:
            self._release(batch)
            raise
        self.attach(batch.edges, batch.nodes, expansion)

    def solve(self, max_edges: int, max_iterations: int = SLICE_ITERATIONS) -> int:
        """Iterate until about `max_edges` edges are visited, at least once; returns the visits."""
        own = int(find_infoset(self.tree, self.our_key))
        iterations, edges = iterate(
            self.tree,
            self.gadget,
            max_iterations,
            max_edges,
            own,
            self.progress.iterations,
            self._last_absent,
        )
        self.progress.iterations += int(iterations)
        return int(edges)

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

    def _release(self, batch: Batch) -> None:
        release(self.tree, batch.edges)

    def _start_expanders(self, clock: Clock) -> Expanders:
        def exhausted(state: bool) -> None:
            self.progress.exhausted = state

        self.turns += 1
        operations = Operations(
            select=self.select,
            release=self._release,
            attach=lambda batch, expansion: self.attach(batch.edges, batch.nodes, expansion),
            over=clock.expanding_over,
            exhausted=exhausted,
        )
        return Expanders(self.games, operations, [self.seed, self.turns])

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
