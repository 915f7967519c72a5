"""The standings of a tournament: ratings, cross table, openings and endings, all from its games."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import chess

from obscuro.matches.elo import Elo, Tally, elo_of_samples
from obscuro.matches.entrant import Entrant
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import EVERYTHING, OWN_OBSERVATIONS, GameRecord
from obscuro.matches.rating import MEAN_IS_ZERO, Anchor, RatedGame, RatingList, rate
from obscuro.matches.statistics import Statistics
from obscuro.matches.time_scaling import TimeFamily, time_families


class SeatedGame(NamedTuple):
    """A finished game and its place in the event."""

    task: GameTask
    record: GameRecord

    def score(self, player: int) -> float:
        """Return the points of one of its two players."""
        return self.record.score(chess.WHITE if self.task.white == player else chess.BLACK)


@dataclass(frozen=True, slots=True)
class Encounter:
    """The games of two players, in the first one's view. A pair of games is one sample for elo."""

    tally: Tally
    elo: Elo


class Results(NamedTuple):
    """The numbers of games that White won, that were drawn, and that Black won."""

    white: int = 0
    drawn: int = 0
    black: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(self)


class Standings:
    """What the finished games of an event say.

    games: the finished games by number. anchor: what fixes the zero of the ratings.
    """

    def __init__(
        self, event: Event, games: Mapping[int, GameRecord], anchor: Anchor = MEAN_IS_ZERO
    ) -> None:
        self.event = event
        self.anchor = anchor
        self.games = [
            SeatedGame(task, games[task.number]) for task in event.tasks if task.number in games
        ]

    @property
    def entrants(self) -> Sequence[Entrant]:
        """The players, by number."""
        return self.event.entrants

    @cached_property
    def ratings(self) -> RatingList:
        """The ratings of all players by one model over all games."""
        results = [
            RatedGame(task.white, task.black, record.score(chess.WHITE), task.pair)
            for task, record in self.games
        ]
        return rate(results, len(self.entrants), self.anchor)

    @cached_property
    def order(self) -> list[int]:
        """The players' numbers, the best rated first."""
        return [rating.player for rating in self.ratings.ratings]

    @cached_property
    def families(self) -> list[TimeFamily]:
        """The families of players that differ only in their time for a move."""
        return time_families(self.entrants, self.event.control, self.ratings)

    @cached_property
    def _meetings(self) -> dict[tuple[int, int], list[SeatedGame]]:
        found: dict[tuple[int, int], list[SeatedGame]] = defaultdict(list)
        for game in self.games:
            found[game.task.white, game.task.black].append(game)
        return found

    def tally(self, player: int) -> Tally:
        """Count one player's results."""
        return Tally.of([game.score(player) for game in self._of(player)])

    def encounter(self, first: int, second: int) -> Encounter | None:
        """Return the result of two players' games; None if there are none."""
        games = self._meetings.get((first, second), []) + self._meetings.get((second, first), [])
        if not games:
            return None
        pairs: dict[int, list[float]] = defaultdict(list)
        for game in games:
            pairs[game.task.pair].append(game.score(first))
        samples = [sum(scores) / len(scores) for scores in pairs.values()]
        tally = Tally.of([game.score(first) for game in games])
        return Encounter(tally, elo_of_samples(samples))

    def statistics(self, player: int) -> Statistics:
        """Compute the statistics of all moves of one player."""
        turns = [
            turn
            for game in self._of(player)
            for turn in game.record.turns(game.task.white == player)
        ]
        return Statistics.of(turns, self.event.control_of(player).movetime)

    def told(self, player: int) -> str:
        """Return what the player was told: EVERYTHING if it was told all of any of its games."""
        told = {game.record.told[game.task.white == player] for game in self._of(player)}
        return EVERYTHING if EVERYTHING in told else OWN_OBSERVATIONS

    def irregular(self) -> list[SeatedGame]:
        """Return the games that the rules did not end."""
        return [game for game in self.games if not game.record.regular]

    def results(self) -> Results:
        """Count the results of all games."""
        return _count(game.record.result for game in self.games)

    def openings(self) -> dict[str, Results]:
        """Count the results by opening, in the order of the openings' names."""
        found = defaultdict(list)
        for task, record in self.games:
            found[task.opening.name].append(record.result)
        return {name: _count(found[name]) for name in sorted(found)}

    def endings(self) -> list[tuple[str, int]]:
        """Return how games ended, and how often, the most frequent first."""
        return Counter(game.record.ending for game in self.games).most_common()

    def _of(self, player: int) -> list[SeatedGame]:
        return [game for game in self.games if player in (game.task.white, game.task.black)]


def _count(results: Iterable[str]) -> Results:
    counts = Counter(results)
    return Results(counts["1-0"], counts["1/2-1/2"], counts["0-1"])
