"""Which positions of the belief become new roots, by diversity of their values (GS2, `G, Eq. 3`).

Uniform draws of a large belief leave rare kinds of positions out. Here more positions are drawn
and valued than are wanted. Those stay whose values are nearest to all others', and each counts for
the positions that it stands for.
"""

import time

import numpy as np
import numpy.typing as npt

from obscuro.search.k_centre import k_centres, nearest

MOST_CANDIDATES = 1024
"""So many positions of the belief are looked at, at most."""
EXTRA_SHARE = 0.04
"""Of the turn's time, for positions beyond the wanted ones; exceeded by a chunk at most."""


class ExtraTime:
    """Tells whether so many seconds have gone by since the first question. None: never."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._since: float | None = None

    def is_over(self) -> bool:
        """Whether the time is over. The first call starts it."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return self._seconds is not None and now - self._since >= self._seconds


def diverse(
    values: npt.NDArray[np.float32], wanted: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Choose `wanted` of n positions by their values; there must be more than that.

    values: float32[n], the positions' values ṽ(s), not capped. Returns the chosen ones' indices,
    int64[wanted], ascending, and their masses, float32[wanted], whose mean is 1: how many positions
    each stands for. Where fewer values than wanted differ, the first of the others join, and share
    their value's mass.
    """
    centres = k_centres(values.astype(np.float64), wanted)
    others = np.setdiff1d(np.arange(len(values)), centres)[: wanted - len(centres)]
    chosen = np.sort(np.concatenate((centres, others)))
    kinds, kind = np.unique(values[chosen], return_inverse=True)
    stood_for = np.searchsorted(kinds, values[nearest(values, chosen)])
    stands_for = np.bincount(stood_for, minlength=len(kinds)) / np.bincount(kind)
    masses = stands_for[kind] * (wanted / len(values))
    return chosen, masses.astype(np.float32)
