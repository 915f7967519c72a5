"""What `obscuro match` shows while games are played: a live table, or plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import chess
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from obscuro.cli.event_table import EventTable
from obscuro.matches.event import GameTask
from obscuro.matches.game_record import GameRecord
from obscuro.matches.standings import FIRST, MatchResult


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
