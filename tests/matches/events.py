"""Events for tests, and workers that play them with scripted players."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from obscuro.matches.builtin_players import Warn
from obscuro.matches.event import Entrant, Event, match_games
from obscuro.matches.game_record import Contestant
from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.openings import PLAIN, Opening
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.time_control import TimeControl


def match_event(
    games: int,
    *,
    players: tuple[str, str] = ("random", "random"),
    openings: Sequence[Opening] = (PLAIN,),
    max_plies: int = 12,
    seed: int = 1,
    sprt: SprtBounds | None = None,
    control: TimeControl | None = None,
) -> Event:
    """A match of `a` against `b`."""
    return Event(
        name="a - b",
        entrants=(Entrant("a", players[0]), Entrant("b", players[1])),
        tasks=match_games(games, openings, seed),
        control=control or TimeControl(1),
        max_plies=max_plies,
        sprt=sprt,
    )


def scripted_workers(
    make: Callable[[str], Contestant], concurrency: int = 1, warnings: list[str] | None = None
) -> LocalWorkers:
    """Workers whose players a test makes by the entrant's name."""

    def make_player(entrant: Entrant, warn: Warn, coverage: bool) -> Contestant:
        return make(entrant.name)

    heard = [] if warnings is None else warnings
    return LocalWorkers(concurrency, heard.append, make=make_player)
