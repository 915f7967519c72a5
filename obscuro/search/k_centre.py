"""The k-centre problem on a line, exactly: which k of n numbers lie close to all others?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel

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
    return np.sort(order[_least_centres(np.asarray(values, np.float64)[order], count)])


@kernel
def _least_centres(line, count):
    """Return the indices of at most `count` centres of an ascending line, ascending."""
    n = line.shape[0]
    equal = np.zeros(n, np.int64)  # the first index with the same number
    for k in range(1, n):
        equal[k] = equal[k - 1] if line[k] == line[k - 1] else k
    centres = np.zeros(n, np.int64)
    low, high = 0.0, (line[n - 1] - line[0]) * (1.0 + _ROUNDING)  # one centre suffices for this
    best = centres[: _sweep(line, equal, high, centres)].copy()
    middle = low + (high - low) / 2.0
    while low <= middle < high:
        found = _sweep(line, equal, middle, centres)
        if found <= count:
            best = centres[:found].copy()
            high = min(middle, _radius(line, best))
        else:
            low = np.nextafter(middle, np.inf)
        middle = low + (high - low) / 2.0
    return best


@kernel
def _sweep(line, equal, radius, centres):
    """Write the fewest points of an ascending line within `radius` of all points; return their number.

    equal: int64[n], the first index with the same number. centres: int64[n], gets indices.
    """
    found = 0
    first = 0  # the first point that no centre covers yet
    while first < line.shape[0]:
        centre = _last_within(line, first, line[first] + radius)
        centres[found] = equal[centre]
        found += 1
        first = _last_within(line, centre, line[centre] + radius) + 1
    return found


@kernel
def _last_within(line, begin, limit):
    """Return the last index from `begin` on whose number is at most `limit`; `begin` if none is."""
    last = begin
    while last + 1 < line.shape[0] and line[last + 1] <= limit:
        last += 1
    return last


@kernel
def _radius(line, centres):
    """Return the largest distance of a point of an ascending line to the nearest centre."""
    radius = 0.0
    after = 0  # the first centre that is no lower than the point, or the last centre
    for k in range(line.shape[0]):
        while after + 1 < centres.shape[0] and line[centres[after]] < line[k]:
            after += 1
        gap = abs(line[k] - line[centres[after]])
        if after > 0:
            gap = min(gap, abs(line[k] - line[centres[after - 1]]))
        radius = max(radius, gap)
    return radius


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
