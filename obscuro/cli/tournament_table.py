"""What `obscuro tournament` shows: the standings, while games are played and at the end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from obscuro.cli.event_table import EventTable
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import OWN_OBSERVATIONS, GameRecord
from obscuro.matches.rating import Anchor
from obscuro.matches.report_page import points_text
from obscuro.matches.standings import Standings


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


def summary(standings: Standings) -> Iterator[str]:
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
