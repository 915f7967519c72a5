"""Keeping each position once: a hash table in regions, each of which one thread works on alone.

A position's region is given by its hash, so threads that own different regions need no locks, and
what ends up in a region, and in which order, does not depend on how many threads there are.

A table entry holds the upper half of the hash and the number of the row where the position is
stored. Positions with equal hashes are compared in full, so that different ones are never joined.
"""

import numpy as np
from numba import njit

from obscuro.board.layout import WORDS

GROUP = 32  # children looked up together, so that their cache misses overlap

_UPPER = np.uint64(0xFFFFFFFF00000000)
_LOWER = np.uint64(0x00000000FFFFFFFF)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@njit(nogil=True, cache=True, forceinline=True)
def _same(rows, row, children, child):
    return (
        rows[row, 0] == children[child, 0]
        and rows[row, 1] == children[child, 1]
        and rows[row, 2] == children[child, 2]
        and rows[row, 3] == children[child, 3]
        and rows[row, 4] == children[child, 4]
        and rows[row, 5] == children[child, 5]
        and rows[row, 6] == children[child, 6]
        and rows[row, 7] == children[child, 7]
    )


@njit(nogil=True, cache=True)
def _region_bits(regions):
    """How many bits of a hash say which of `regions`, a power of two, it belongs to."""
    bits = _ZERO
    while np.uint64(regions) >> bits > _ONE:
        bits += _ONE
    return bits


@njit(nogil=True, cache=True)
def insert(children, hashes, start, stop, owned, distinct, table, rows, row_hashes, sizes):
    """Store the children `start` to `stop` - 1 that belong to one's regions and are new.

    children: uint64[c, 8]; hashes: uint64[c]; owned: int64[2], the first of the regions to work on
    and the one after the last; distinct: whether repeats are known not to occur, which saves the
    table.
    table: uint64[regions, slots], slots a power of two; rows: uint64[regions * capacity, 8] and
    row_hashes: uint64[regions, capacity], the stored positions; sizes: int64[regions], their
    number. All four are written. The capacity is at most half the slots.

    Returns the number of the first child not looked at: less than `stop` if a region is full.
    """
    regions = np.uint64(row_hashes.shape[0])
    capacity = np.uint64(row_hashes.shape[1])
    slots = np.uint64(table.shape[1])
    entries = table.reshape(-1)
    bits = _region_bits(regions)
    first_owned, last_owned = np.uint64(owned[0]), np.uint64(owned[1])

    picked = np.empty(GROUP, dtype=np.int64)  # the children of this group
    peeked = np.empty(GROUP, dtype=np.uint64)  # read ahead to have it in the cache
    index = start
    while index < stop:
        count = 0
        while index < stop and count < GROUP:
            region = hashes[index] & (regions - _ONE)
            picked[count] = index
            count += first_owned <= region < last_owned
            index += 1
        if not distinct:
            for k in range(count):
                hashed = hashes[picked[k]]
                region = hashed & (regions - _ONE)
                peeked[k] = entries[region * slots + ((hashed >> bits) & (slots - _ONE))]
            for k in range(count):
                hashed = hashes[picked[k]]
                if peeked[k] and (peeked[k] ^ hashed) & _UPPER == 0:
                    region = hashed & (regions - _ONE)
                    peeked[k] = rows[region * capacity + (peeked[k] & _LOWER) - _ONE, 0]
        for k in range(count):
            child = picked[k]
            hashed = hashes[child]
            region = hashed & (regions - _ONE)
            slot = (hashed >> bits) & (slots - _ONE)
            known = False
            while not distinct:
                entry = entries[region * slots + slot]
                if entry == 0:
                    break
                if (entry ^ hashed) & _UPPER == 0:
                    row = region * capacity + (entry & _LOWER) - _ONE
                    if _same(rows, row, children, child):
                        known = True
                        break
                slot = (slot + _ONE) & (slots - _ONE)
            if known:
                continue
            size = np.uint64(sizes[region])
            if size == capacity:
                return child
            if not distinct:
                entries[region * slots + slot] = (hashed & _UPPER) | (size + _ONE)
            row = region * capacity + size
            for word in range(WORDS):
                rows[row, word] = children[child, word]
            row_hashes[region, size] = hashed
            sizes[region] += 1
    return stop


@njit(nogil=True, cache=True)
def fill_table(table, row_hashes, sizes):
    """Enter the stored positions, all of them different, into an empty table."""
    regions = row_hashes.shape[0]
    slots = np.uint64(table.shape[1])
    bits = _region_bits(regions)
    for region in range(regions):
        for row in range(sizes[region]):
            hashed = row_hashes[region, row]
            slot = (hashed >> bits) & (slots - _ONE)
            while table[region, slot]:
                slot = (slot + _ONE) & (slots - _ONE)
            table[region, slot] = (hashed & _UPPER) | np.uint64(row + 1)


@njit(nogil=True, cache=True)
def keep_up_to(ceiling, rows, row_hashes, sizes):
    """Drop the stored positions with a hash above `ceiling`; the others keep their order."""
    regions, capacity = row_hashes.shape
    for region in range(regions):
        kept = 0
        for row in range(sizes[region]):
            if row_hashes[region, row] <= ceiling:
                row_hashes[region, kept] = row_hashes[region, row]
                for word in range(WORDS):
                    rows[region * capacity + kept, word] = rows[region * capacity + row, word]
                kept += 1
        sizes[region] = kept
