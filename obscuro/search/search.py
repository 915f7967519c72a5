"""One player's search: it builds a turn's subgame, runs on it by the clock, and reads off the results.

With one thread a search is a series of turns. In each it selects leaves, iterates on the tree for a
fixed measure of work, and expands the leaves. Such a search repeats itself bit for bit.

With several threads the calling one never waits for the others and never expands. It iterates in
short slices. Between two slices the tree is at rest: then it selects leaves for the others, and
attaches those that they have expanded. The others help to iterate when they have no leaves. When a
leaf is attached depends on time, so such a search does not repeat itself.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from obscuro.search.game import MAX, Expansion, concatenate_expansions
from obscuro.search.joint import JointSolver
from obscuro.search.keeping import (
    KeptRoots,
    keep_likeliest,
    keep_roots,
    most_roots,
    nothing_kept,
    position_hashes,
)
from obscuro.search.pace import Clock, Limits, Progress
from obscuro.search.parameters import (
    BATCH,
    BATCHES_AHEAD,
    ITERATIONS_TOGETHER,
    LEAST_SOLVING,
    ROOTS_PER_PART,
    SLICE_EDGES,
    SLICE_SECONDS,
    SearchParameters,
)
from obscuro.search.root_diagnosis import RootDiagnosis, diagnose
from obscuro.search.root_values import (
    RootHistories,
    RootValues,
    mean_action_values,
    our_histories,
    root_values,
)
from obscuro.search.rows import COMPILED
from obscuro.search.selection import Batch, joined_batches
from obscuro.search.solver import refresh_values
from obscuro.search.steps import NO_INFOSET, SearchSteps
from obscuro.search.subgame import NewRoots, build_subgame
from obscuro.search.team import Expanded, Expanders
from obscuro.search.tree import EDGES, LEAF, NODES, OPEN, ROOTS, find_infoset


class Balance:
    """How many leaves may be expanded: as many as solving has paid for.

    parameters: have the price of a leaf. With two threads it is LEAST_SOLVING of that. most: so
    many leaves may be expanded before solving has begun, and when it is ahead.
    """

    def __init__(self, parameters: SearchParameters, threads: int, most: int) -> None:
        share = LEAST_SOLVING if threads == 2 else 1.0
        self._edges = share * parameters.edges_per_expansion
        self._iterations = share * parameters.iterations_per_expansion
        self._leaves = float(most)

    @property
    def leaves(self) -> int:
        """How many leaves may be selected now."""
        return max(0, int(self._leaves))

    def solved(self, iterations: int, edges: int, most: int) -> None:
        """Note what the solver has done. Whichever pays for more leaves counts, as in a turn."""
        paid = max(iterations / self._iterations, edges / self._edges)
        self._leaves = min(self._leaves + paid, most)

    def selected(self, batches: int) -> None:
        """Note that batches have been selected. One that is not full costs as much as others."""
        self._leaves -= batches * BATCH


class Search(SearchSteps):
    """The trees and the strategy of one player, kept from turn to turn; see `SearchSteps`."""

    _kept: KeptRoots | None = None  # what `keep` chose for the next subgame
    first_new_root = 0  # the roots before it were kept
    alternate_value: float | None = None  # v*, which the new roots' alternate values are capped by
    slack: float | None = None  # how far the new roots' own values are above v*, on average

    def forget(self, seed: int | None = None) -> None:
        """See `SearchSteps.forget`."""
        super().forget(seed)
        self._kept = None

    # -- by the clock ----------------------------------------------------------------------------

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
        self.prepare()
        clock = Clock(self.progress, limits, stop, self.parameters.edges_per_expansion)
        next_report = time.monotonic()

        def after_slice() -> None:
            nonlocal next_report
            if report is not None and time.monotonic() >= next_report:
                next_report = time.monotonic() + interval
                report(self.summary(clock))
            if clock.due():
                self.look(clock)

        if self.threads == 1 or not COMPILED:  # only kernels can meet at a desk
            self._run_alone(clock, after_slice)
        else:
            with self.solving_jointly() as solver:
                self._run_together(clock, after_slice, solver)
        self.last_value = self.summary(clock).value
        return self.progress

    def _run_alone(self, clock: Clock, after_slice: Callable[[], None]) -> None:
        """Run turn by turn: select leaves, solve for as long as they are worth, expand them."""
        while True:
            found: list[Batch] = []
            try:
                if not clock.expanding_over():
                    # The last turn's leaves are NEW until an iteration has passed them.
                    self.solve(SLICE_EDGES, self.parameters.iterations_per_expansion)
                    found = self.select_batches(1)
                for _ in self._solve_turn(clock):
                    after_slice()
            except BaseException:
                self.release(found)
                raise
            for batch in found:
                self.expand(batch)
            if clock.over():
                return

    def _run_together(
        self, clock: Clock, after_slice: Callable[[], None], solver: JointSolver
    ) -> None:
        """Run slice by slice, while other threads expand leaves, or help to solve.

        Between two slices the tree is at rest. Then leaves are selected, enough that the other
        threads do not run out of them, and those that have been expanded are attached.
        """
        expanders = Expanders(self.games, self.team, solver)
        balance = Balance(self.parameters, self.threads, self._most_ahead())
        try:
            most = self.parameters.iterations_per_expansion  # at first, so that the others begin
            while True:
                before = self.progress.iterations
                clock.start_slice()
                edges = self.solve(clock.edges_within(SLICE_SECONDS), most)
                clock.end_slice(edges)
                balance.solved(self.progress.iterations - before, edges, self._most_ahead())
                most = ITERATIONS_TOGETHER
                after_slice()
                if clock.over():
                    break
                done = expanders.take()
                try:
                    # Selected first: what is attached now is NEW until an iteration has passed it.
                    if not clock.expanding_over():
                        self._select_ahead(expanders, balance, others=bool(done))
                finally:
                    self._attach_all(done)
        finally:
            done, left = expanders.close()
            self._attach_all(done)
            self.release(left)
        expanders.check()

    def _most_ahead(self) -> int:
        """How many leaves other threads have to expand at a time."""
        return BATCHES_AHEAD * self.most_batches * BATCH

    def _select_ahead(self, expanders: Expanders, balance: Balance, others: bool) -> None:
        """Hand leaves over to the other threads, so that these have enough of them.

        others: whether there are leaves in flight that are no longer theirs.
        """
        room = min(self._most_ahead() - expanders.leaves, balance.leaves)
        found = self.select_batches(room // BATCH, others or expanders.leaves > 0)
        if found:
            balance.selected(len(found))
            expanders.hand_over(joined_batches(found))

    def _attach_all(self, done: Sequence[Expanded]) -> None:
        """Attach leaves that other threads have expanded."""
        for batch, expansion in done:
            self.attach(batch.edges, batch.nodes, expansion)

    def _solve_turn(self, clock: Clock) -> Iterator[None]:
        """Solve for as long as a batch of leaves is worth; yields after each slice."""
        edges = BATCH * self.parameters.edges_per_expansion
        end = self.progress.iterations + BATCH * self.parameters.iterations_per_expansion
        while edges > 0 and self.progress.iterations < end:
            clock.start_slice()
            visited = self.solve(min(edges, SLICE_EDGES), end - self.progress.iterations)
            clock.end_slice(visited)
            edges -= visited
            yield
            if clock.over():
                break

    # -- the subgame ---------------------------------------------------------------------------

    def keep(self, our_key: int, depth: int) -> npt.NDArray[np.uint64]:
        """Choose what the next subgame keeps; returns the kept states with our key, uint64[n, W].

        our_key: our information key now; depth: plies since the last search's root.
        """
        if self.tree.counts[ROOTS] == 0:
            self._kept = nothing_kept()
            return np.zeros((0, self.state_words), dtype=np.uint64)
        self._kept = keep_roots(self.tree, self.gadget, our_key, depth)
        most = self.parameters.max_kept_infosets
        if most:
            words = self.position_words
            self._kept = keep_likeliest(self.tree, self._kept, our_key, words, most)
        edges = self._kept.edges
        own = edges[self.tree.edge_keys[edges, MAX] == np.uint64(our_key)]
        return np.array(self.tree.edge_state[own])

    def _likelihoods(
        self,
        kept: KeptRoots,
        new: NewRoots,
        likelihood: Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.float32]],
    ) -> npt.NDArray[np.float32]:
        """How likely each root infoset J is, float32[m]: the mean over its histories in I."""
        own = self.tree.edge_keys[kept.edges, MAX] == self.our_key
        states = np.concatenate((self.tree.edge_state[kept.edges[own]], new.states))
        of = np.concatenate(
            [
                np.repeat(np.arange(len(each.offsets) - 1), np.diff(each.offsets)) + start
                for each, start in ((kept, 0), (new, len(kept.offsets) - 1))
            ]
        )
        weights = np.concatenate((kept.weights, new.weights))
        within = np.concatenate((own, np.ones(len(new.states), dtype=np.bool_)))
        of, weights = of[within], weights[within] + np.float32(1e-6)
        roots = len(kept.offsets) + len(new.offsets) - 2
        sums = np.bincount(of, weights * likelihood(states), roots)
        return (sums / np.maximum(np.bincount(of, weights, roots), 1e-12)).astype(np.float32)

    def keep_chosen(self, kept: KeptRoots) -> None:
        """Have the next subgame keep these histories of the tree, in place of what `keep` chooses."""
        self._kept = kept

    def distinct_positions(self, states: npt.NDArray[np.uint64]) -> int:
        """How many positions there are among states uint64[n, W]."""
        return len(np.unique(position_hashes(states, self.position_words)))

    def expand_roots(
        self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64]
    ) -> Expansion:
        """Expand states uint64[n, W] with keys uint64[n, 2] that `begin` will take as new roots."""
        return concatenate_expansions(self.expand_parts(states, keys, ROOTS_PER_PART)[1])

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
        likelihood: Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.float32]] | None = None,
    ) -> None:
        """Build the subgame from what `keep` chose and from new roots with their expansions.

        our_key: our information key now. root_key: our key at the roots if our infoset is below
        them; None: our infoset is at the roots. expansions: of new.states in their order, in any
        number of pieces; without them the search expands the roots itself. likelihood: returns how
        likely states uint64[n, W] with our key are, float32[n] on any scale; None: all are alike.
        There must be at least one root in all. Raises ValueError if there is no room for the roots
        (see `most_new_roots`).
        """
        kept = self._kept if self._kept is not None else nothing_kept()
        self._kept = None
        self.our_key = np.uint64(our_key)
        self.root_key = np.uint64(our_key if root_key is None else root_key)
        gadget = build_subgame(
            self.tree,
            self.spare,
            kept,
            new,
            int(self.root_key),
            self.parameters,
            None if likelihood is None else self._likelihoods(kept, new, likelihood),
        )
        self.tree, self.spare = self.spare, self.tree
        self.gadget = gadget
        first_new_root = self.first_new_root = len(kept.offsets) - 1
        self.alternate_value, self.slack = self.last_value, None
        if self.last_value is not None and len(new.values):
            self.slack = float(new.values.mean()) - self.last_value
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

        chunk: leaves between two looks at the clock. late: returns whether to end; asked after
        each.
        """
        tree = self.tree
        count = int(tree.counts[EDGES])
        if self.root_key == self.our_key:
            count = int(tree.node_edges[: int(tree.counts[ROOTS])].sum())
        ours = tree.edge_keys[:count, MAX] == self.our_key
        ours &= (tree.edge_child[:count] == LEAF) & (tree.edge_status[:count] == OPEN)
        edges = np.flatnonzero(ours).astype(np.int32)
        firsts = tree.node_first_edge[: int(tree.counts[NODES])]
        above = (np.searchsorted(firsts, edges, side="right") - 1).astype(np.int32)
        for begin in range(0, len(edges), chunk):
            part = slice(begin, begin + chunk)
            expansion = self.expand_roots(tree.edge_state[edges[part]], tree.edge_keys[edges[part]])
            self.attach(edges[part], above[part], expansion)
            if late():
                break

    def line(self, moves: int = 8) -> tuple[npt.NDArray[np.uint64], list[int]] | None:
        """The likeliest play from our infoset on, for a principal variation.

        Returns the root state that it starts from, uint64[W], and the indices of its actions; None
        if no history of our infoset has been expanded.
        """
        tree = self.tree
        own = int(find_infoset(tree, self.our_key))
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

    def note_roots(self) -> None:
        """Note in the progress with how many positions and infosets the search begins."""
        self.nodes_before = int(self.tree.counts[NODES])
        histories = self.our_histories()
        self.progress.roots = self.distinct_positions(histories.states[histories.expanded])
        self.progress.root_infosets = int(self.tree.counts[ROOTS])

    def our_histories(self) -> RootHistories:
        """The histories of our infoset in the last search's tree; see `root_share`."""
        return our_histories(
            self.tree,
            self.gadget.prior,
            self.our_key,
            at_roots=bool(self.root_key == self.our_key),
            nodes_before=self.nodes_before,
        )

    def root_values(self) -> RootValues | None:
        """Return what our actions are worth in the last search's tree; see `root_values`.

        None if no history of our infoset is expanded.
        """
        at_roots = bool(self.root_key == self.our_key)
        return root_values(self.tree, self.gadget, self.our_key, at_roots=at_roots)

    def diagnosis(self) -> RootDiagnosis | None:
        """Describe the root of the last search; see `root_diagnosis`. None: there is no tree."""
        return diagnose(self.tree, self.gadget, self.first_new_root)

    def action_values(self) -> npt.NDArray[np.float64]:
        """Return ▲'s values of our actions now, averaged over our infoset; see `root_share`.

        Every value of the tree is brought up to date first. The values are float64[k], or empty if
        no history of our infoset is expanded.
        """
        refresh_values(self.tree, self.gadget)
        return mean_action_values(self.tree, self.our_histories())
