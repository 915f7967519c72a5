"""What the results of games connect: players who met, and players who took points from each other.

Ratings of players that are not connected by meetings can't be compared. Those that are connected by
meetings, but not by points in both directions, would be infinitely far apart (Ford, 1957).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
