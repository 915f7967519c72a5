"""Salted hashes of records, and where a record goes by its hash.

Each update draws a new salt. The lowest bits of a hash choose a region; one thread works on a
region at a time. The hash as a whole is a rank. The records of an update are sorted by region and
rank, so that their order does not depend on the order in which they were found. If there are too
many, those with the lowest ranks stay. That is a uniform sample, since it does not matter where and
how often a record was found. Records with equal hashes are compared in full.
"""

from typing import NamedTuple

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product, multiply_high

_WHOLE = 1 << 64


class Ranking(NamedTuple):
    """The salt of an update's hashes and the range of the ranks that can survive."""

    salt1: np.uint64
    salt2: np.uint64
    salt3: np.uint64  # odd
    ceiling: np.uint64  # the highest hash that can survive
    shift: np.uint64  # leading zeros of the ceiling
    stretch: np.uint64  # spreads shifted hashes over the whole range, in units of 2^-63
    last_region: np.uint64  # the number of regions, a power of two, less one

    @property
    def regions(self) -> int:
        """The number of regions."""
        return int(self.last_region) + 1


def new_ranking(rng: np.random.Generator, regions: int) -> Ranking:
    """A ranking with a fresh salt. regions: a power of two."""
    one, two, three = rng.integers(_WHOLE, size=3, dtype=np.uint64)
    zero = np.uint64(0)
    whole = Ranking(one, two, three | np.uint64(1), zero, zero, zero, np.uint64(regions - 1))
    return lowered(whole, _WHOLE - 1)


def lowered(ranking: Ranking, ceiling: int) -> Ranking:
    """The ranking where only hashes up to the ceiling can survive."""
    shift = 64 - max(ceiling, 1).bit_length()
    stretch = min((_WHOLE << 63) // (((ceiling + 1) << shift) or 1), _WHOLE - 1)
    return ranking._replace(
        ceiling=np.uint64(ceiling), shift=np.uint64(shift), stretch=np.uint64(stretch)
    )


@kernel(forceinline=True)
def record_hash(ranking, a, b, c):
    """The salted hash of a record."""
    mixed = folded_product(a ^ ranking.salt1, b ^ ranking.salt2)
    return folded_product(mixed ^ c, ranking.salt3)


@kernel(forceinline=True)
def region_of(ranking, hashed):
    """The region, int64, that a hash belongs to."""
    return np.int64(hashed & ranking.last_region)


@kernel(forceinline=True)
def slot_of(ranking, hashed, slots):
    """The slot, below `slots`, of a hash up to the ceiling; it never falls as hashes rise."""
    rank = multiply_high(hashed << ranking.shift, ranking.stretch)
    return np.int64(multiply_high(rank << np.uint64(1), np.uint64(slots)))
