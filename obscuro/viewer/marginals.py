"""How likely each enemy piece is on each square: its share of the positions of a belief."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Levels = npt.NDArray[np.uint8]

PLANES = ("any", "pawn", "knight", "bishop", "rook", "queen", "king")
"""What each row of the results is about: a piece of any type, then the types as chess counts."""

SQUARES = 64
CERTAIN = 255
CHUNK = 1 << 16  # records at a time, so that what lies in between stays in the cache

_BYTES = 8  # of a bitboard, a rank each
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8).reshape(-1, 1), axis=1, bitorder="little")


def piece_counts(records: Records) -> Counts:
    """Count in how many positions an enemy piece stands on a square: int64[7, 64].

    records: the positions of a belief, uint64[n, 3]; see `obscuro.belief.record`. The rows of the
    result are those of `PLANES`; a1 comes first.
    """
    tallies = np.zeros((len(PLANES), _BYTES, 256), dtype=np.int64)  # by rank and by its bits
    for start in range(0, len(records), CHUNK):
        for plane, boards in enumerate(_planes(records[start : start + CHUNK])):
            ranks = boards.astype("<u8").view(np.uint8).reshape(-1, _BYTES)
            for rank in range(_BYTES):
                tallies[plane, rank] += np.bincount(ranks[:, rank], minlength=256)
    return (tallies @ _BITS.astype(np.int64)).reshape(len(PLANES), SQUARES)


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


def levels(counts: Counts, positions: int) -> Levels:
    """Turn counts int64[…] among so many positions into shares of 255: uint8[…].

    0 means in no position and 255 in all of them. All that lies in between gets 1 to 254: a share
    is right within 1/255, and what is possible is never shown as impossible or as certain.
    """
    if positions < 1:
        raise ValueError("a belief without positions has no shares")
    shares = np.clip(np.rint(counts * (CERTAIN / positions)), 1, CERTAIN - 1)
    shares = np.where(counts == 0, 0, np.where(counts == positions, CERTAIN, shares))
    return shares.astype(np.uint8)
