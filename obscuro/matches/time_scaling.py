"""What more time is worth: ratings of players that differ in nothing but the time for a move."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obscuro.matches.elo import Z_95
from obscuro.matches.entrant import Entrant
from obscuro.matches.rating import Estimate, RatingList
from obscuro.matches.time_control import MILLISECONDS, TimeControl

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


def time_text(seconds: float) -> str:
    """Write a time for names and tables: `250 ms`, `4 s`."""
    return f"{MILLISECONDS * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"
