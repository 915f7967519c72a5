"""Play the games of an event that are not played yet, whatever goes wrong on the way."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from obscuro.client.uci_process import EngineError
from obscuro.matches.event import ArenaError, Event, GameTask
from obscuro.matches.game_record import BeliefError, GameRecord
from obscuro.matches.game_workers import GameWorkers, Played
from obscuro.matches.journal import EventStore

MOST_FAULTS = 3
"""A game that the machine has broken off this often in one run is not tried again."""


class RepeatedFaultError(ArenaError):
    """The machine broke one game off again and again. The text is for the user."""


@dataclass
class EventResult:
    """How far an event has come, and why it ended.

    store: the finished games. complete: whether the event ended as it was agreed: all games are
    played, or the stop rule ended it. reason: why it ended. failure: the error that broke it off,
    KeyboardInterrupt for Ctrl-C; None if it is complete.
    """

    store: EventStore
    complete: bool = False
    reason: str = ""
    failure: BaseException | None = None

    @property
    def event(self) -> Event:
        """The event itself."""
        return self.store.event

    @property
    def games(self) -> dict[int, GameRecord]:
        """The finished games by number, in the order in which they ended."""
        return self.store.games


OnGame = Callable[[GameTask, GameRecord], None]
OnFault = Callable[[GameTask, str], None]
StopRule = Callable[[], str | None]
"""Returns why the event ends now, or None if it goes on. It reads the store."""


def play_event(
    event: Event,
    workers: GameWorkers,
    store: EventStore | None = None,
    *,
    on_start: Callable[[GameTask], None] | None = None,
    on_game: OnGame | None = None,
    on_fault: OnFault | None = None,
    stop_rule: StopRule | None = None,
) -> EventResult:
    """Play all games that the store does not hold yet, and return the result.

    store: a journal, or another store of this event; None: one that ends with the result. on_start:
    called when a game begins, from any thread. on_game, on_fault: called after each game and each
    fault, in this thread, when the store has it. stop_rule: asked first, and after each game.

    Ctrl-C and errors that end an event (ArenaError, EngineError, BeliefError) do not rise: the
    result says so, and has all finished games.
    """
    result = EventResult(EventStore(event) if store is None else store)
    play = _Play(result, on_game, on_fault, stop_rule)
    feed = _Feed((task for task in event.tasks if task.number not in result.games), on_start)
    try:
        play.ask_stop_rule()
        while feed.waiting and not play.stop.is_set():
            for played in workers.run(event, feed, play.stop):
                try:
                    if play.take(played):
                        feed.again(played.task)
                except BaseException as error:
                    play.fail(error)
                    play.keep(played)
    except BaseException as error:
        play.fail(error)
    return play.finish()


class _Feed:
    """The tasks that are not played yet. A game that was broken off is the next to be played."""

    def __init__(
        self, tasks: Iterable[GameTask], on_start: Callable[[GameTask], None] | None
    ) -> None:
        self.waiting = deque(tasks)
        self._on_start = on_start

    def again(self, task: GameTask) -> None:
        """Let a task be played again."""
        self.waiting.appendleft(task)

    def __iter__(self) -> Iterator[GameTask]:
        """Return the feed itself."""
        return self

    def __next__(self) -> GameTask:
        """Take the next task."""
        try:
            task = self.waiting.popleft()
        except IndexError:
            raise StopIteration from None
        if self._on_start is not None:
            self._on_start(task)
        return task


class _Play:
    """The event under way."""

    def __init__(
        self,
        result: EventResult,
        on_game: OnGame | None,
        on_fault: OnFault | None,
        stop_rule: StopRule | None,
    ) -> None:
        self.stop = threading.Event()
        self._result = result
        self._on_game = on_game
        self._on_fault = on_fault
        self._stop_rule = stop_rule
        self._faults: Counter[int] = Counter()

    def take(self, played: Played) -> bool:
        """Keep what a worker brings; return whether the task is to be played again."""
        if played.record is None:
            return self._take_fault(played)
        self.keep(played)
        self.ask_stop_rule()
        if self._on_game is not None:
            self._on_game(played.task, played.record)
        return False

    def keep(self, played: Played) -> None:
        """Put a finished game into the store, unless it is there.

        If Ctrl-C comes while a journal is written, the caller asks a second time.
        """
        if played.record is not None and played.task.number not in self._result.games:
            self._result.store.add(played)

    def _take_fault(self, played: Played) -> bool:
        task, fault = played.task, played.fault or "unknown"
        self._result.store.add(played)
        self._faults[task.number] += 1
        if self._on_fault is not None:
            self._on_fault(task, fault)
        if self._faults[task.number] >= MOST_FAULTS:
            raise RepeatedFaultError(
                f"game {task.number + 1} was broken off {MOST_FAULTS} times, last because: {fault}"
            )
        return True

    def ask_stop_rule(self) -> None:
        """End the event if the stop rule says so."""
        reason = None if self._stop_rule is None else self._stop_rule()
        if reason is not None and not self._result.complete:
            self._result.complete, self._result.reason = True, reason
            self.stop.set()

    def fail(self, error: BaseException) -> None:
        """End the event because of an error; the first one counts."""
        if self._result.failure is None:
            self._result.failure = error
        self.stop.set()

    def finish(self) -> EventResult:
        """Return the result. Raises an error that is none of those that end an event."""
        result = self._result
        expected = (KeyboardInterrupt, ArenaError, EngineError, BeliefError)
        if result.failure is not None:
            if not isinstance(result.failure, expected):
                raise result.failure
            if not result.complete:
                interrupted = isinstance(result.failure, KeyboardInterrupt)
                result.reason = "interrupted" if interrupted else str(result.failure)
        elif not result.complete:
            result.complete, result.reason = True, "all games are played"
        return result
