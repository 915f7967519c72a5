"""Play the games of an event that are not played yet, whatever goes wrong on the way."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from obscuro.client.uci_process import EngineError
from obscuro.matches.arena_error import ArenaError
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import BeliefError, GameRecord
from obscuro.matches.game_workers import GameWorkers, Played
from obscuro.matches.journal import Journal

MOST_FAULTS = 3
"""A game that the machine has broken off so often in one run is not tried again."""


class RepeatedFaultError(ArenaError):
    """The machine broke one game off again and again. The text is for the user."""


@dataclass
class EventResult:
    """What there is of an event.

    games: the finished games by number, in the order in which they ended. faults: how often the
    machine broke a game off, in all runs that the journal knows. complete: whether the event ended
    as it was agreed: all games are played, or the stop rule ended it. reason: why it ended.
    failure: the error that broke it off, KeyboardInterrupt for Ctrl-C; None if it is complete.
    """

    event: Event
    games: dict[int, GameRecord] = field(default_factory=dict)
    faults: int = 0
    complete: bool = False
    reason: str = ""
    failure: BaseException | None = None


OnGame = Callable[[GameTask, GameRecord], None]
OnFault = Callable[[GameTask, str], None]
StopRule = Callable[[GameTask, GameRecord], str | None]
"""Takes each game in the order in which they ended, those of the journal first. Returns why the
event ends now, or None if it goes on."""


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
    stop_rule: takes every game, those of the journal too.

    Ctrl-C and errors that end an event (ArenaError, EngineError, BeliefError) do not rise: the
    result says so, and has all finished games.
    """
    result = EventResult(event)
    if journal is not None:
        result.games, result.faults = dict(journal.games), journal.faults
    play = _Play(result, journal, on_game, on_fault, stop_rule)
    feed = _Feed((task for task in event.tasks if task.number not in result.games), on_start)
    try:
        play.take_up()
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
        task, record = played.task, played.record
        if record is None:
            return self._take_fault(played)
        self.keep(played)
        self._ask_stop_rule(task, record)
        if self._on_game is not None:
            self._on_game(task, record)
        return False

    def keep(self, played: Played) -> None:
        """Put a finished game into the journal and the result, unless it is there.

        If Ctrl-C comes while the journal is written, the caller asks a second time.
        """
        number, record = played.task.number, played.record
        if record is None or number in self._result.games:
            return
        if self._journal is not None and number not in self._journal.games:
            self._journal.add(played)
        self._result.games[number] = record

    def _take_fault(self, played: Played) -> bool:
        task, fault = played.task, played.fault or "unknown"
        if self._journal is not None:
            self._journal.add(played)
        self._result.faults += 1
        self._faults[task.number] += 1
        if self._on_fault is not None:
            self._on_fault(task, fault)
        if self._faults[task.number] >= MOST_FAULTS:
            raise RepeatedFaultError(
                f"game {task.number + 1} was broken off {MOST_FAULTS} times, last because: {fault}"
            )
        return True

    def take_up(self) -> None:
        """Show the stop rule the games of the journal."""
        for number, record in self._result.games.items():
            self._ask_stop_rule(self._result.event.tasks[number], record)

    def _ask_stop_rule(self, task: GameTask, record: GameRecord) -> None:
        """End the event if the stop rule says so."""
        if self._stop_rule is None:
            return
        reason = self._stop_rule(task, record)
        if reason is not None and not self._result.complete:
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
