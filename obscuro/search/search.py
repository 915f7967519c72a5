"""One turn's search: it builds the subgame, solves and expands it until a limit, and reports.

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
from obscuro.search.keeping import KeptRoots, keep_roots, most_roots, nothing_kept
from obscuro.search.pace import Clock, Limits
from obscuro.search.parameters import (
    BATCH,
    EDGES_PER_EXPANSION,
    EXHAUSTED_AFTER,
    SLICE_EDGES,
    SLICE_ITERATIONS,
    SearchParameters,
)
from obscuro.search.progress import Progress
from obscuro.search.root_share import RootHistories, our_histories
from obscuro.search.selection import exploration, release, select_batch
from obscuro.search.solver import iterate
from obscuro.search.subgame import NewRoots, build_subgame
from obscuro.search.tree import (
    EDGES,
    FULL,
    LEAF,
    NODES,
    OPEN,
    ROOTS,
    Tree,
    allocate_tree,
    bytes_per_edge,
    find_infoset,
)

NO_INFOSET = -1
MAX_ACTIONS = 1024  # of one infoset, for the scratch array of stable actions
TURN_EDGES = EDGES_PER_EXPANSION * BATCH  # edge visits for one batch, where both share a thread


class Search:
    """The trees and the strategy of one player, kept from turn to turn.

    games: one for each expanding thread. With one game and threads=1 all runs in the caller's
    thread, deterministically. hash_bytes: limit for the memory of both trees together.

    tree, gadget: of the present subgame. spare: the tree that the next subgame is built in.
    progress: of the present search. last_value: our value after the last one, None before the
    first.
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
        self._words = words
        self._seed = seed
        self._turns = 0  # searches with several threads, for their random numbers
        self._random = np.array([seed], dtype=np.uint64)
        self._fruitless = 0
        self._last_absent = np.zeros(MAX_ACTIONS, dtype=np.int64)
        self._nodes_before = 0  # of the tree, when the last search began
        self.last_value: float | None = None
        self.forget()

    def forget(self, seed: int | None = None) -> None:
        """Drop the tree and the last value, for a new game or a position that does not follow.

        seed: of the random numbers from here on; None: the same ones begin again.
        """
        if seed is not None:
            self._seed = seed
        none = np.zeros(0, dtype=np.float32)
        self.tree.counts[:] = 0
        self.tree.table[:] = 0
        self.gadget = new_gadget(none, none)
        self._our_key = np.uint64(0)
        self._root_key = np.uint64(0)
        self.last_value = None
        self._random[0] = self._seed
        self._turns = 0
        self._kept: KeptRoots | None = None
        self.progress = Progress()

    # -- the subgame ---------------------------------------------------------------------------

    def keep(self, our_key: int, depth: int) -> npt.NDArray[np.uint64]:
        """Choose what the next subgame keeps; returns the kept states with our key, uint64[n, W].

        our_key: our information key now; depth: plies since the last search's root.
        """
        if self.tree.counts[ROOTS] == 0:
            self._kept = nothing_kept()
            return np.zeros((0, self._words), dtype=np.uint64)
        self._kept = keep_roots(self.tree, self.gadget, our_key, depth)
        edges = self._kept.edges
        own = edges[self.tree.edge_keys[edges, MAX] == np.uint64(our_key)]
        return np.array(self.tree.edge_state[own])

    def expand_roots(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64]
    ) -> Expansion:
        """Expand states uint64[n, W] with keys uint64[n, 2] that `begin` will take as new roots."""
        return self.games[0].expand(states, keys)

    @property
    def most_new_roots(self) -> int:
        """How many new infosets of one position each `begin` has room for at least."""
        return most_roots(self.tree)

    def begin(
        self,
        our_key: int,
        new: NewRoots,
        expansions: Sequence[Expansion],
        root_key: int | None = None,
    ) -> None:
        """Build the subgame from what `keep` chose and from new roots with their expansions.

        our_key: our information key now. root_key: our key at the roots if our infoset is below
        them; None: our infoset is at the roots. expansions: of new.states in their order, in any
        number of pieces; without them the search expands the roots itself. There must be at least
        one root in all. Raises ValueError if there is no room for the roots (see `most_new_roots`).
        """
        kept = self._kept if self._kept is not None else nothing_kept()
        self._kept = None
        freeze = not self.parameters.unfrozen
        self._our_key = np.uint64(our_key)
        self._root_key = np.uint64(our_key if root_key is None else root_key)
        gadget = build_subgame(
            self.tree,
            self.spare,
            kept,
            new,
            int(self._root_key),
            self.parameters.mixed_prior,
            freeze,
        )
        self.tree, self.spare = self.spare, self.tree
        self.gadget = gadget
        first_new_root = len(kept.offsets) - 1
        carried = self.tree.nodes - len(new.states)
        self.progress = Progress(carried=carried, sampled=len(new.states))
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
                self.attach(edges[part], nodes[part], expansion)
                done += size

    def expand_our_infoset(self, chunk: int, late: Callable[[], bool]) -> None:
        """Expand the leaves that are histories of our infoset; call it right after `begin`.

        It is for an infoset below the roots: a root's histories have their expansions from `begin`.
        chunk: leaves between two looks at the clock. late: returns whether to end; asked after
        each.
        """
        tree = self.tree
        count = int(tree.counts[EDGES])
        ours = tree.edge_keys[:count, MAX] == self._our_key
        ours &= (tree.edge_child[:count] == LEAF) & (tree.edge_status[:count] == OPEN)
        edges = np.flatnonzero(ours).astype(np.int32)
        firsts = tree.node_first_edge[: int(tree.counts[NODES])]
        above = (np.searchsorted(firsts, edges, side="right") - 1).astype(np.int32)
        for begin in range(0, len(edges), chunk):
            part = slice(begin, begin + chunk)
            expansion = self.games[0].expand(
                tree.edge_state[edges[part]], tree.edge_keys[edges[part]]
            )
            self.attach(edges[part], above[part], expansion)
            if late():
                break

    # -- the search ----------------------------------------------------------------------------

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
        self._nodes_before = int(self.tree.counts[NODES])
        self.progress.exhausted = False
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
                clock.end_slice(self.solve(SLICE_EDGES if expanders else TURN_EDGES))
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

    def line(self, moves: int = 8) -> tuple[npt.NDArray[np.uint64], list[int]] | None:
        """The likeliest play from our infoset on, for a principal variation.

        Returns the root state that it starts from, uint64[W], and the indices of its actions; None
        if no history of our infoset has been expanded.
        """
        tree = self.tree
        own = int(find_infoset(tree, self._our_key))
        if own == NO_INFOSET:
            return None
        nodes = np.flatnonzero(tree.node_infoset[: tree.counts[NODES]] == own)
        node = int(nodes[int(np.argmax(tree.node_reach[nodes]))])
        state = np.array(tree.edge_state[tree.node_parent_edge[node]])
        actions: list[int] = []
        while node != LEAF and len(actions) < moves:
            first, count = int(tree.node_first_action[node]), int(tree.node_edges[node])
            action = int(np.argmax(tree.strategy[first : first + count]))
            actions.append(action)
            node = int(tree.edge_child[tree.node_first_edge[node] + action])
        return state, actions

    def our_histories(self) -> RootHistories:
        """The histories of our infoset in the last search's tree; see `root_share`."""
        return our_histories(
            self.tree,
            self.gadget.prior,
            self._our_key,
            at_roots=bool(self._root_key == self._our_key),
            nodes_before=self._nodes_before,
        )

    # -- the steps of a search: `run` takes them by the clock, others one by one --------------

    def select(self, explorer: int, random: npt.NDArray[np.uint64]) -> Batch | None:
        """Select up to BATCH leaves to expand, and mark them as in flight; None if there is none.

        explorer: MAX or MIN, the player that explores. random: uint64[1], the state of its random
        numbers, which advances. No other thread may change the tree meanwhile.
        """
        edges = np.empty(BATCH, dtype=np.int32)
        nodes = np.empty(BATCH, dtype=np.int32)
        states = np.empty((BATCH, self._words), dtype=np.uint64)
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
            self.tree, self._root_key, not self.parameters.unfrozen, edges, nodes, expansion
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
        batch = self.select(MAX, self._random)
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

    def solve(self, max_edges: int) -> int:
        """Iterate until about `max_edges` edges are visited, at least once; returns the visits."""
        own = int(find_infoset(self.tree, self._our_key))
        iterations, edges = iterate(
            self.tree,
            self.gadget,
            SLICE_ITERATIONS,
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
        own = int(find_infoset(tree, self._our_key))
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

        self._turns += 1
        operations = Operations(
            select=self.select,
            release=self._release,
            attach=lambda batch, expansion: self.attach(batch.edges, batch.nodes, expansion),
            over=clock.expanding_over,
            exhausted=exhausted,
        )
        return Expanders(self.games, operations, [self._seed, self._turns])

    def _look(self, clock: Clock) -> None:
        """Show the clock the strategy at our infoset."""
        own = int(find_infoset(self.tree, self._our_key))
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
