"""What the finished games of an event say: scores, a match's pairs and test, a tournament's ratings.

All of it is read from the games of one store (`journal.EventStore`); nothing here keeps a game.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import chess
import numpy as np

from obscuro.matches.elo import Z_95, Elo, Tally, elo_of_samples, pentanomial, trinomial
from obscuro.matches.event import Entrant, Event, GameTask
from obscuro.matches.game_record import EVERYTHING, OWN_OBSERVATIONS, GameRecord, Turn
from obscuro.matches.rating import MEAN_IS_ZERO, Anchor, Estimate, RatedGame, RatingList, rate
from obscuro.matches.sprt import PAIR_SCORES, SequentialTest
from obscuro.matches.time_control import MILLISECONDS, TimeControl

FIRST, SECOND = 0, 1
"""The entrants of a match."""


# -- the moves of a player ----------------------------------------------------------------------


QUANTITIES = {
    "belief": "mean |P|",
    "nodes": "nodes",
    "infosets": "infosets",
    "carried": "carried",
    "iterations": "iterations",
    "expansions": "expansions",
    "evaluations": "evals",
    "depth": "depth",
}
"""The averaged quantities: field of `Report` to heading in tables."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of some moves of one player.

    means: the mean of each quantity over the moves whose report states it; None if none does.
    largest_belief: the largest |P|. inexact: number of moves with an incomplete belief.
    seconds: mean time of a move. overrun: the largest excess over the allowed time, in
    milliseconds; negative if every move came early; None without moves, or on a clock.
    belief_checks: how often the true position was found in P.
    """

    moves: int
    means: dict[str, float | None]
    largest_belief: int | None
    inexact: int
    seconds: float
    overrun: float | None
    belief_checks: int

    @classmethod
    def of(cls, turns: Sequence[Turn], movetime: int | None) -> Statistics:
        """Compute the statistics of *turns*.

        movetime: milliseconds that each move was allowed; None if the player had a clock.
        """
        reports = [turn.report for turn in turns if turn.report is not None]
        beliefs = [report.belief for report in reports if report.belief is not None]
        return cls(
            moves=len(turns),
            means={
                quantity: _mean(
                    value for r in reports if (value := getattr(r, quantity)) is not None
                )
                for quantity in QUANTITIES
            },
            largest_belief=max(beliefs, default=None),
            inexact=sum(report.exact is False for report in reports),
            seconds=_mean(turn.seconds for turn in turns) or 0.0,
            overrun=None
            if movetime is None
            else max((turn.seconds * 1000 - movetime for turn in turns), default=None),
            belief_checks=sum(turn.belief_checks for turn in turns),
        )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None


def number(value: float | None, digits: int = 0) -> str:
    """Format a number for a table, with commas between thousands; `-` for None."""
    return "-" if value is None else f"{value:,.{digits}f}"


# -- the games of an event ----------------------------------------------------------------------


class SeatedGame(NamedTuple):
    """A finished game and its place in the event."""

    task: GameTask
    record: GameRecord

    def score(self, player: int) -> float:
        """Return the points of one of its two players."""
        return self.record.score(self.task.white == player)


class PlayedGames:
    """The finished games of an event, by player.

    games: by number, in the order in which they ended; more may be added while this is in use.
    """

    def __init__(self, event: Event, games: Mapping[int, GameRecord]) -> None:
        self.event = event
        self.games = games

    @property
    def entrants(self) -> Sequence[Entrant]:
        """The players, by number."""
        return self.event.entrants

    def seated(self, player: int | None = None) -> list[SeatedGame]:
        """Return the games by number: all, or those of one player."""
        return [
            SeatedGame(task, self.games[task.number])
            for task in self.event.tasks
            if task.number in self.games and player in (None, task.white, task.black)
        ]

    def tally(self, player: int = FIRST, color: chess.Color | None = None) -> Tally:
        """Count one player's results, in all games or in those with one colour."""
        games = self.seated(player)
        return Tally.of([g.score(player) for g in games if color in (None, g.task.white == player)])

    def statistics(self, player: int) -> Statistics:
        """Compute the statistics of all moves of one player."""
        turns = [
            turn
            for game in self.seated(player)
            for turn in game.record.turns(game.task.white == player)
        ]
        return Statistics.of(turns, self.event.control_of(player).movetime)

    def told(self, player: int) -> str:
        """Return what the player was told: EVERYTHING if it was told all of any of its games."""
        told = {game.record.told[game.task.white == player] for game in self.seated(player)}
        return EVERYTHING if EVERYTHING in told else OWN_OBSERVATIONS

    def irregular(self) -> list[SeatedGame]:
        """Return the games that the rules did not end."""
        return [game for game in self.seated() if not game.record.regular]


class MatchResult(PlayedGames):
    """The games between entrants 0 and 1 of an event, from the first one's view."""

    def __init__(self, event: Event, games: Mapping[int, GameRecord]) -> None:
        super().__init__(event, games)
        self._lock = threading.Lock()  # a table asks from other threads
        self._counted = 0  # games that the following know
        self._pairs: list[tuple[float, float]] = []
        self._single: dict[int, float] = {}  # games without their twin: pair to score
        self._test = None if event.sprt is None else SequentialTest(event.sprt)

    def _count(self) -> None:
        """Take in the games that have ended since the last call, in their order."""
        with self._lock:
            for number in list(self.games)[self._counted :]:
                self._counted += 1
                task, score = self.event.tasks[number], self.score(number)
                if task.pair not in self._single:
                    self._single[task.pair] = score
                    continue
                pair = (self._single.pop(task.pair), score)
                self._pairs.append(pair)
                if self._test is not None:
                    self._test.add(sum(pair) / 2)

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The first player's two results in each complete pair, by the time of its completion."""
        self._count()
        return self._pairs

    @property
    def test(self) -> SequentialTest | None:
        """The sequential test of these pairs; None if the event has none."""
        self._count()
        return self._test

    def decision(self) -> str | None:
        """Return why the match ends before all games are played; None if it goes on."""
        test = self.test
        return None if test is None or test.accepted is None else f"SPRT accepted {test.accepted}"

    @property
    def first(self) -> str:
        """The name of the first player."""
        return self.entrants[FIRST].name

    @property
    def second(self) -> str:
        """The name of the second player."""
        return self.entrants[SECOND].name

    def first_color(self, number: int) -> chess.Color:
        """Return the colour of the first player in this game."""
        return self.event.tasks[number].white == FIRST

    def score(self, number: int) -> float:
        """Return the first player's points in this game."""
        return self.games[number].score(self.first_color(number))

    def pair_counts(self) -> list[int]:
        """Count the pairs by their score, the mean of two results: 0, ¼, ½, ¾ and 1."""
        counts = Counter(sum(pair) / 2 for pair in self.pairs)
        return [counts[score] for score in PAIR_SCORES]

    def elo(self) -> Elo:
        """Estimate the first player's advantage, from complete pairs if there are any.

        A game without its twin then counts in the score only.
        """
        return pentanomial(self.pairs) if self.pairs else trinomial(self.tally())


# -- a tournament -------------------------------------------------------------------------------


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


class Standings(PlayedGames):
    """A tournament after the games that there are when it is first asked.

    anchor: what fixes the zero of the ratings.
    """

    def __init__(
        self, event: Event, games: Mapping[int, GameRecord], anchor: Anchor = MEAN_IS_ZERO
    ) -> None:
        super().__init__(event, games)
        self.anchor = anchor

    @cached_property
    def ratings(self) -> RatingList:
        """The ratings of all players by one model over all games."""
        results = [
            RatedGame(task.white, task.black, record.score(chess.WHITE), task.pair)
            for task, record in self.seated()
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

    def encounter(self, first: int, second: int) -> Encounter | None:
        """Return the result of two players' games; None if there are none."""
        games = [g for g in self.seated(first) if second in (g.task.white, g.task.black)]
        if not games:
            return None
        pairs: dict[int, list[float]] = defaultdict(list)
        for game in games:
            pairs[game.task.pair].append(game.score(first))
        samples = [sum(scores) / len(scores) for scores in pairs.values()]
        tally = Tally.of([game.score(first) for game in games])
        return Encounter(tally, elo_of_samples(samples))

    def results(self) -> Results:
        """Count the results of all games."""
        return _count_results(game.record.result for game in self.seated())

    def openings(self) -> dict[str, Results]:
        """Count the results by opening, in the order of the openings' names."""
        found = defaultdict(list)
        for task, record in self.seated():
            found[task.opening.name].append(record.result)
        return {name: _count_results(found[name]) for name in sorted(found)}

    def endings(self) -> list[tuple[str, int]]:
        """Return how games ended, and how often, the most frequent first."""
        return Counter(game.record.ending for game in self.seated()).most_common()


def _count_results(results: Iterable[str]) -> Results:
    counts = Counter(results)
    return Results(counts["1-0"], counts["1/2-1/2"], counts["0-1"])


# -- what more time is worth --------------------------------------------------------------------


LEAST_MEMBERS = 3
"""A family of fewer players makes no curve."""


@dataclass(frozen=True, slots=True)
class TimeFamily:
    """Players that differ only in their time for a move.

    members: the players' numbers, by time. seconds: the time of each. errors: half the 95 % interval
    of each one's rating relative to the mean of the members, so without what is unknown about the
    distance from the family to other players. per_doubling: the Elo points
    that a doubling of the time is worth, fitted to all members by generalised least squares with
    the ratings' covariance. level: the fitted line's rating at the mean of log2 of the seconds.
    """

    name: str
    members: tuple[int, ...]
    seconds: tuple[float, ...]
    errors: tuple[float, ...]
    per_doubling: Estimate
    level: float

    @property
    def middle(self) -> float:
        """The mean of log2 of the seconds, where the fitted line has its level."""
        return sum(math.log2(each) for each in self.seconds) / len(self.seconds)

    def steps(self, ratings: RatingList) -> list[Estimate]:
        """Return the gain per doubling between each two members next to each other."""
        found = []
        for index in range(len(self.members) - 1):
            gain = ratings.difference(self.members[index + 1], self.members[index])
            doublings = math.log2(self.seconds[index + 1] / self.seconds[index])
            found.append(Estimate(gain.value / doublings, gain.error / doublings))
        return found


def time_families(
    entrants: Sequence[Entrant], control: TimeControl, ratings: RatingList
) -> list[TimeFamily]:
    """Return the families of at least `LEAST_MEMBERS` players that differ only in time.

    control: the time of entrants without their own. Players on a clock are in no family. Neither
    are players without games or in another group of players than the family's first.
    """
    found: dict[tuple[str, tuple[tuple[str, str], ...]], dict[int, int]] = defaultdict(dict)
    for number, entrant in enumerate(entrants):
        movetime = (entrant.control or control).movetime
        if movetime and ratings.of(number).games:
            key = entrant.player, tuple(sorted(entrant.options.items()))
            found[key].setdefault(movetime, number)
    families = []
    for times in found.values():
        groups = [ratings.of(number).group for number in times.values()]
        if len(times) >= LEAST_MEMBERS and len(set(groups)) == 1:
            members = tuple(times[time] for time in sorted(times))
            seconds = tuple(time / MILLISECONDS for time in sorted(times))
            families.append(_fitted(_family_name(entrants, members), members, seconds, ratings))
    return families


def _fitted(
    name: str, members: tuple[int, ...], seconds: tuple[float, ...], ratings: RatingList
) -> TimeFamily:
    """Fit a line through a family's ratings against log2 of the time."""
    logarithms = np.log2(np.array(seconds))
    design = np.stack([np.ones(len(members)), logarithms - logarithms.mean()], axis=1)
    elo = np.array([ratings.of(number).elo for number in members])
    covariance = ratings.covariance[np.ix_(members, members)]
    contrast = np.eye(len(members)) - 1 / len(members)
    variances = np.diag(contrast @ covariance @ contrast.T)
    errors = tuple(Z_95 * math.sqrt(max(0.0, float(variance))) for variance in variances)
    # Ratings are relative, so their covariance is singular along a common shift. Any variance of
    # the shift may be added: the level takes it up, the slope stays the same.
    covariance = covariance + max(1.0, float(np.trace(covariance)))
    weighted = np.linalg.solve(covariance, design)
    information = design.T @ weighted
    level, slope = np.linalg.solve(information, weighted.T @ elo)
    deviation = math.sqrt(float(np.linalg.inv(information)[1, 1]))
    gain = Estimate(float(slope), Z_95 * deviation)
    return TimeFamily(name, members, seconds, errors, gain, float(level))


def _family_name(entrants: Sequence[Entrant], members: tuple[int, ...]) -> str:
    """Return what the members' names begin with in common, else what they all are."""
    names = [entrants[number].name for number in members]
    common = ""
    for words in zip(*(name.split() for name in names), strict=False):
        if len(set(words)) > 1:
            break
        common += f" {words[0]}"
    return common.strip() or entrants[members[0]].player
