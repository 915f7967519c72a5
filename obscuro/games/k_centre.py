"""The k-centre problem on a line, exactly: which k of n numbers lie close to all others?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def k_centres(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return which of n numbers to keep, so that the largest distance to a kept one is least.

    values: float64[n], each as often as it likes. count: k, at least 1. Returns at most k indices
    into `values`, int64, ascending; of equal numbers the first. There may be fewer: more would not
    make the largest distance less.

    The least distance is one between two of the numbers. It is found by a binary search over these,
    and a sweep from the left tells whether k centres suffice.
    """
    order = np.argsort(values, kind="stable")
    line = values[order]
    low, high = 0.0, float(line[-1] - line[0])
    best = _sweep(line, high)
    while True:
        # The distances between low and high that are still possible, from all pairs.
        gaps = line[np.newaxis, :] - line[:, np.newaxis]
        possible = np.unique(gaps[(gaps >= low) & (gaps < high)])
        if not len(possible):
            return np.sort(order[best])
        middle = float(possible[len(possible) // 2])
        centres = _sweep(line, middle)
        if len(centres) <= count:
            best, high = centres, middle
        else:
            low = float(np.nextafter(middle, np.inf))


def _sweep(line: NDArray[np.float64], radius: float) -> NDArray[np.int64]:
    """Return the fewest points of an ascending line within `radius` of all points, as indices."""
    centres: list[int] = []
    first = 0  # the first point that no centre covers yet
    while first < len(line):
        centre = int(np.searchsorted(line - line[first], radius, side="right")) - 1
        centre = int(np.searchsorted(line, line[centre], side="left"))  # of equal numbers the first
        centres.append(centre)
        first = int(np.searchsorted(line - line[centre], radius, side="right"))
    return np.array(centres, np.int64)


def nearest(values: NDArray[np.float64], centres: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each number the index of the nearest kept one, int64[n]; of two the lower number.

    values: float64[n]. centres: int64[m], indices into `values`, one at least.
    """
    order = centres[np.argsort(values[centres], kind="stable")]
    gaps = np.abs(values[:, np.newaxis] - values[order][np.newaxis, :])
    found: NDArray[np.int64] = order[np.argmin(gaps, axis=1)]
    return found
