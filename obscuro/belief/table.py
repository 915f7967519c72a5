"""A set of records in regions, each a hash table whose slots are in the order of the hashes.

The table is open-addressed with linear probing: a record stands in the slot of its hash or, if that
is taken, in the next free one. Slots rise with hashes, so the records of a region are sorted but
for neighbours. One pass each puts the set in order, packs it, or spreads it out again, all in
place. A slot is free if its first word is 0. No record's first word is 0, because there is a king
in it.

Each update draws a new salt for the hashes of its records. The lowest bits of a hash choose a
region; one thread works on a region at a time. The hash as a whole is a rank. The records of an
update are sorted by region and rank, so their order does not depend on the order in which they were
found. If there are too many, those with the lowest ranks stay. That is a uniform sample, since it
does not matter where and how often a record was found. Records with equal hashes are compared in
full.
"""

from typing import NamedTuple

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product, multiply_high, prefetch_row

GROUP = 16  # records looked up together, so that their cache misses overlap
PADDING = 96  # slots behind those of a region, for records that overflow its last ones

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


@kernel(forceinline=True)
def _copy(rows, source, target):
    rows[target, 0] = rows[source, 0]
    rows[target, 1] = rows[source, 1]
    rows[target, 2] = rows[source, 2]


@kernel
def clear(rows, first, last):
    """Free the slots `first` to `last` - 1."""
    for slot in range(first, last):
        rows[slot, 0] = 0


@kernel
def insert(rows, slots, most, sizes, owner, owners, offered, counts, done, ranking):
    """Store what is offered and new in each `owners`-th region, from the region `owner` on.

    A region's slots are few enough to stay in a core's own cache while it is worked on.

    rows: uint64[m, 3], the regions one after the other, each with `slots` slots and PADDING more;
    most: records that a region may hold; sizes: int64[regions], what it holds; offered:
    uint64[producers, regions, n, 4], records with their hashes, none above the ranking's ceiling;
    counts: int64[producers, regions], how many; done: the same shape, how many of them were looked
    at. Writes rows, sizes and done. Returns whether all is done; if not, there was no room.
    """
    stride = slots + PADDING
    wanted = np.empty(GROUP, dtype=np.int64)
    for region in range(owner, sizes.shape[0], owners):
        end = (region + 1) * stride
        for producer in range(counts.shape[0]):
            stop = counts[producer, region]
            index = done[producer, region]
            while index < stop:
                count = min(GROUP, stop - index)
                for k in range(count):
                    hashed = offered[producer, region, index + k, 3]
                    slot = region * stride + slot_of(ranking, hashed, slots)
                    prefetch_row(rows, slot)
                    wanted[k] = slot
                for k in range(count):
                    slot = wanted[k]
                    a = offered[producer, region, index + k, 0]
                    b = offered[producer, region, index + k, 1]
                    c = offered[producer, region, index + k, 2]
                    # There are no branches: a CPU can't predict which word differs.
                    while (
                        slot < end
                        and rows[slot, 0] != 0
                        and ((rows[slot, 0] ^ a) | (rows[slot, 1] ^ b) | (rows[slot, 2] ^ c)) != 0
                    ):
                        slot += 1
                    if slot < end and rows[slot, 0] != 0:
                        continue
                    if slot == end or sizes[region] >= most:
                        done[producer, region] = index + k
                        return False
                    sizes[region] += 1
                    rows[slot, 0] = a
                    rows[slot, 1] = b
                    rows[slot, 2] = c
                index += count
            done[producer, region] = stop
    return True


@kernel(forceinline=True)
def _before(ranking, rows, first, second):
    """Whether a record comes before another one in the order of the set."""
    one = record_hash(ranking, rows[first, 0], rows[first, 1], rows[first, 2])
    other = record_hash(ranking, rows[second, 0], rows[second, 1], rows[second, 2])
    if one != other:
        return one < other
    for word in range(3):
        if rows[first, word] != rows[second, word]:
            return rows[first, word] < rows[second, word]
    return False


@kernel
def collect(rows, slots, region, ranking):
    """Move the records of a region to its front, sorted; return their number."""
    first = region * (slots + PADDING)
    last = first + slots + PADDING
    end = first
    highest = np.uint64(0)
    for slot in range(first, last):
        if rows[slot, 0] == 0:
            continue
        a, b, c = rows[slot, 0], rows[slot, 1], rows[slot, 2]
        hashed = record_hash(ranking, a, b, c)
        place = end
        rows[end, 0], rows[end, 1], rows[end, 2] = a, b, c
        if hashed <= highest and end > first:
            while place > first and _before(ranking, rows, place, place - 1):
                for word in range(3):
                    rows[place, word], rows[place - 1, word] = (
                        rows[place - 1, word],
                        rows[place, word],
                    )
                place -= 1
            if (
                place > first
                and rows[place, 0] == rows[place - 1, 0]
                and rows[place, 1] == rows[place - 1, 1]
                and rows[place, 2] == rows[place - 1, 2]
            ):  # see `spread`
                for k in range(place, end):
                    _copy(rows, k + 1, k)
                continue
        else:
            highest = hashed
        end += 1
    return end - first


@kernel
def gather(rows, stride, sizes):
    """Move the sorted records at the fronts of all regions together; return their number."""
    end = np.int64(0)
    for region in range(sizes.shape[0]):
        first = region * stride
        if end != first:
            for k in range(sizes[region]):
                _copy(rows, first + k, end + k)
        end += sizes[region]
    return end


@kernel
def spread(rows, slots, sizes, ranking):
    """Undo `gather`: put the records into their slots, of which there may be another number.

    rows must have room for all regions' slots and PADDING, and a region no more than `slots`
    records. In theory a record may come to stand before its slot, and be stored a second time; it
    would take a fluctuation of seven standard deviations. `collect` drops such repeats.
    """
    stride = slots + PADDING
    begin = np.int64(0)
    for region in range(sizes.shape[0]):
        begin += sizes[region]
    # From the last region on: a region never overlaps the records of those before it.
    for region in range(sizes.shape[0] - 1, -1, -1):
        size = sizes[region]
        begin -= size
        first, last = region * stride, (region + 1) * stride
        shift = last - size - begin
        for k in range(size - 1, -1, -1):
            _copy(rows, begin + k, begin + k + shift)
        slot = first
        for k in range(last - size, last):
            a, b, c = rows[k, 0], rows[k, 1], rows[k, 2]
            hashed = record_hash(ranking, a, b, c)
            wanted = first + slot_of(ranking, hashed, slots)
            while slot < wanted and slot < k:  # never into what is still to be read
                rows[slot, 0] = 0
                slot += 1
            rows[slot, 0], rows[slot, 1], rows[slot, 2] = a, b, c
            slot += 1
        for free in range(slot, last):
            rows[free, 0] = 0


@kernel
def rank_below(rows, sizes, ranking, ceiling):
    """How many of the gathered records have a hash up to the ceiling, by region: int64[regions]."""
    counts = np.zeros(sizes.shape[0], dtype=np.int64)
    begin = np.int64(0)
    for region in range(sizes.shape[0]):
        low, high = begin, begin + sizes[region]
        while low < high:
            middle = (low + high) >> 1
            hashed = record_hash(ranking, rows[middle, 0], rows[middle, 1], rows[middle, 2])
            if hashed <= ceiling:
                low = middle + 1
            else:
                high = middle
        counts[region] = low - begin
        begin += sizes[region]
    return counts


@kernel
def cut(rows, sizes, kept):
    """Keep the first `kept` int64[regions] of each region of the gathered records."""
    begin = end = np.int64(0)
    for region in range(sizes.shape[0]):
        for k in range(kept[region]):
            _copy(rows, begin + k, end + k)
        begin += sizes[region]
        end += kept[region]
        sizes[region] = kept[region]
