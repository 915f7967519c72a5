"""Weaker play for people: levels of strength, and what each of them limits.

A level looks at fewer positions, searches fewer nodes, and chooses less sharply between moves that
look almost as good. All of it is still play in the fog: the engine follows the belief, values moves
over it, and takes a king that it sees. docs/results/levels.md has the matches behind each `elo`.

The import is quick: nothing here needs compiled code.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strength:
    """What weaker play is limited to.

    nodes: histories that a search adds. roots: positions that a search begins with, and infosets of
    the other side that it keeps. positions: of the belief. temperature: centipawns by which a move
    must look worse to be e times less likely; 0: the search's own strategy decides.
    """

    nodes: int
    roots: int
    positions: int
    temperature: int


@dataclass(frozen=True, slots=True)
class Level:
    """A level of strength. number: from 1, the weakest. elo: as measured. name: for people."""

    number: int
    elo: int
    name: str
    strength: Strength

    @property
    def settings(self) -> dict[str, str]:
        """The options that set an engine to this level, by name, as the protocol takes them."""
        return {"UCI_LimitStrength": "true", "UCI_Elo": str(self.elo)}


# A test holds every Elo to the measurement. Who changes a limit plays the matches again.
LEVELS: tuple[Level, ...] = (
    Level(1, 700, "beginner", Strength(50, 2, 1_000, 400)),
    Level(2, 890, "novice", Strength(250, 3, 1_000, 270)),
    Level(3, 1110, "casual", Strength(600, 6, 2_000, 190)),
    Level(4, 1300, "steady", Strength(1_200, 12, 5_000, 135)),
    Level(5, 1520, "practised", Strength(2_000, 24, 10_000, 90)),
    Level(6, 1710, "skilled", Strength(2_700, 34, 14_000, 70)),
    Level(7, 1830, "strong", Strength(3_500, 48, 20_000, 50)),
    Level(8, 2040, "expert", Strength(6_000, 96, 50_000, 18)),
    Level(9, 2310, "nearly full", Strength(10_000, 160, 100_000, 0)),
)
"""All levels, the weakest first. Each is stronger than the one before, and looks further."""

LEAST_ELO = LEVELS[0].elo
MOST_ELO = LEVELS[-1].elo


def level_numbered(number: int) -> Level:
    """Return a level by its number, from 1. Raises ValueError if there is none."""
    for level in LEVELS:
        if level.number == number:
            return level
    raise ValueError(f"the level must be between 1 and {len(LEVELS)}, not {number}")


def strength_of(elo: int) -> Strength:
    """Return the limits for an Elo; between two levels they lie between those of both.

    Numbers of nodes and positions follow a power of the Elo, the temperature a line. Raises
    ValueError for an Elo below the first level's or above the last one's.
    """
    if not LEAST_ELO <= elo <= MOST_ELO:
        raise ValueError(f"the Elo must be between {LEAST_ELO} and {MOST_ELO}, not {elo}")
    above = bisect_right([level.elo for level in LEVELS], elo)
    lower = LEVELS[above - 1]
    if lower.elo == elo:
        return lower.strength
    upper = LEVELS[above]
    share = (elo - lower.elo) / (upper.elo - lower.elo)
    one, other = lower.strength, upper.strength

    def between(first: int, second: int) -> int:
        return round(math.exp((1 - share) * math.log(first) + share * math.log(second)))

    return Strength(
        between(one.nodes, other.nodes),
        between(one.roots, other.roots),
        between(one.positions, other.positions),
        round(one.temperature + share * (other.temperature - one.temperature)),
    )
