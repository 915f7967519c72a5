"""What a terminal shows while a match or a tournament is played: a line for each game, and a table.

Without a terminal there are the lines alone.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

import chess
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import OWN_OBSERVATIONS, GameRecord
from obscuro.matches.rating import Anchor
from obscuro.matches.report_page import points_text
from obscuro.matches.standings import FIRST, MatchResult, Standings

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


class MatchTable(EventTable):
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
        super().__init__(console, match.event, match.games, held, clock, transient=True)
        self._match = match

    def line(self, task: GameTask, game: GameRecord) -> str:
        """Describe one game in a line, and the match after it."""
        text = f"{super().line(task, game)}; {self._match.tally()}"
        test = self._match.test
        return text if test is None else f"{text}, LLR {test.llr:+.2f}"

    def body(self) -> Iterable[RenderableType]:
        """Return the scores and what follows from them."""
        return [self._scores(), *self._figures()]

    def may_end_early(self) -> bool:
        """Return whether a sequential test may end the match."""
        return self._match.test is not None

    def _scores(self) -> Table:
        """Return a table with a row for each player."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in ("", "points", "won", "drawn", "lost", "as White", "as Black"):
            table.add_column(heading, justify="left" if not heading else "right")
        match = self._match
        all_games, white, black = (
            match.tally(),
            match.tally(FIRST, chess.WHITE),
            match.tally(FIRST, chess.BLACK),
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


class TournamentTable(EventTable):
    """Prints a line for each game. On a terminal the standings so far stand below the lines."""

    def __init__(
        self, console: Console, event: Event, games: Mapping[int, GameRecord], anchor: Anchor
    ) -> None:
        super().__init__(console, event, games, len(games), transient=True)
        self._anchor = anchor
        self._drawn: tuple[int, Table] | None = None  # the number of games, and their standings

    def line(self, task: GameTask, game: GameRecord) -> str:
        """Describe one game in a line, with its opening."""
        return f"{super().line(task, game)}; {task.opening.name}"

    def body(self) -> Iterable[RenderableType]:
        """Return the standings."""
        count = len(self.games)
        if self._drawn is None or self._drawn[0] != count:
            standings = Standings(self.event, self.games, self._anchor)
            self._drawn = count, standings_table(standings)
        return [self._drawn[1]]


def standings_table(standings: Standings) -> Table:
    """Return the rating list as a table for the terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "player", "Elo", "± 95 %", "points", "score", "better than next"):
        table.add_column(heading, justify="left" if heading == "player" else "right")
    ratings = standings.ratings.ratings
    for rank, rating in enumerate(ratings):
        cells = [str(rank + 1), standings.entrants[rating.player].name]
        if rating.games:
            below = ratings[rank + 1].player if rank + 1 < len(ratings) else None
            better = (
                math.nan if below is None else standings.ratings.superiority(rating.player, below)
            )
            cells += [
                f"{rating.elo:+.0f}" + ("*" if rating.loose else ""),
                f"{rating.error:.0f}",
                f"{points_text(rating.points)}/{rating.games}",
                f"{rating.points / rating.games:.1%}",
                "" if math.isnan(better) else f"{better:.1%}",
            ]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def standings_summary(standings: Standings) -> Iterator[str]:
    """Describe in lines what the table does not say."""
    found = standings.ratings
    yield f"White's advantage {found.white_advantage} Elo (95 %)"
    if any(rating.loose for rating in found.ratings):
        yield "* took no point from the main field, or gave it none; a weak prior bounds the distance"
    if found.groups > 1:
        yield f"{found.groups} groups of players have not met; don't compare their ratings"
    for family in standings.families:
        yield f"{family.name}: {family.per_doubling} Elo for each doubling of the time"
    for player, entrant in enumerate(standings.entrants):
        if standings.told(player) != OWN_OBSERVATIONS:
            yield f"{entrant.name} was told {standings.told(player)}"
    for game in standings.irregular():
        yield f"irregular game {game.task.number + 1}: {game.record.ending}"
