"""Rate all players of a tournament by one model over all games.

The expected score of White in a game is that of Bradley and Terry (1952) with an advantage h for
White, in natural units (400 / ln 10 = 173.7 Elo points):

    p = 1 / (1 + exp(-(r_white - r_black + h)))

A draw counts half a point for both. Ratings and h maximise the quasi-likelihood of all scores
(Papke and Wooldridge, 1996). So each player's expected points are its real points, and for two
players the difference is the logistic Elo of the score, as in `elo`, if White has no advantage.
Davidson's own likelihood (1970) would give a point that is worth more where more games are drawn,
and then a match and a tournament would disagree.

Draws follow Davidson's relation: P(draw)² = ν² · P(White wins) · P(Black wins), with the expected
score p above. ν is chosen so that the model expects as many draws as there were. It is reported as
the share of draws between equal players, ν / (2 + ν).

A weak prior, normal with a deviation of `PRIOR_DEVIATION`, keeps the rating of a player finite that
won or lost all its games, and of any that took no point from stronger ones or lost none to weaker
ones. It weighs as much as an eighth of a game between equals.

Errors respect pairs of games (same opening and seed, colours reversed): a pair is one sample. They
are the sandwich estimate with pairs as clusters (Liang and Zeger, 1986), scaled by G / (G - k) for G
pairs and k parameters. If all pairs of two players came out the same, they say nothing about the
spread. Then the model's own variance stands in for theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.matches.elo import Z_95

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

POINTS_PER_UNIT = 400 / math.log(10)
"""Elo points in one natural unit of the logistic curve."""
PRIOR_DEVIATION = 1000.0
"""Standard deviation, in Elo points, of the prior of each rating and of White's advantage."""
_MOST_STEPS = 200
_SMALL_STEP = 1e-10
_MOST_BISECTIONS = 200


class RatedGame(NamedTuple):
    """The result of one game.

    white, black: the players, counted from 0. score: White's points, 1, ½ or 0. pair: the number of
    the pair that the game belongs to.
    """

    white: int
    black: int
    score: float
    pair: int


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of one player.

    elo: Elo points relative to the anchor. error: half the width of the 95 % interval; 0 for a
    player that is the anchor, infinite for a player without games. group: the number of the group
    of players that met each other, directly or by way of others. loose: only the prior ties the
    player to most of its group, because points went one way alone.
    """

    player: int
    elo: float
    error: float
    games: int
    points: float
    group: int
    loose: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with half the width of its 95 % interval."""

    value: float
    error: float

    def __str__(self) -> str:
        """Format as `+35.2 ± 20.1`."""
        return f"{self.value:+.1f} ± {self.error:.1f}"


class Anchor(NamedTuple):
    """What fixes the zero of the ratings: a player with a given rating. None: the mean."""

    player: int | None = None
    elo: float = 0.0


MEAN_IS_ZERO = Anchor()


@dataclass(frozen=True, slots=True)
class RatingList:
    """The ratings of all players, the best first.

    white_advantage: in Elo points. draw_rate: the share of draws that the model expects between
    equal players without White's advantage. groups: the number of groups of players that never met.
    covariance: of the ratings by player, float64[players, players], in squared Elo points.
    """

    ratings: tuple[Rating, ...]
    white_advantage: Estimate
    draw_rate: float
    groups: int
    covariance: Floats  # [players, players]

    def of(self, player: int) -> Rating:
        """Return the rating of one player."""
        return next(rating for rating in self.ratings if rating.player == player)

    def difference(self, first: int, second: int) -> Estimate:
        """Return by how many points *first* is rated above *second*, with its own error."""
        one, other = self.of(first), self.of(second)
        if one.group != other.group:
            return Estimate(math.nan, math.inf)
        covariance = self.covariance
        variance = (
            covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        )
        return Estimate(one.elo - other.elo, Z_95 * math.sqrt(max(0.0, float(variance))))

    def superiority(self, first: int, second: int) -> float:
        """Return the likelihood that *first* is stronger than *second*, from 0 to 1.

        It is NaN for players of two groups that never met.
        """
        difference = self.difference(first, second)
        if math.isnan(difference.value):
            return math.nan
        if difference.error == 0:
            return 0.5
        return 0.5 * (1 + math.erf(difference.value * Z_95 / difference.error / math.sqrt(2)))


def rate(games: Sequence[RatedGame], players: int, anchor: Anchor = MEAN_IS_ZERO) -> RatingList:
    """Rate players by all their games.

    anchor: its player gets its rating exactly. Without a player, the mean of the ratings is its
    rating. In every other group of players that never met the anchor's, the mean is 0.
    """
    white = np.array([game.white for game in games], dtype=np.int64)
    black = np.array([game.black for game in games], dtype=np.int64)
    scores = np.array([game.score for game in games], dtype=np.float64)
    pairs = np.array([game.pair for game in games], dtype=np.int64)
    groups = connected_groups(white, black, players)
    loose = loose_players(groups, tiers(white, black, scores, players))

    design = _design(white, black, players)
    parameters = _fit(design, scores)
    expected = _logistic(design @ parameters)
    covariance = _covariance(design, scores, expected, white, black, pairs, groups)
    contrast, offset = _anchoring(groups, anchor, parameters[:players] * POINTS_PER_UNIT)
    elo = contrast @ (parameters[:players] * POINTS_PER_UNIT) + offset
    rated = contrast @ covariance[:players, :players] @ contrast.T * POINTS_PER_UNIT**2
    errors = Z_95 * np.sqrt(np.maximum(np.diag(rated), 0.0))

    counts = np.bincount(white, minlength=players) + np.bincount(black, minlength=players)
    points = np.bincount(white, scores, players) + np.bincount(black, 1 - scores, players)
    ratings = [
        Rating(
            player=player,
            elo=float(elo[player]),
            error=float(errors[player]) if counts[player] else math.inf,
            games=int(counts[player]),
            points=float(points[player]),
            group=int(groups[player]),
            loose=bool(loose[player]),
        )
        for player in range(players)
    ]
    ratings.sort(key=lambda rating: (rating.group, -rating.elo, rating.player))
    return RatingList(
        ratings=tuple(ratings),
        white_advantage=Estimate(
            float(parameters[players]) * POINTS_PER_UNIT,
            Z_95 * math.sqrt(float(covariance[players, players])) * POINTS_PER_UNIT,
        ),
        draw_rate=_draw_rate(expected, int(np.sum(scores == 0.5))),
        groups=int(groups.max(initial=-1)) + 1,
        covariance=rated,
    )


def _design(white: Ints, black: Ints, players: int) -> Floats:
    """Return float64[games, players + 1]: 1 for White, -1 for Black, 1 for White's advantage."""
    design = np.zeros((len(white), players + 1))
    rows = np.arange(len(white))
    design[rows, white] = 1.0
    design[rows, black] -= 1.0
    design[:, players] = 1.0
    return design


def _logistic(units: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(units / 2)), dtype=np.float64)


def _prior_information(parameters: int) -> Floats:
    """Return the prior's information, diagonal float64[parameters, parameters]."""
    return np.asarray(np.eye(parameters) * (POINTS_PER_UNIT / PRIOR_DEVIATION) ** 2)


def _fit(design: Floats, scores: Floats) -> Floats:
    """Return the parameters of greatest posterior, by Newton's method; the posterior is concave."""
    prior = _prior_information(design.shape[1])

    def objective(parameters: Floats) -> float:
        units = design @ parameters
        likelihood = float(scores @ units - np.sum(np.logaddexp(0.0, units)))
        return likelihood - float(parameters @ prior @ parameters) / 2

    parameters = np.zeros(design.shape[1])
    value = objective(parameters)
    for _ in range(_MOST_STEPS):
        expected = _logistic(design @ parameters)
        gradient = design.T @ (scores - expected) - prior @ parameters
        step = np.linalg.solve(_information(design, expected) + prior, gradient)
        while (after := objective(parameters + step)) < value and np.max(np.abs(step)) > 0:
            step = step / 2
        parameters, value = parameters + step, after
        if np.max(np.abs(step)) < _SMALL_STEP:
            return parameters
    raise ArithmeticError("the ratings did not converge")


def _information(design: Floats, expected: Floats) -> Floats:
    """Return the information of these games in the model: float64[parameters, parameters]."""
    weights = expected * (1 - expected)
    return np.asarray(design.T @ (design * weights[:, None]), dtype=np.float64)


def _covariance(
    design: Floats,
    scores: Floats,
    expected: Floats,
    white: Ints,
    black: Ints,
    pairs: Ints,
    groups: Ints,
) -> Floats:
    """Return the sandwich covariance of the parameters with pairs of games as clusters."""
    size = design.shape[1]
    prior = _prior_information(size)
    free = size - (int(groups.max(initial=-1)) + 1)
    numbers, cluster = np.unique(pairs, return_inverse=True)
    sums = np.zeros((len(numbers), size))
    np.add.at(sums, cluster, design * (scores - expected)[:, None])

    enough = len(numbers) > free
    scale = len(numbers) / (len(numbers) - free) if enough else 1.0
    meat = prior.copy()
    lower, higher = np.minimum(white, black), np.maximum(white, black)
    points = np.where(white < black, scores, 1 - scores)  # the lower player's
    for one, other in sorted(set(zip(lower.tolist(), higher.tolist(), strict=True))):
        chosen = (lower == one) & (higher == other)
        if enough and _differ(points[chosen], cluster[chosen]):
            rows = sums[np.unique(cluster[chosen])]
            meat += scale * rows.T @ rows
        else:
            meat += _information(design[chosen], expected[chosen])
    inverse = np.linalg.inv(_information(design, expected) + prior)
    return np.asarray(inverse @ meat @ inverse, dtype=np.float64)


def _differ(points: Floats, cluster: Ints) -> bool:
    """Return whether the mean score differs among the pairs of two players."""
    index = np.unique(cluster, return_inverse=True)[1]
    means = np.bincount(index, points) / np.bincount(index)
    return bool(np.ptp(means) > 0)


def _anchoring(groups: Ints, anchor: Anchor, elo: Floats) -> tuple[Floats, Floats]:
    """Return the contrasts, float64[players, players], and the offsets of all ratings."""
    players = len(groups)
    contrast, offset = np.eye(players), np.zeros(players)
    for group in range(int(groups.max(initial=-1)) + 1):
        members = groups == group
        if anchor.player is not None and members[anchor.player]:
            contrast[members, anchor.player] -= 1.0
            offset[members] = anchor.elo
        else:
            contrast[np.ix_(members, members)] -= 1 / members.sum()
            offset[members] = anchor.elo if anchor.player is None else 0.0
    return contrast, offset


def draw_share(expected: Floats, nu: float) -> Floats:
    """Return the probability of a draw by Davidson's relation, float64[games].

    expected: White's expected scores, float64[games] in [0, 1]. nu: Davidson's ν, not negative.
    """
    both = expected * (1 - expected)
    root = np.sqrt(nu**2 * (0.25 - both) + 4 * both)
    return np.asarray(2 * nu * both / (nu / 2 + root), dtype=np.float64)


def _draw_rate(expected: Floats, draws: int) -> float:
    """Return the share of draws between equals with which the model expects *draws* draws."""
    if draws == 0:
        return 0.0
    if draws == len(expected):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_MOST_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if float(draw_share(expected, 2 * middle / (1 - middle)).sum()) < draws:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# -- what games connect -------------------------------------------------------------------------
# Ratings of players that are not connected by meetings can't be compared. Those that are connected
# by meetings, but not by points in both directions, would be infinitely far apart (Ford, 1957).


def connected_groups(white: Ints, black: Ints, players: int) -> Ints:
    """Return the group of each player, int64[players]; players who met are in one group.

    white, black: int64[games]. Groups count from 0, in the order of their first players.
    """
    met = np.eye(players, dtype=bool)
    met[white, black] = met[black, white] = True
    return _classes(_reached(met))


def tiers(white: Ints, black: Ints, scores: Floats, players: int) -> Ints:
    """Return the tier of each player, int64[players].

    Two players are in one tier if each took points from the other, directly or by way of others.
    white, black: int64[games]. scores: White's points, float64[games]. Tiers count from 0, in the
    order of their first players.
    """
    took = np.eye(players, dtype=bool)
    took[white[scores > 0], black[scores > 0]] = True
    took[black[scores < 1], white[scores < 1]] = True
    reached = _reached(took)
    return _classes(reached & reached.T)


def loose_players(groups: Ints, tier: Ints) -> Bools:
    """Return which players only a prior ties to others of their group, bool[players].

    These are all players outside of the group's largest tier; of equal ones the first is taken for
    the largest. groups, tier: int64[players].
    """
    loose = np.zeros(len(groups), dtype=bool)
    for group in np.unique(groups):
        members = groups == group
        numbers, counts = np.unique(tier[members], return_counts=True)
        loose |= members & (tier != numbers[counts.argmax()])
    return loose


def _reached(steps: Bools) -> Bools:
    """Return which players can be reached from which, bool[players, players], by any steps."""
    while True:
        further = steps @ steps
        if np.array_equal(further, steps):
            return steps
        steps = further


def _classes(same: Bools) -> Ints:
    """Number the classes of an equivalence, bool[players, players], in order of appearance."""
    firsts = same.argmax(axis=1) if len(same) else np.zeros(0, dtype=np.int64)
    return np.unique(firsts, return_inverse=True)[1].astype(np.int64)
