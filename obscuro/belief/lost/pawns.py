"""Whether pawns can stand where they stand, by the least number of captures that it takes.

A pawn changes its file only by capturing, one file for each rank that it advances. So pawns can
stand on given squares only if each has a home of its own from which it can have come. All together
they have captured as often as they have changed files.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import ONE

MOST_HOMES = 8  # if more pawns started, nothing is ruled out
IMPOSSIBLE = 127  # captures

_RANK_OF_SQUARE = 3
_FILE = 7


@kernel
def fewest_captures(homes, pawns, white, costs):
    """The least number of captures that takes pawns to where they stand, or `IMPOSSIBLE`.

    homes, pawns: uint64 masks, where the pawns of a colour started and where those that are left
    stand; white: whether they are White's; costs: int8[2 ** MOST_HOMES], scratch.
    """
    count = popcount(homes)
    if count > MOST_HOMES:
        return 0
    if popcount(pawns) > count:
        return IMPOSSIBLE
    # Homes and pawns are taken in order of their squares; a set of homes, as an index of `costs`,
    # stands for the assignments of its homes to the first pawns.
    if pawns == 0:
        return 0
    full = 1 << count
    for chosen in range(full):
        costs[chosen] = IMPOSSIBLE
    costs[0] = 0
    best = IMPOSSIBLE
    last = popcount(pawns) - 1
    for number in range(last + 1):
        pawn = lowest_square(pawns)
        pawns &= pawns - ONE
        for chosen in range(full):
            cost = costs[chosen]
            if cost == IMPOSSIBLE or popcount(np.uint64(chosen)) != number:
                continue
            left = homes
            for index in range(count):
                home = lowest_square(left)
                left &= left - ONE
                if chosen >> index & 1:
                    continue
                files = abs((pawn & _FILE) - (home & _FILE))
                ranks = (pawn >> _RANK_OF_SQUARE) - (home >> _RANK_OF_SQUARE)
                if (ranks if white else -ranks) < files:
                    continue
                more = chosen | 1 << index
                costs[more] = min(costs[more], cost + files)
                if number == last:
                    best = min(best, cost + files)
    return best
