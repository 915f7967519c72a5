"""Workers play the games of an event: what all of them do, and threads of this machine."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

import chess

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.matches.builtin_players import MakeContestant, Warn, make_contestant
from obscuro.matches.event import ArenaError, Event, GameTask
from obscuro.matches.game_record import Contestant, GameRecord, Interruptible, PlayedPly
from obscuro.matches.openings import PLAIN
from obscuro.matches.referee import OnPly, play_game
from obscuro.rules.board import FogOfWarBoard

TICK_SECONDS = 0.2
STALL_SECONDS = 1.0
"""A tick that comes later than this is a stall."""
_KEPT = 1000


class Played(NamedTuple):
    """What became of one task. Exactly one of record and fault is there.

    fault: why the machine broke the game off; such a game is played again.
    """

    task: GameTask
    record: GameRecord | None
    fault: str | None = None


class GameWorkers(Protocol):
    """A crew that plays games, some at the same time."""

    def run(
        self, event: Event, tasks: Iterable[GameTask], stop: threading.Event
    ) -> Iterator[Played]:
        """Play the tasks and yield each when it ends, in any order.

        The workers take a task from the iterable only when one of them is free to play it. They
        take tasks from one thread at a time. After *stop* is set, games that have ended are still
        yielded and those under way are broken off, without a trace. So the caller sets *stop* and
        goes on reading. On KeyboardInterrupt the workers do the same, and raise it at the end.
        Errors that end the event (EngineError, BeliefError) rise after what has ended is yielded.
        """


# -- whether the machine stood still ------------------------------------------------------------


class Stall(NamedTuple):
    """A time in which the machine stood still, in seconds of the watch's clock."""

    begin: float
    end: float

    def __str__(self) -> str:
        """Describe the stall in words."""
        return f"the machine stood still for {self.end - self.begin:.1f} s"


class MachineWatch:
    """Notices in a `with` statement when the machine stood still: suspended, or without a free core.

    A thread looks at the clock every `TICK_SECONDS`. If it comes back much later, nothing in this
    process ran meanwhile, and a player that seems slow may not be to blame.

    clock: returns seconds that go on while this process stands still.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._stalls: deque[Stall] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="machine watch", daemon=True)

    def now(self) -> float:
        """Return the second of the watch's clock."""
        return self._clock()

    def tick(self) -> None:
        """Look at the clock, and note a stall if the last look was long ago."""
        with self._lock:
            now = self._clock()
            if now - self._last > TICK_SECONDS + STALL_SECONDS:
                self._stalls.append(Stall(self._last, now))
            self._last = now

    def stall_since(self, begin: float) -> Stall | None:
        """Return the last stall that reached past this second; None if there was none.

        A stall that is just over counts even if the watching thread has not run yet.
        """
        self.tick()
        with self._lock:
            last = self._stalls[-1] if self._stalls else None
        return last if last is not None and last.end > begin else None

    def check(self, begin: float) -> None:
        """Raise MachineFault if the machine stood still after this second."""
        stall = self.stall_since(begin)
        if stall is not None:
            raise MachineFault(str(stall))

    def _run(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            self.tick()

    def __enter__(self) -> MachineWatch:
        """Begin to watch."""
        self._last = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Watch no more."""
        self._stopped.set()
        self._thread.join()


# -- the players of one worker ------------------------------------------------------------------


class Players:
    """The players that one worker keeps from game to game: those of its last task.

    warn: receives the players' warnings. make: makes a player; tests pass their own.
    """

    def __init__(self, warn: Warn, make: MakeContestant = make_contestant) -> None:
        self._warn = warn
        self._make = make
        self._event: Event | None = None
        self._seated: dict[int, Contestant] = {}
        self.interrupted = False

    def seat(self, event: Event, task: GameTask) -> tuple[Contestant, Contestant]:
        """Return White and Black of a game; close the players of earlier games that do not play."""
        wanted = (task.white, task.black)
        if event is not self._event:
            self.close()
            self._event = event
        for index in set(self._seated) - set(wanted):
            self._seated.pop(index).close()
        for index in wanted:
            if index not in self._seated:
                entrant = event.entrants[index]
                self._seated[index] = self._make(entrant, self._warn, event.coverage)
        return self._seated[task.white], self._seated[task.black]

    def interrupt(self) -> None:
        """Break the game off, from any thread. Players that can't be interrupted move once more."""
        self.interrupted = True
        for player in list(self._seated.values()):
            if isinstance(player, Interruptible):
                player.interrupt()

    def close(self) -> None:
        """Close all players. New ones are made when a game needs them."""
        while self._seated:
            self._seated.popitem()[1].close()

    def __enter__(self) -> Players:
        """Return the players themselves."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close all players."""
        self.close()


def play_task(
    event: Event,
    task: GameTask,
    players: Players,
    watch: MachineWatch,
    on_ply: OnPly | None = None,
) -> Played:
    """Play one game. A fault of the machine becomes `Played.fault`, and the players are closed.

    watch: knows whether the machine stood still. Raises EngineError if a player can't be started.
    """
    begin = watch.now()
    try:
        white, black = players.seat(event, task)
        record = play_game(
            white,
            black,
            control={
                chess.WHITE: event.control_of(task.white),
                chess.BLACK: event.control_of(task.black),
            },
            seed=task.seed,
            max_plies=event.max_plies,
            resign=event.resign,
            board=task.opening.start(event.stalemate),
            on_ply=on_ply,
            on_late=watch.check,
        )
        opening = "" if task.opening == PLAIN else task.opening.name
        return Played(task, replace(record, opening=opening))
    except MachineFault as fault:
        reason = str(fault)
    except EngineError:
        # A player that could not start in time, because nothing moved, may do so later.
        stall = watch.stall_since(begin)
        if stall is None:
            raise
        reason = str(stall)
    except (OSError, MemoryError) as error:
        reason = f"{type(error).__name__}: {error}"
    players.close()
    return Played(task, None, reason)


# -- threads of this machine --------------------------------------------------------------------


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
        self._left = False  # no further games of this run are awaited
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
