"""One turn's search: build the subgame, then solve and expand it until a limit, then report.

With one thread, solving and expanding take turns by a fixed measure of work, so that the same seed
gives the same result. With more, the calling thread solves and is the only one that changes the tree's
structure; each other thread selects leaves, has them evaluated, and hands the expansions over. A short
lock covers selecting and attaching.
"""

import collections
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from obscuro.search.gadget import new_gadget
from obscuro.search.game import MAX, MIN, Expansion, Game
from obscuro.search.growth import attach
from obscuro.search.parameters import (
    BATCH,
    EDGES_PER_EXPANSION,
    SLICE_EDGES,
    SLICE_ITERATIONS,
    SOLVER_TAIL,
    STABLE_SINCE,
    SearchParameters,
)
from obscuro.search.selection import release, select_batch
from obscuro.search.solver import iterate
from obscuro.search.subgame import KeptRoots, NewRoots, build_subgame, keep_roots
from obscuro.search.tree import FULL, ROOTS, Tree, allocate_tree, bytes_per_edge, find_infoset

NO_INFOSET = -1
MAX_ACTIONS = 1024  # of one infoset, for the scratch array of stable actions
IDLE_WAIT = 0.002  # seconds an expander waits when it finds no leaf
EXHAUSTED_AFTER = (
    500  # selections in a row that find no leaf: the tree is expanded as far as it matters
)


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends; None means no such limit. Times are `time.monotonic` seconds.

    nodes counts histories added to the tree. With no limit at all only `stop` ends the search.
    """

    start: float
    deadline: float | None = None
    nodes: int | None = None


@dataclass(slots=True)
class Progress:
    """What a search has done so far, in the units of the protocol's info lines."""

    nodes: int = 0  # histories added in this search
    carried: int = 0  # histories kept from the last one
    carried_infosets: int = 0
    sampled: int = 0  # positions added at the root
    infosets: int = 0
    iterations: int = 0
    expansions: int = 0
    depth: float = 0.0  # mean plies from the root to an expansion's children
    seldepth: int = 0
    value: float = 0.0  # ▲'s view, at our infoset
    resolve: bool = False  # Resolve in force (p_max > 0), else Maxmargin
    policy: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    stable: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    full: bool = False


class Search:
    """The trees and the strategy of one player, kept from turn to turn.

    games: one for each expanding thread; with a single one and threads=1 all runs in the caller's
    thread, deterministically. hash_bytes bounds the memory of both trees together.
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
        self._spare: Tree = allocate_tree(edges, words)
        self._words = words
        self._lock = threading.Lock()
        self._seed = seed
        self._turns = 0  # searches with several threads, for their random numbers
        self._random = np.array([seed], dtype=np.uint64)
        self._fruitless = 0
        self._last_absent = np.zeros(MAX_ACTIONS, dtype=np.int64)
        self.last_value: float | None = None
        self.forget()

    def forget(self, seed: int | None = None) -> None:
        """Drop the tree and the last value: a new game, or a position that does not follow.

        seed: of the random numbers from here on; None: start the same ones again.
        """
        if seed is not None:
            self._seed = seed
        none = np.zeros(0, dtype=np.float32)
        self.tree.counts[:] = 0
        self.tree.table[:] = 0
        self._gadget = new_gadget(none, none)
        self._our_key = np.uint64(0)
        self.last_value = None
        self._random[0] = self._seed
        self._turns = 0
        self._kept: KeptRoots | None = None
        self.progress = Progress()

    # -- the subgame ---------------------------------------------------------------------------

    def keep(self, our_key: int, depth: int) -> npt.NDArray[np.uint64]:
        """Choose what the next subgame keeps; returns the states with our key, uint64[n, W].

        our_key: our information key now; depth: plies since the last search's root.
        """
        if self.tree.counts[ROOTS] == 0:
            self._kept = _nothing_kept()
            return np.zeros((0, self._words), dtype=np.uint64)
        self._kept = keep_roots(self.tree, self._gadget, our_key, depth)
        edges = self._kept.edges
        own = edges[self.tree.edge_keys[edges, MAX] == np.uint64(our_key)]
        return np.array(self.tree.edge_state[own])

    def expand_roots(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64]
    ) -> Expansion:
        """Expand states that `begin` will be given as new roots, by the first thread's game."""
        return self.games[0].expand(states, keys)

    def begin(self, our_key: int, new: NewRoots, expansions: Sequence[Expansion]) -> None:
        """Build the subgame from what `keep` chose and the new roots with their expansions.

        expansions: of new.states in their order, in any number of pieces; may be empty (the roots
        are then expanded as the search goes). Needs at least one root in all.
        """
        kept = self._kept if self._kept is not None else _nothing_kept()
        self._kept = None
        freeze = not self.parameters.unfrozen
        gadget = build_subgame(
            self.tree,
            self._spare,
            kept,
            new,
            our_key,
            self.parameters.mixed_prior,
            freeze,
        )
        self.tree, self._spare = self._spare, self.tree
        self._gadget = gadget
        self._our_key = np.uint64(our_key)
        first_new_root = len(kept.offsets) - 1
        carried = self.tree.nodes - len(new.states)
        self.progress = Progress(
            carried=carried, carried_infosets=self.tree.infosets, sampled=len(new.states)
        )
        if len(new.states):
            first_edge = int(self.tree.node_first_edge[first_new_root])
            edges = np.arange(first_edge, first_edge + len(new.states), dtype=np.int32)
            nodes = np.repeat(
                np.arange(first_new_root, first_new_root + len(new.offsets) - 1),
                np.diff(new.offsets),
            ).astype(np.int32)
            done = 0
            for expansion in expansions:
                size = len(expansion.player)
                part = slice(done, done + size)
                self._attach(edges[part], nodes[part], expansion)
                done += size

    # -- the search ----------------------------------------------------------------------------

    def run(
        self,
        limits: Limits,
        stop: threading.Event,
        report: Callable[[Progress], None] | None = None,
        interval: float = 0.5,
    ) -> Progress:
        """Search until a limit is reached or `stop` is set; always at least one iteration.

        report is called every `interval` seconds from the calling thread. An exception of an
        expanding thread's game is raised here, with the tree intact.
        """
        self._fruitless = 0
        self._last_absent = np.full(MAX_ACTIONS, -1, dtype=np.int64)
        clock = _Clock(self, limits, stop)
        workers = self._start_expanders(clock) if self.threads > 1 else None
        next_report = time.monotonic() + interval
        tail_work = 0
        try:
            while True:
                if workers is None:
                    if not clock.expanding_over():
                        self._expand_once()
                    budget = EDGES_PER_EXPANSION * BATCH
                else:
                    workers.attach_finished()
                    budget = SLICE_EDGES
                clock.update()
                work = self._solve(budget)
                clock.note_iterations()
                if clock.expanding_over():
                    tail_work += work
                if report is not None and time.monotonic() >= next_report:
                    next_report += interval
                    report(self._summary(clock))
                if clock.over(tail_work):
                    break
        finally:
            if workers is not None:
                workers.finish()
        if workers is not None and workers.error is not None:
            raise workers.error
        self.progress = self._summary(clock)
        self.last_value = self.progress.value
        return self.progress

    def line(self, moves: int = 8) -> list[int]:
        """Indices of the likeliest actions from our infoset on, for a principal variation."""
        tree = self.tree
        own = int(find_infoset(tree, self._our_key))
        if own == NO_INFOSET:
            return []
        nodes = np.flatnonzero(tree.node_infoset[: tree.counts[0]] == own)
        reach = tree.node_reach[nodes]
        node = int(nodes[int(np.argmax(reach))])
        actions: list[int] = []
        while len(actions) < moves:
            first, count = int(tree.node_first_action[node]), int(tree.node_edges[node])
            action = int(np.argmax(tree.strategy[first : first + count]))
            actions.append(action)
            child = int(tree.edge_child[tree.node_first_edge[node] + action])
            if child < 0:
                break
            node = child
        return actions

    def line_state(self) -> npt.NDArray[np.uint64] | None:
        """The root state from which `line` starts."""
        tree = self.tree
        own = int(find_infoset(tree, self._our_key))
        if own == NO_INFOSET:
            return None
        nodes = np.flatnonzero(tree.node_infoset[: tree.counts[0]] == own)
        node = int(nodes[int(np.argmax(tree.node_reach[nodes]))])
        return np.array(tree.edge_state[tree.node_parent_edge[node]])

    # -- inside --------------------------------------------------------------------------------

    def _attach(
        self,
        edges: npt.NDArray[np.int32],
        nodes: npt.NDArray[np.int32],
        expansion: Expansion,
    ) -> None:
        """Attach; the caller holds the lock if other threads run."""
        before = self.tree.nodes
        attached, depth = attach(
            self.tree, self._our_key, not self.parameters.unfrozen, edges, nodes, expansion
        )
        progress = self.progress
        total = progress.depth * progress.expansions + depth
        progress.expansions += int(attached)
        progress.depth = total / max(progress.expansions, 1)
        progress.nodes += self.tree.nodes - before
        progress.full = bool(self.tree.counts[FULL])
        if attached:
            newest = int(self.tree.counts[0])
            deepest = self.tree.node_depth[newest - int(attached) : newest].max()
            progress.seldepth = max(progress.seldepth, int(deepest) + 1)

    def _select(self, explorer: int, random: npt.NDArray[np.uint64]) -> "_Batch | None":
        """Select leaves to expand; the caller holds the lock if other threads run."""
        edges = np.empty(BATCH, dtype=np.int32)
        nodes = np.empty(BATCH, dtype=np.int32)
        states = np.empty((BATCH, self._words), dtype=np.uint64)
        keys = np.empty((BATCH, 2), dtype=np.uint64)
        found = select_batch(
            self.tree,
            explorer,
            self.parameters.one_sided,
            np.float32(self.parameters.puct_c),
            random,
            edges,
            nodes,
            states,
            keys,
        )
        if not found:
            return None
        return _Batch(edges[:found], nodes[:found], states[:found], keys[:found])

    def _expand_once(self) -> None:
        """Select, evaluate and attach one batch, in the calling thread."""
        if self.tree.counts[FULL]:
            return
        batch = self._select(MAX, self._random)
        if batch is None:
            self._fruitless += 1
            return
        self._fruitless = 0
        try:
            expansion = self.games[0].expand(batch.states, batch.keys)
        except BaseException:
            release(self.tree, batch.edges)
            raise
        self._attach(batch.edges, batch.nodes, expansion)

    def _solve(self, max_edges: int) -> int:
        own = int(find_infoset(self.tree, self._our_key))
        iterations, edges = iterate(
            self.tree,
            self._gadget,
            SLICE_ITERATIONS,
            max_edges,
            own,
            self.progress.iterations,
            self._last_absent,
        )
        self.progress.iterations += int(iterations)
        return int(edges)

    def _start_expanders(self, clock: "_Clock") -> "_Expanders":
        return _Expanders(self, clock)

    def _summary(self, clock: "_Clock") -> Progress:
        """The progress with the strategy as it is now."""
        tree, progress = self.tree, self.progress
        progress.infosets = tree.infosets
        progress.resolve = bool(self._gadget.p_max[0] > 0)
        own = int(find_infoset(tree, self._our_key))
        if own != NO_INFOSET:
            first, count = int(tree.infoset_first[own]), int(tree.infoset_actions[own])
            progress.policy = tree.strategy[first : first + count].copy()
            progress.stable = self._last_absent[:count] < clock.iteration_at_half()
        progress.value = self._value(own)
        return progress

    def _value(self, own: int) -> float:
        """▲'s value at our infoset, or where ▼ does not play to it, at the roots by their prior."""
        tree = self.tree
        if own != NO_INFOSET and tree.infoset_reach[own] > 0:
            first, count = int(tree.infoset_first[own]), int(tree.infoset_actions[own])
            values = tree.cfv[first : first + count] / tree.infoset_reach[own]
            value = float(np.dot(tree.strategy[first : first + count], values))
        else:
            value = float(np.dot(self._gadget.prior, self._gadget.value))
        return min(1.0, max(-1.0, value))


@dataclass(frozen=True, slots=True)
class _Batch:
    """Selected leaves, B of them."""

    edges: npt.NDArray[np.int32]  # [B]
    nodes: npt.NDArray[np.int32]  # [B]
    states: npt.NDArray[np.uint64]  # [B, W]
    keys: npt.NDArray[np.uint64]  # [B, 2]


class _Clock:
    """How far a search is: by time, by nodes, or until it is stopped."""

    def __init__(self, search: Search, limits: Limits, stop: threading.Event) -> None:
        self._search = search
        self._limits = limits
        self._stop = stop
        self._begin = time.monotonic()
        self._history: list[tuple[float, int]] = []  # (progress made, iterations done by then)
        self._solved = 0
        self._slowest = 0.0
        self._last = self._begin
        self._over_at: float | None = None

    def _fraction(self) -> float:
        """Share of the search that is done, 1 = the end; without a limit, the seconds so far."""
        limits = self._limits
        fractions = []
        if limits.deadline is not None:
            span = max(limits.deadline - self._begin, 1e-9)
            fractions.append((time.monotonic() - self._begin) / span)
        if limits.nodes is not None:
            fractions.append(self._search.progress.nodes / max(limits.nodes, 1))
        return max(fractions) if fractions else time.monotonic() - self._begin

    def _limited(self) -> bool:
        return self._limits.deadline is not None or self._limits.nodes is not None

    def update(self) -> None:
        """Note the progress before a slice of solving."""
        self._history.append((self._fraction(), self._search.progress.iterations))
        self._last = time.monotonic()

    def note_iterations(self) -> None:
        """Note how long a slice took, so that the last one ends in time."""
        took = time.monotonic() - self._last
        self._slowest = max(took, 0.9 * self._slowest)

    def iteration_at_half(self) -> int:
        """The number of iterations done when half of the search was over (T½ of Obscuro, C.8)."""
        if not self._history:
            return 0
        half = STABLE_SINCE * (1.0 if self._limited() else self._fraction())
        half = min(half, STABLE_SINCE * self._fraction()) if self._stop.is_set() else half
        done = self._history[0][1]
        for fraction, iterations in self._history:
            if fraction > half:
                break
            done = iterations
        return done

    def _exhausted(self) -> bool:
        return self._search._fruitless >= EXHAUSTED_AFTER

    def expanding_over(self) -> bool:
        """Whether expansions have ended, so that the solver runs on alone."""
        if self._stop.is_set() or self._search.tree.counts[FULL] or self._exhausted():
            return True
        limits = self._limits
        if limits.nodes is not None and self._search.progress.nodes >= limits.nodes:
            return True
        if limits.deadline is not None:
            span = limits.deadline - self._begin
            return time.monotonic() >= limits.deadline - SOLVER_TAIL * span
        return False

    def over(self, tail_work: int) -> bool:
        """Whether the search is to end now. tail_work: edges visited since expansions ended."""
        if self._stop.is_set():
            return True
        limits = self._limits
        now = time.monotonic()
        if limits.deadline is not None and now + self._slowest >= limits.deadline:
            return True
        full = bool(self._search.tree.counts[FULL]) or self._exhausted()
        if limits.nodes is not None and (full or self._search.progress.nodes >= limits.nodes):
            tail = SOLVER_TAIL * EDGES_PER_EXPANSION * self._search.progress.expansions
            return tail_work >= tail
        return False


class _Expanders:
    """The expanding threads of one search."""

    def __init__(self, search: Search, clock: _Clock) -> None:
        self._search = search
        self._clock = clock
        self._finished: collections.deque[tuple[_Batch, Expansion]] = collections.deque()
        self._quit = threading.Event()
        self.error: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._work, args=(game, number), daemon=True)
            for number, game in enumerate(search.games)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self, game: Game, number: int) -> None:
        """Select, evaluate and hand over until the expanding part of the search ends."""
        search = self._search
        state = np.random.SeedSequence([search._seed, search._turns, number]).generate_state(
            1, np.uint64
        )
        random = state.astype(np.uint64)
        explorer = MAX
        while not self._quit.is_set() and not self._clock.expanding_over():
            with search._lock:
                batch = search._select(explorer, random)
            explorer = MAX + MIN - explorer
            if batch is None:
                search._fruitless += 1
                time.sleep(IDLE_WAIT)
                continue
            search._fruitless = 0
            try:
                expansion = game.expand(batch.states, batch.keys)
            except BaseException as error:
                with search._lock:
                    release(search.tree, batch.edges)
                self.error = error
                return
            self._finished.append((batch, expansion))

    def attach_finished(self) -> None:
        """Attach what the threads have handed over; called between two slices of solving."""
        if not self._finished:
            return
        with self._search._lock:
            while self._finished:
                batch, expansion = self._finished.popleft()
                self._search._attach(batch.edges, batch.nodes, expansion)

    def finish(self) -> None:
        """End the threads and take in what they still had."""
        self._quit.set()
        for thread in self._threads:
            thread.join()
        self.attach_finished()
        self._search._turns += 1


def _nothing_kept() -> KeptRoots:
    none = np.zeros(0, dtype=np.float32)
    return KeptRoots(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), none, none, none)
