"""What `obscuro match` shows while games are played: a live table, or plain lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import chess
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from obscuro.arena.event import GameTask
from obscuro.arena.game_record import GameRecord
from obscuro.arena.match import MatchResult

_BAR = 40
_MINUTE, _HOUR = 60, 3600


class MatchTable:
    """Prints a line for each game. On a terminal a table below the lines shows the match so far.

    match: receives the games from elsewhere; the table only reads it. held: how many games are
    there already. clock: seconds.
    """

    def __init__(
        self,
        console: Console,
        match: MatchResult,
        held: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._match = match
        self._clock = clock
        self._begin = clock()
        self._held = held
        self._running = 0
        self._lock = threading.Lock()
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None

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
        """Show a game that has ended and is in the match."""
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
        """Describe one game in a line, and the match after it."""
        moves = (len(game.plies) + 1) // 2
        counted = "1 move" if moves == 1 else f"{moves} moves"
        text = f"game {task.number + 1}: {game.white} - {game.black} {game.result}, {game.ending}"
        text += f", {counted}; {self._match.tally()}"
        test = self._match.test
        return text if test is None else f"{text}, LLR {test.llr:+.2f}"

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._frame(), refresh=True)

    def _frame(self) -> Group:
        agreed, played = len(self._match.event.tasks), len(self._match.games)
        bar = Table.grid(padding=(0, 2, 0, 0))
        bar.add_row(
            ProgressBar(total=agreed, completed=played, width=_BAR),
            Text(f"{played} of {agreed} games, {self._running} running"),
            Text(self._pace(agreed - played, played - self._held)),
        )
        return Group(self._scores(), *self._figures(), bar)

    def _scores(self) -> Table:
        """Return a table with a row for each player."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in ("", "points", "won", "drawn", "lost", "as White", "as Black"):
            table.add_column(heading, justify="left" if not heading else "right")
        match = self._match
        all_games, white, black = (
            match.tally(),
            match.tally(chess.WHITE),
            match.tally(chess.BLACK),
        )
        for name, (wins, losses), colours in (
            (match.first, (all_games.wins, all_games.losses), (white.points, black.points)),
            (
                match.second,
                (all_games.losses, all_games.wins),
                (black.games - black.points, white.games - white.points),
            ),
        ):
            numbers = (wins + all_games.draws / 2, wins, all_games.draws, losses, *colours)
            table.add_row(Text(name), *(f"{number:g}" for number in numbers))
        return table

    def _figures(self) -> list[Text]:
        match = self._match
        counts = " ".join(str(count) for count in match.pair_counts())
        lines = [Text(f"Elo {match.elo()} (95 %)   pairs {len(match.pairs)}: {counts}")]
        if match.test is not None:
            bounds = match.test.bounds
            lines.append(
                Text(f"LLR {match.test.llr:+.2f} ({bounds.lower:.2f}, {bounds.upper:.2f})")
            )
        return lines

    def _pace(self, left: int, done: int) -> str:
        """Describe how fast games end, and when the last one will."""
        seconds = self._clock() - self._begin
        if done == 0 or seconds <= 0:
            return ""
        rate = done / seconds
        bound = "at most " if self._match.test is not None else ""
        return f"{_MINUTE * rate:.1f} games a minute, {bound}{_duration(left / rate)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
