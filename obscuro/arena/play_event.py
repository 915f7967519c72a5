"""Play the games of an event that are not played yet, whatever goes wrong on the way."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from obscuro.arena.event import Event, GameTask
from obscuro.arena.game_record import BeliefError, GameRecord
from obscuro.arena.game_workers import GameWorkers, Played
from obscuro.arena.journal import Journal, JournalError
from obscuro.arena.uci_process import EngineError

MOST_FAULTS = 3
"""A game that the machine has broken off so often in one run is not tried again."""


class RepeatedFaultError(Exception):
    """The machine broke one game off again and again. The text is for the user."""


@dataclass
class EventResult:
    """What there is of an event.

    games: the finished games by number, in the order in which they ended. faults: how many games
    the machine broke off in this run. complete: whether the event ended as it was agreed: all games
    are played, or the stop rule ended it. reason: why it ended. failure: the error that broke it
    off, KeyboardInterrupt for Ctrl-C; None if it is complete.
    """

    event: Event
    games: dict[int, GameRecord] = field(default_factory=dict)
    faults: int = 0
    complete: bool = False
    reason: str = ""
    failure: BaseException | None = None


OnGame = Callable[[GameTask, GameRecord], None]
OnFault = Callable[[GameTask, str], None]
StopRule = Callable[[EventResult], str | None]
"""Looks at the games so far; returns why the event ends now, or None if it goes on."""


def play_event(
    event: Event,
    workers: GameWorkers,
    journal: Journal | None = None,
    *,
    on_start: Callable[[GameTask], None] | None = None,
    on_game: OnGame | None = None,
    on_fault: OnFault | None = None,
    stop_rule: StopRule | None = None,
) -> EventResult:
    """Play all games that the journal does not hold yet, and return the result.

    journal: keeps the games; None: nobody does. on_start: called when a game begins, from any
    thread. on_game, on_fault: called after each game, in this thread, when it is in the journal.
    stop_rule: asked before the first game and after each.

    Ctrl-C and errors that end an event (EngineError, BeliefError, JournalError, a machine's fault
    in one game again and again) do not rise: the result says so, and has all finished games.
    """
    result = EventResult(event, {} if journal is None else dict(journal.games))
    game = _Play(result, journal, on_game, on_fault, stop_rule)
    feed = _Feed((task for task in event.tasks if task.number not in result.games), on_start)
    try:
        game.ask_stop_rule()
        while feed.waiting and not game.stop.is_set():
            for played in workers.run(event, feed, game.stop):
                try:
                    if game.take(played):
                        feed.again(played.task)
                except BaseException as error:
                    game.fail(error)
    except BaseException as error:
        game.fail(error)
    return game.finish()


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
        journal: Journal | None,
        on_game: OnGame | None,
        on_fault: OnFault | None,
        stop_rule: StopRule | None,
    ) -> None:
        self.stop = threading.Event()
        self._result = result
        self._journal = journal
        self._on_game = on_game
        self._on_fault = on_fault
        self._stop_rule = stop_rule
        self._faults: Counter[int] = Counter()

    def take(self, played: Played) -> bool:
        """Keep what a worker brings; return whether the task is to be played again."""
        task, record, result = played.task, played.record, self._result
        if self._journal is not None:
            self._journal.add(played)
        if record is None:
            return self._take_fault(task, played.fault or "unknown")
        result.games[task.number] = record
        if self._on_game is not None:
            self._on_game(task, record)
        self.ask_stop_rule()
        return False

    def _take_fault(self, task: GameTask, fault: str) -> bool:
        self._result.faults += 1
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
        if self._stop_rule is not None and not self.stop.is_set():
            reason = self._stop_rule(self._result)
            if reason is not None:
                self._result.complete, self._result.reason = True, reason
                self.stop.set()

    def fail(self, error: BaseException) -> None:
        """End the event because of an error; the first one counts."""
        if self._result.failure is None:
            self._result.failure = error
        self.stop.set()

    def finish(self) -> EventResult:
        """Return the result. Raises errors that nobody foresaw."""
        result = self._result
        expected = (KeyboardInterrupt, EngineError, BeliefError, JournalError, RepeatedFaultError)
        if result.failure is not None:
            if not isinstance(result.failure, expected):
                raise result.failure
            if not result.complete:
                interrupted = isinstance(result.failure, KeyboardInterrupt)
                result.reason = "interrupted" if interrupted else str(result.failure)
        elif not result.complete:
            result.complete, result.reason = True, "all games are played"
        return result
