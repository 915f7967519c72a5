"""Threads that help the calling one while a search runs: with any job, or by expanding leaves."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from obscuro.search.game import Expansion, Game
from obscuro.search.joint import JointSolver
from obscuro.search.parameters import BATCH
from obscuro.search.selection import Batch
from obscuro.search.sync import ENDED, NO_PART, OFFERED, count, take_part, withdraw

T = TypeVar("T")
Inbox = queue.SimpleQueue[Callable[[], None] | None]


class Team:
    """A number of threads, the calling one among them. The others start when first needed."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._inboxes: list[Inbox] = []
        self._helpers: list[threading.Thread] = []

    def start(self, job: Callable[[int], None], count: int) -> None:
        """Have job(1) to job(count - 1) called in other threads, and return at once.

        A job must not raise. It may still run when the next ones are started.
        """
        for number in range(1, count):
            self._inbox(number).put(lambda number=number: job(number))  # type: ignore[misc]

    def map(self, work: Callable[[int, int], T], parts: int) -> list[T]:
        """Return work(thread, part) of all parts; a thread takes one part after the other.

        A thread that has not begun is not waited for. If a part raises, no others are begun, and its
        exception is raised when no thread is at work any longer.
        """
        results: dict[int, T] = {}
        errors: list[BaseException] = []
        waiting = deque(range(parts))
        done: queue.SimpleQueue[None] = queue.SimpleQueue()

        def take_parts(thread: int) -> None:
            while True:
                try:
                    part = waiting.popleft()
                except IndexError:
                    return
                try:
                    if not errors:
                        results[part] = work(thread, part)
                except BaseException as error:
                    errors.append(error)
                done.put(None)

        self.start(take_parts, min(self.threads, parts))
        take_parts(0)
        for _ in range(parts):
            done.get()
        if errors:
            raise errors[0]
        return [results[part] for part in range(parts)]

    def close(self) -> None:
        """End the threads when they are through with their jobs; they start again if needed."""
        for inbox in self._inboxes:
            inbox.put(None)
        for helper in self._helpers:
            helper.join()
        self._inboxes, self._helpers = [], []

    def _inbox(self, number: int) -> Inbox:
        """Where thread `number`, from 1, takes its jobs from; it is started if need be."""
        while len(self._helpers) < number:
            inbox: Inbox = queue.SimpleQueue()
            name = f"search-{len(self._helpers) + 1}"
            helper = threading.Thread(target=_help, args=(inbox,), name=name, daemon=True)
            helper.start()
            self._inboxes.append(inbox)
            self._helpers.append(helper)
        return self._inboxes[number - 1]


def _help(inbox: Inbox) -> None:
    """Do the jobs that come, until None comes."""
    while (job := inbox.get()) is not None:
        job()


class Expanded(NamedTuple):
    """Leaves with their expansions."""

    batch: Batch
    expansion: Expansion


class Expanders:
    """The threads of a team but the calling one, from construction to `close`.

    They take part after part of what is handed over, and the calling thread does not wait for them.
    Without a part they help to solve. games: one for each thread of the team, the calling one
    included. All methods are for the calling thread.
    """

    def __init__(self, games: Sequence[Game], team: Team, solver: JointSolver) -> None:
        self._games = games
        self._team = team
        self._solver = solver
        self._parts: dict[int, Batch] = {}  # not begun, by their numbers at the desk
        self._offered = 0  # parts
        self._done: deque[Expanded] = deque()
        self._errors: list[BaseException] = []
        self._out: dict[int, Batch] = {}  # by their first edge: parts that have not been taken back
        self.leaves = 0  # of these parts
        team.start(self._work, team.threads)

    def hand_over(self, batch: Batch) -> None:
        """Have leaves expanded by the threads that have nothing else to do, as soon as they can."""
        before = self._offered
        for first in range(0, len(batch.edges), BATCH):
            part = batch.part(slice(first, first + BATCH))
            self._parts[self._offered] = self._out[int(part.edges[0])] = part
            self._offered += 1
        self.leaves += len(batch.edges)
        count(self._solver.desk, OFFERED, self._offered - before)

    def take(self) -> list[Expanded]:
        """Return what has been expanded since the last call.

        Raises an exception of a game's `expand`. Then no other parts are begun.
        """
        self.check()
        return self._take_done()

    def check(self) -> None:
        """Raise an exception of a game's `expand`."""
        if self._errors:
            raise self._errors[0]

    def close(self) -> tuple[list[Expanded], list[Batch]]:
        """Wait for the parts that have been begun; begin no others, and end the team's threads.

        Returns what has been expanded since the last `take`, and the parts that have not been.
        """
        withdraw(self._solver.desk)
        count(self._solver.desk, ENDED, 1)
        self._team.close()
        return self._take_done(), list(self._out.values())

    def _take_done(self) -> list[Expanded]:
        taken = []
        while self._done:
            expanded = self._done.popleft()
            del self._out[int(expanded.batch.edges[0])]
            self.leaves -= len(expanded.batch.edges)
            taken.append(expanded)
        return taken

    def _work(self, thread: int) -> None:
        """Expand parts, and help to solve, until all is over; called in the other threads."""
        desk = self._solver.desk
        while True:
            number = int(take_part(desk))
            if number == NO_PART and (number := self._solver.help(thread)) == NO_PART:
                return
            part = self._parts.pop(number)
            try:
                expansion = self._games[thread].expand(part.states, part.keys)
            except BaseException as error:
                self._errors.append(error)
                withdraw(desk)
            else:
                self._done.append(Expanded(part, expansion))
