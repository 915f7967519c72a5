"""Workers on this machine: threads, each with its own players."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from obscuro.client.uci_process import EngineError
from obscuro.matches.arena_error import ArenaError
from obscuro.matches.builtin_players import Warn
from obscuro.matches.entrant import MakeContestant, make_contestant
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import PlayedPly
from obscuro.matches.game_workers import Played, Players, play_task
from obscuro.matches.machine_watch import MachineWatch
from obscuro.matches.referee import OnPly
from obscuro.rules.board import FogOfWarBoard


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
            try:
                self._start(crew, watch)
                yield from crew.outcomes()
            finally:
                crew.leave()
        crew.raise_failure()

    def _start(self, crew: _Crew, watch: MachineWatch) -> None:
        try:
            for _ in range(self._concurrency):
                crew.start(Players(self._warn, self._make), watch)
        except RuntimeError as error:  # what Python says when the system has no more threads
            raise ArenaError(
                f"can't play {self._concurrency} games at the same time: {error}"
            ) from error


class _GameBrokenOff(Exception):  # noqa: N818
    """The event ends, and this game with it."""


class _Outcome(NamedTuple):
    """A task that has ended. Its thread plays on when `taken` is set: the game is safe then."""

    played: Played
    taken: threading.Event


class _Crew:
    """The threads of one run, and what they share."""

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
        self._left = False  # nobody waits for further games of this run
        self._task_lock = threading.Lock()
        self._ply_lock = threading.Lock()
        self._outcomes: queue.SimpleQueue[_Outcome | None] = queue.SimpleQueue()  # None: an end
        self._threads: list[threading.Thread] = []
        self._players: list[Players] = []
        self._ended = 0  # threads
        self._failures: list[BaseException] = []

    # -- the thread of the caller -----------------------------------------------------------

    def start(self, players: Players, watch: MachineWatch) -> None:
        """Start a thread that plays with these players."""
        thread = threading.Thread(target=self._work, args=(players, watch))
        thread.start()
        self._threads.append(thread)
        self._players.append(players)

    def outcomes(self) -> Iterator[Played]:
        """Yield each task that has ended, until all threads have ended."""
        while self._ended < len(self._threads):
            if self._is_over():
                self._interrupt()
            try:
                outcome = self._outcomes.get()
            except BaseException as error:  # Ctrl-C: the games that have ended still count
                self._fail(error)
                continue
            if outcome is None:
                self._ended += 1
            else:
                try:
                    yield outcome.played
                finally:
                    outcome.taken.set()

    def leave(self) -> None:
        """Break off what is still under way, and wait for the threads."""
        self._left = True
        for _ in self.outcomes():
            pass
        for thread in self._threads:
            thread.join()

    def raise_failure(self) -> None:
        """Raise the first error that ended the run, if there was one."""
        if self._failures:
            raise self._failures[0]

    def _interrupt(self) -> None:
        for players in self._players:
            players.interrupt()

    # -- the threads of the players ---------------------------------------------------------

    def _work(self, players: Players, watch: MachineWatch) -> None:
        """Play tasks until none is left, or the event ends."""
        try:
            with players:
                while (task := self._next_task()) is not None:
                    played = play_task(self._event, task, players, watch, self._after_ply)
                    self._hand_over(played, players)
        except _GameBrokenOff:
            pass
        except BaseException as error:
            if not (players.interrupted and isinstance(error, EngineError)):
                self._fail(error)
        finally:
            self._outcomes.put(None)

    def _hand_over(self, played: Played, players: Players) -> None:
        """Give a game to the caller, and wait until it is safe.

        A player that we have interrupted seems to have failed. Such a game does not count.
        """
        if players.interrupted and (played.record is None or not played.record.regular):
            raise _GameBrokenOff
        taken = threading.Event()
        self._outcomes.put(_Outcome(played, taken))
        taken.wait()

    def _next_task(self) -> GameTask | None:
        with self._task_lock:
            return None if self._is_over() else next(self._tasks, None)

    def _after_ply(self, board: FogOfWarBoard, ply: PlayedPly) -> None:
        if self._is_over():
            raise _GameBrokenOff
        if self._on_ply is not None:
            with self._ply_lock:
                self._on_ply(board, ply)

    # -- any thread -------------------------------------------------------------------------

    def _is_over(self) -> bool:
        return self._left or self._stop.is_set()

    def _fail(self, error: BaseException) -> None:
        self._failures.append(error)
        self._stop.set()
