"""What a terminal shows while the games of an event are played: a line for each, and a live table.

`MatchTable` and `TournamentTable` say what stands in the lines and the table. Without a terminal
there are the lines alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import GameRecord

_BAR = 40
_MINUTE, _HOUR = 60, 3600


class EventTable:
    """Prints a line for each game, and on a terminal a table below the lines.

    games: receives the finished games from elsewhere; the table only reads it. held: how many games
    are there already. clock: seconds. transient: whether the table disappears at the end.
    """

    def __init__(
        self,
        console: Console,
        event: Event,
        games: Mapping[int, GameRecord],
        held: int = 0,
        clock: Callable[[], float] = time.monotonic,
        *,
        transient: bool = False,
    ) -> None:
        self._console = console
        self.event = event
        self.games = games
        self._clock = clock
        self._begin = clock()
        self._held = held
        self._running = 0
        self._lock = threading.Lock()
        self._live = (
            Live(console=console, auto_refresh=False, transient=transient)
            if console.is_terminal
            else None
        )

    def drawing(self) -> AbstractContextManager[object]:
        """Return the context in which games may be shown."""
        self._begin = self._clock()
        return self._live if self._live is not None else nullcontext()

    def say(self, text: str) -> None:
        """Print a line above the table."""
        with self._lock:
            self._console.print(text, soft_wrap=True)

    def game_begins(self, task: GameTask) -> None:
        """Count a game that begins; any thread may call this."""
        with self._lock:
            self._running += 1
            self._refresh()

    def game_ends(self, task: GameTask, game: GameRecord) -> None:
        """Show a game that has ended and is among the games."""
        self.say(self.line(task, game))
        with self._lock:
            self._running -= 1
            self._refresh()

    def game_breaks_off(self, task: GameTask, fault: str) -> None:
        """Show that the machine broke a game off."""
        self.say(f"game {task.number + 1} was broken off and is played again: {fault}")
        with self._lock:
            self._running -= 1
            self._refresh()

    def line(self, task: GameTask, game: GameRecord) -> str:
        """Describe one game in a line."""
        moves = (len(game.plies) + 1) // 2
        counted = "1 move" if moves == 1 else f"{moves} moves"
        text = f"game {task.number + 1}: {game.white} - {game.black} {game.result}, {game.ending}"
        return f"{text}, {counted}"

    def body(self) -> Iterable[RenderableType]:
        """Return what stands above the progress bar."""
        return ()

    def may_end_early(self) -> bool:
        """Return whether the event may end before all games are played."""
        return False

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._frame(), refresh=True)

    def _frame(self) -> Group:
        agreed, played = len(self.event.tasks), len(self.games)
        bar = Table.grid(padding=(0, 2, 0, 0))
        bar.add_row(
            ProgressBar(total=agreed, completed=played, width=_BAR),
            Text(f"{played} of {agreed} games, {self._running} running"),
        )
        pace = self._pace(agreed - played, played - self._held)
        return Group(*self.body(), bar, *([Text(pace)] if pace else []))

    def _pace(self, left: int, done: int) -> str:
        """Describe how fast games end, and when the last one will."""
        seconds = self._clock() - self._begin
        if done == 0 or seconds <= 0:
            return ""
        rate = done / seconds
        bound = "at most " if self.may_end_early() else ""
        return f"{_MINUTE * rate:.1f} games a minute, {bound}{_duration(left / rate)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
