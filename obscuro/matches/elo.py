"""Estimate the Elo difference of two players and its confidence interval.

The score s is the mean result of the games: a win counts 1, a draw ½, a loss 0. It is worth
d = -400·log10(1/s - 1) Elo points. The 95 % interval is s ± 1.96·e with both ends converted to Elo.
Here e is the standard error of the mean of independent samples:

- trinomial: each game is a sample.
- pentanomial: each pair of games with colours reversed is a sample, the mean of its two results
  (0, ¼, ½, ¾ or 1). White's advantage adds to the variance of single games; in pairs it cancels.

If all samples are equal, for example if all games were won, e would be 0. Then the interval is
Wilson's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.959963984540054
"""95 % of the normal distribution lies within this many standard deviations of its mean."""


@dataclass(frozen=True, slots=True)
class Elo:
    """A difference in Elo points with its 95 % interval, in the first player's view.

    Each value may be infinite.
    """

    difference: float
    low: float
    high: float

    def __str__(self) -> str:
        """Format as `+35.2 ± 20.1`, or state only the finite values."""
        low, high = math.isfinite(self.low), math.isfinite(self.high)
        if low and high:
            return f"{self.difference:+.1f} ± {(self.high - self.low) / 2:.1f}"
        parts = [f"{self.difference:+.1f}"] if math.isfinite(self.difference) else []
        parts += [f"at least {self.low:+.1f}"] if low else []
        parts += [f"at most {self.high:+.1f}"] if high else []
        return ", ".join(parts) or "unknown"


@dataclass(frozen=True, slots=True)
class Tally:
    """The numbers of wins, draws and losses, in the first player's view."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @classmethod
    def of(cls, scores: Sequence[float]) -> Tally:
        """Count results of 1, ½ and 0."""
        return cls(scores.count(1.0), scores.count(0.5), scores.count(0.0))

    def __add__(self, other: Tally) -> Tally:
        """Return the numbers of both together."""
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """The first player's points: a win counts 1, a draw ½."""
        return self.wins + self.draws / 2

    def __str__(self) -> str:
        """Format as `wins/draws/losses`."""
        return f"{self.wins}/{self.draws}/{self.losses}"


def elo_of_score(score: float) -> float:
    """Return the Elo difference at which *score*, in [0, 1], is the expected score."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def score_of_elo(difference: float) -> float:
    """Return the expected score, in (0, 1), of a player who is stronger by *difference* Elo points."""
    return 1 / (1 + 10 ** (-difference / 400))


def elo_of_samples(samples: Sequence[float]) -> Elo:
    """Estimate the difference from independent scores in [0, 1], of games or of pairs."""
    if not samples:
        return Elo(math.nan, -math.inf, math.inf)
    count = len(samples)
    mean = sum(samples) / count
    variance = sum((sample - mean) ** 2 for sample in samples) / count
    if variance > 0:
        reach = Z_95 * math.sqrt(variance / count)
        low, high = mean - reach, mean + reach
    else:
        low, high = _wilson(mean, count)
    return Elo(elo_of_score(mean), elo_of_score(low), elo_of_score(high))


def trinomial(tally: Tally) -> Elo:
    """Estimate the difference from single games."""
    return elo_of_samples([1.0] * tally.wins + [0.5] * tally.draws + [0.0] * tally.losses)


def pentanomial(pairs: Sequence[tuple[float, float]]) -> Elo:
    """Estimate the difference from pairs of games with colours reversed.

    pairs: the first player's two results in each pair.
    """
    return elo_of_samples([(first + second) / 2 for first, second in pairs])


def _wilson(score: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a proportion."""
    square = Z_95**2
    middle = (score + square / (2 * count)) / (1 + square / count)
    reach = Z_95 * math.sqrt(score * (1 - score) / count + square / (4 * count**2))
    reach /= 1 + square / count
    # For a score of 0 or 1 one end is exactly the score; rounding must not move it.
    low = 0.0 if score == 0 else middle - reach
    return low, 1.0 if score == 1 else middle + reach
