"""Threads that help the calling one while a search runs: with any job, or by expanding leaves."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from obscuro.search.game import Expansion, Game
from obscuro.search.parameters import BATCH, LEAVES_PER_PART
from obscuro.search.selection import Batch

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
    games: one for each thread of the team, the calling one included. All methods are for the
    calling thread.
    """

    def __init__(self, games: Sequence[Game], team: Team) -> None:
        self._games = games
        self._team = team
        self._waiting: deque[Batch] = deque()  # parts that no thread has begun
        self._done: deque[Expanded] = deque()
        self._errors: list[BaseException] = []
        self._out: dict[int, Batch] = {}  # by their first edge: parts that have not been taken back
        self.leaves = 0  # of these parts
        self._size = max(LEAVES_PER_PART, -(-BATCH // max(1, team.threads - 1)))

    def hand_over(self, batch: Batch) -> None:
        """Have leaves expanded by the threads that have nothing else to do, as soon as they can."""
        parts = []
        for first in range(0, len(batch.edges), self._size):
            part = batch.part(slice(first, first + self._size))
            parts.append(part)
            self._out[int(part.edges[0])] = part
        self.leaves += len(batch.edges)
        self._waiting.extend(parts)
        self._team.start(self._take_parts, min(self._team.threads, len(parts) + 1))

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
        self._waiting.clear()
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

    def _take_parts(self, thread: int) -> None:
        """Expand parts until none is left; called in the other threads."""
        while True:
            try:
                part = self._waiting.popleft()
            except IndexError:
                return
            try:
                expansion = self._games[thread].expand(part.states, part.keys)
            except BaseException as error:
                self._errors.append(error)
                self._waiting.clear()
            else:
                self._done.append(Expanded(part, expansion))
