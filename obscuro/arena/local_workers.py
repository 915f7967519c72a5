"""Workers on this machine: threads, each with its own players."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator

from obscuro.arena.builtin_players import Warn
from obscuro.arena.entrant import MakeContestant, make_contestant
from obscuro.arena.event import Event, GameTask
from obscuro.arena.game_record import PlayedPly
from obscuro.arena.game_workers import Played, Players, play_task
from obscuro.arena.machine_watch import MachineWatch
from obscuro.arena.referee import OnPly
from obscuro.fog.board import FogOfWarBoard


class LocalWorkers:
    """Plays *concurrency* games at the same time, each in a thread with players of its own.

    warn: receives the players' warnings, from any thread. make: makes a player. on_ply: called
    after every move, from one thread at a time.
    """

    def __init__(
        self,
        concurrency: int,
        warn: Warn,
        *,
        make: MakeContestant = make_contestant,
        on_ply: OnPly | None = None,
    ) -> None:
        self._concurrency = concurrency
        self._warn = warn
        self._make = make
        self._on_ply = on_ply

    def run(
        self, event: Event, tasks: Iterable[GameTask], stop: threading.Event
    ) -> Iterator[Played]:
        """Play the tasks; see `GameWorkers.run`."""
        crew = _Crew(event, iter(tasks), stop, self._on_ply)
        with MachineWatch() as watch:
            threads = [
                threading.Thread(target=crew.work, args=(self._warn, self._make, watch))
                for _ in range(self._concurrency)
            ]
            try:
                for thread in threads:
                    thread.start()
                yield from crew.outcomes(len(threads))
            finally:
                crew.leave()
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()
        crew.raise_failure()


class _GameBrokenOff(Exception):  # noqa: N818
    """The event ends, and this game with it."""


class _Crew:
    """What the threads of one run share."""

    def __init__(
        self,
        event: Event,
        tasks: Iterator[GameTask],
        stop: threading.Event,
        on_ply: OnPly | None,
    ) -> None:
        self._event = event
        self._tasks = tasks
        self._stop = stop
        self._on_ply = on_ply
        self._left = threading.Event()  # nobody waits for further games of this run
        self._task_lock = threading.Lock()
        self._ply_lock = threading.Lock()
        self._outcomes: queue.SimpleQueue[Played | None] = (
            queue.SimpleQueue()
        )  # None: a thread's end
        self._failures: list[BaseException] = []

    def work(self, warn: Warn, make: MakeContestant, watch: MachineWatch) -> None:
        """Play tasks until none is left, or the event ends."""
        try:
            with Players(warn, make) as players:
                while (task := self._next_task()) is not None:
                    self._outcomes.put(
                        play_task(self._event, task, players, watch, self._after_ply)
                    )
        except _GameBrokenOff:
            pass
        except BaseException as error:
            self._fail(error)
        finally:
            self._outcomes.put(None)

    def outcomes(self, threads: int) -> Iterator[Played]:
        """Yield each task that has ended, until all threads have ended."""
        while threads:
            try:
                played = self._outcomes.get()
            except BaseException as error:  # Ctrl-C: the games that have ended still count
                self._fail(error)
                continue
            if played is None:
                threads -= 1
            else:
                yield played

    def raise_failure(self) -> None:
        """Raise the first error that ended the run, if there was one."""
        if self._failures:
            raise self._failures[0]

    def leave(self) -> None:
        """Break off the games that are still under way."""
        self._left.set()

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._left.is_set()

    def _next_task(self) -> GameTask | None:
        with self._task_lock:
            return None if self._is_over() else next(self._tasks, None)

    def _after_ply(self, board: FogOfWarBoard, ply: PlayedPly) -> None:
        if self._is_over():
            raise _GameBrokenOff
        if self._on_ply is not None:
            with self._ply_lock:
                self._on_ply(board, ply)

    def _fail(self, error: BaseException) -> None:
        self._failures.append(error)
        self._stop.set()
