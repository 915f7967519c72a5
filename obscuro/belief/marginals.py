"""Where a belief holds the enemy pieces: counts, and the marginal probabilities of each piece."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import Belief
from obscuro.rules.observation import PLANES

Records = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]

SQUARES = 64
CHUNK = 1 << 16  # records at a time, so that what lies in between stays in the cache

_BYTES = 8  # of a bitboard, a rank each
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8).reshape(-1, 1), axis=1, bitorder="little")


class Marginals(NamedTuple):
    """How likely each enemy piece is on each square, [0, 1]. The rows are those of `PLANES`.

    even: all positions count alike. weighted: each counts by how plausibly the other side has
    played; None where the belief has no weights, see `Belief.weights`.
    """

    even: Counts  # [7, 64]
    weighted: Counts | None  # [7, 64]


def marginals(belief: Belief) -> Marginals:
    """Return the marginals of a belief. Raises ValueError for a belief without positions."""
    size, weights = len(belief), belief.weights
    if size < 1:
        raise ValueError("a belief without positions has no marginals")
    even = piece_counts(belief.records) / size
    if weights is None:
        return Marginals(even, None)
    sums = piece_counts(belief.records, weights) / float(weights.sum(dtype=np.float64))
    return Marginals(even, np.minimum(sums, 1.0))


def piece_counts(records: Records, weights: Weights | None = None) -> Counts:
    """Count in how many positions an enemy piece stands on a square: float64[7, 64].

    records: the positions of a belief, uint64[n, 3]; see `obscuro.belief.record`. weights:
    float32[n], what each position counts; None: 1. The rows of the result are those of `PLANES`; a1
    comes first.
    """
    tallies = np.zeros((len(PLANES), _BYTES, 256))  # by rank and by its bits
    for start in range(0, len(records), CHUNK):
        part = slice(start, start + CHUNK)
        each = None if weights is None else weights[part]
        for plane, boards in enumerate(_planes(records[part])):
            ranks = boards.astype("<u8").view(np.uint8).reshape(-1, _BYTES)
            for rank in range(_BYTES):
                tallies[plane, rank] += np.bincount(ranks[:, rank], each, minlength=256)
    counts: Counts = (tallies @ _BITS.astype(np.float64)).reshape(len(PLANES), SQUARES)
    return counts


def _planes(records: Records) -> list[Records]:
    """Return the bitboards uint64[n] of each of `PLANES`."""
    a, b, c = records.T
    rook = a & c  # one that may castle has a bit in b too
    single = ~(a & b | a & c | b & c)
    return [
        a | b | c,
        c & single,
        b & single,
        b & c & ~a,
        rook,
        a & b & ~c,
        a & single,
    ]
