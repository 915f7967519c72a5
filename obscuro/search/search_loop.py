"""The loop of a search, which takes its steps by the clock.

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

from obscuro.search.balance import Balance
from obscuro.search.expanders import Expanded, Expanders
from obscuro.search.pace import Clock, Limits
from obscuro.search.parameters import (
    BATCH,
    BATCHES_AHEAD,
    ITERATIONS_TOGETHER,
    SLICE_EDGES,
    SLICE_SECONDS,
)
from obscuro.search.progress import Progress
from obscuro.search.selection import Batch, joined_batches
from obscuro.search.steps import SearchSteps


class SearchLoop(SearchSteps):
    """A search by the clock; see `SearchSteps` for its arguments and attributes."""

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

        if self.threads == 1:
            self._run_alone(clock, after_slice)
        else:
            with self.solving_jointly():
                self._run_together(clock, after_slice)
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

    def _run_together(self, clock: Clock, after_slice: Callable[[], None]) -> None:
        """Run slice by slice, while other threads expand leaves, or help to solve.

        Between two slices the tree is at rest. Then leaves are selected, so many that the other
        threads do not run out of them, and those that have been expanded are attached.
        """
        expanders = Expanders(self.games, self.team)
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
