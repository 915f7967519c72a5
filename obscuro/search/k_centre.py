"""The k-centre problem on a line, exactly: which k of n numbers lie close to all others?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]

_ROUNDING = 1e-12
"""By how much a sum may miss the distance that it was made of."""


def k_centres(values: npt.NDArray[np.float64], count: int) -> Indices:
    """Return which of n numbers to keep, so that the largest distance to a kept one is least.

    values: float64[n], n at least 1, each as often as it likes. count: k, at least 1. Returns at
    most k indices into `values`, int64, ascending; of equal numbers the first. There may be fewer:
    more would not make the largest distance less.

    A sweep from the left tells which centres suffice for a distance. A binary search over the
    distances finds the least one; after each success the distance that is really needed is the new
    upper bound, so that it ends at a distance between two of the numbers.
    """
    order = np.argsort(values, kind="stable")
    line: list[float] = np.asarray(values, np.float64)[order].tolist()
    low, high = 0.0, (line[-1] - line[0]) * (1 + _ROUNDING)  # one centre suffices for this
    best = _sweep(line, high)
    middle = low + (high - low) / 2
    while low <= middle < high:
        centres = _sweep(line, middle)
        if len(centres) <= count:
            best, high = centres, min(middle, _radius(line, centres))
        else:
            low = float(np.nextafter(middle, np.inf))
        middle = low + (high - low) / 2
    return np.sort(order[best])


def _sweep(line: list[float], radius: float) -> list[int]:
    """Return the fewest points of an ascending line within `radius` of all points, as indices."""
    centres: list[int] = []
    first = 0  # the first point that no centre covers yet
    while first < len(line):
        centre = max(bisect_right(line, line[first] + radius) - 1, first)
        centres.append(bisect_left(line, line[centre]))  # of equal numbers the first
        first = max(bisect_right(line, line[centre] + radius), centre + 1)
    return centres


def _radius(line: list[float], centres: list[int]) -> float:
    """Return the largest distance of a point of an ascending line to the nearest centre."""
    placed = np.array([line[centre] for centre in centres])
    points = np.array(line)
    after = np.clip(np.searchsorted(placed, points), 0, len(placed) - 1)
    before = np.maximum(after - 1, 0)
    return float(np.minimum(np.abs(points - placed[after]), np.abs(points - placed[before])).max())


def nearest(values: npt.NDArray[np.floating[Any]], centres: Indices) -> Indices:
    """Return for each number the index of the nearest kept one, int64[n].

    Of two that are equally near it is the lower number, of equal numbers the first of `centres`.

    values: floats [n]. centres: int64[m], indices into `values`, one at least.
    """
    order = centres[np.argsort(values[centres], kind="stable")]
    placed = values[order]
    after = np.clip(np.searchsorted(placed, values), 0, len(placed) - 1)
    before = np.maximum(after - 1, 0)
    chosen = np.where(values - placed[before] <= placed[after] - values, before, after)
    lowest = np.searchsorted(placed, placed[chosen])  # of equal centres the first
    found: Indices = order[lowest]
    return found
