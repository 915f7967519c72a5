"""A sequential test of who is stronger: it ends as soon as the games decide (SPRT).

The test is the generalised sequential probability ratio test (Li, Liu & Ying, *Generalized
sequential probability ratio test for separate families of hypotheses*, 2014) on pairs of games, as
Stockfish's fishtest makes it (Van den Bergh, *A practical introduction to the GSPRT*). Nothing is
assumed of how often games are drawn, or of how far the two games of a pair depend on each other.

A pair is worth 0, ¼, ½, ¾ or 1 point. A hypothesis says that the mean of this score is what an
advantage of `elo0` or `elo1` points (logistic Elo) promises. Under each hypothesis the likelihood of
the pairs seen so far is maximised over all distributions on the five values that have this mean.
The logarithm of the ratio, H1 over H0, is the LLR. The test accepts H1 when the LLR reaches
log((1 - β) / α), and H0 when it falls to log(β / (1 - α)) (Wald's bounds).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from obscuro.matches.elo import score_of_elo

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
UNSEEN = 1e-3
"""The count of a value that no pair had, as in fishtest."""
_TOLERANCE = 1e-12
_MOST_STEPS = 200

H0, H1 = "H0", "H1"


@dataclass(frozen=True, slots=True)
class SprtBounds:
    """Two hypotheses about the first player's advantage, and the error rates of the test.

    elo0, elo1: the advantage under H0 and H1, logistic Elo. alpha: how often H1 may be accepted
    where H0 is true. beta: how often H0 may be accepted where H1 is true.
    """

    elo0: float = 0.0
    elo1: float = 15.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Make all numbers floats. Raises ValueError for a test that can't be made."""
        for name, value in asdict(self).items():
            object.__setattr__(self, name, float(value))
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ValueError(f"elo0={self.elo0:g} must be less than elo1={self.elo1:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"{name}={value:g} must lie between 0 and 0.5")

    @classmethod
    def parse(cls, words: Iterable[str]) -> SprtBounds:
        """Read words such as `elo1=15`; what is not named has its default. Raises ValueError."""
        values: dict[str, float] = {}
        for word in words:
            name, _, text = word.partition("=")
            if name not in asdict(cls()):
                raise ValueError(f"{word!r} is not one of elo0=, elo1=, alpha=, beta=")
            try:
                values[name] = float(text)
            except ValueError:
                raise ValueError(f"{word!r} has no number") from None
        return cls(**values)

    @property
    def lower(self) -> float:
        """The LLR at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def __str__(self) -> str:
        """Format as `elo0=0 elo1=15 alpha=0.05 beta=0.05`."""
        return " ".join(f"{name}={value:g}" for name, value in asdict(self).items())


class SequentialTest:
    """A test under way. The first bound that the LLR reaches decides, whatever comes after it.

    counts: how many pairs had each of `PAIR_SCORES`. accepted: H0, H1, or None while undecided.
    """

    def __init__(self, bounds: SprtBounds) -> None:
        self.bounds = bounds
        self.counts = [0] * len(PAIR_SCORES)
        self.llr = 0.0
        self.accepted: str | None = None

    def add(self, score: float) -> None:
        """Take one pair's score, the mean of its two results."""
        self.counts[PAIR_SCORES.index(score)] += 1
        self.llr = log_likelihood_ratio(self.counts, self.bounds.elo0, self.bounds.elo1)
        if self.accepted is None:
            if self.llr >= self.bounds.upper:
                self.accepted = H1
            elif self.llr <= self.bounds.lower:
                self.accepted = H0


def log_likelihood_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """Return the LLR of two advantages in logistic Elo.

    counts: how many pairs had each of `PAIR_SCORES`. The result is 0 without pairs.
    """
    if not any(counts):
        return 0.0
    weights = [count or UNSEEN for count in counts]
    p0, p1 = (_likeliest(weights, score_of_elo(elo)) for elo in (elo0, elo1))
    return sum(n * math.log(b / a) for n, a, b in zip(weights, p0, p1, strict=True))


def _likeliest(weights: Sequence[float], mean: float) -> list[float]:
    """Return the likeliest distribution on `PAIR_SCORES` with this mean, given weighted samples.

    By Lagrange it is p_i = w_i / (1 + λ (s_i - mean)), for shares w and scores s, with the λ for
    which the mean is right (Owen, *Empirical likelihood*, 2001, 2.9). That is the only root of a
    decreasing function on an open interval.
    """
    total = sum(weights)
    shares = [weight / total for weight in weights]
    offsets = [score - mean for score in PAIR_SCORES]
    low, high = -1 / offsets[-1], -1 / offsets[0]
    multiplier = 0.0
    for _ in range(_MOST_STEPS):
        terms = [d / (1 + multiplier * d) for d in offsets]
        excess = sum(w * term for w, term in zip(shares, terms, strict=True))
        low, high = (multiplier, high) if excess > 0 else (low, multiplier)
        slope = sum(w * term**2 for w, term in zip(shares, terms, strict=True))
        step = excess / slope  # Newton's, if it stays between the bounds
        if abs(step) < _TOLERANCE:
            break
        ahead = multiplier + step
        multiplier = ahead if low < ahead < high else (low + high) / 2
    return [w / (1 + multiplier * d) for w, d in zip(shares, offsets, strict=True)]
