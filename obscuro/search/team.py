"""Threads that help the calling one, for as long as a search runs."""

import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

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

        Nobody waits for a thread that has not begun. If a part raises, no others are begun, and its
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
