"""A growing set of positions, bounded: past its limit it is a uniform random subset.

Which positions survive is decided by their hashes alone: those with the `limit` smallest ones. The
hashes are salted, so this is a uniformly random subset of all that were offered, whatever the order
they came in and however often each was offered, and at no time is much more than the limit stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.dedup import fill_table, insert, keep_up_to
from obscuro.belief.workers import Workers
from obscuro.board.layout import ALL, WORDS

Words = npt.NDArray[np.uint64]

MANY_REGIONS = 64  # a power of two; threads beyond this number have nothing to do
SLACK = 0.5  # share of the limit by which it may be passed before the surplus is dropped
LEAST_SLACK = 4096
SPREAD = 1.1  # how much more than the mean the fullest region is expected to hold
GROWTH = 4  # times what is stored: the most that room is made for in one step
NEARLY = 0.8  # of a region's room
LEAST_SLOTS = 128
ODD = 3  # see `_allocate`


class Batch(NamedTuple):
    """Positions on their way into a pool, with repeats."""

    children: Words  # [c, 8]
    hashes: Words  # [c] salted hashes
    used: int  # the first so many rows are meant


class Pool:
    """Distinct positions in regions by hash (see `dedup`), at most `limit` in the end.

    ceiling: only positions with a hash up to this one can still survive. full: whether any was
    dropped.
    """

    def __init__(
        self,
        expected: int,
        limit: int,
        workers: Workers,
        buffers: Buffers,
        *,
        small: bool,
        distinct: bool,
    ) -> None:
        """Make an empty pool.

        expected: a guess at the number of positions; limit: the greatest number to survive; small:
        whether to work in one region and one thread; distinct: whether no position will be offered
        twice.
        """
        self.ceiling = ALL
        self.full = False
        self._limit = limit
        self._most = limit + max(int(limit * SLACK), LEAST_SLACK)
        self._workers = workers
        self._buffers = buffers
        self._distinct = distinct
        self._regions = 1 if small else MANY_REGIONS
        self._expected = expected
        self._sizes = np.zeros(self._regions, dtype=np.int64)
        self._allocate(self._slots_for(expected))

    def __len__(self) -> int:
        """Number of positions stored, at times somewhat more than the limit."""
        return int(self._sizes.sum())

    @property
    def nearly_full(self) -> bool:
        """Whether the next positions may need more room."""
        return bool(self._sizes.max() > NEARLY * self._capacity)

    def _slots_for(self, positions: int) -> int:
        """Slots of a region's table that are enough for so many positions in all."""
        each = min(positions, self._most) * SPREAD / self._regions
        slots = LEAST_SLOTS
        while slots < 2 * (each + ODD):
            slots *= 2
        return slots

    def _allocate(self, slots: int) -> None:
        # Regions that begin at equal places within the cache's sets would push each other out.
        self._capacity = slots // 2 - ODD
        self._slots = slots
        places = self._regions * self._capacity
        self._flat = [
            self._buffers.lend("rows", places * WORDS),
            self._buffers.lend("hashes", places),
            self._buffers.lend("table", 1 if self._distinct else self._regions * slots),
        ]
        rows, hashes, table = self._flat
        table[:] = 0
        self._rows = rows.reshape(places, WORDS)
        self._hashes = hashes.reshape(self._regions, self._capacity)
        self._table = table.reshape((1, 1) if self._distinct else (self._regions, slots))

    def touch(self) -> None:
        """Write to all memory and give it back to the buffers; the pool is of no use afterwards."""
        for buffer in self._flat:
            buffer[:] = 0
        self._give_back(self._flat)

    def _give_back(self, flat: list[Words]) -> None:
        for name, buffer in zip(("rows", "hashes", "table"), flat, strict=True):
            self._buffers.take_back(name, buffer)

    def expect(self, positions: int) -> None:
        """Guess how many positions there will be, so that room is made for them in few steps.

        A step is bounded: the regions lie far apart, and each one's first touch of new memory has
        the system clear pages (of 2 MiB, at times) that a cut update would never use.
        """
        self._expected = min(positions, GROWTH * len(self))

    def add(self, batches: Sequence[Batch]) -> None:
        """Store all positions of the batches that are new and can survive.

        The order in which positions are stored is that of the batches, region by region.
        """
        teams = min(self._workers.threads, self._regions)
        bounds = [self._regions * team // teams for team in range(teams + 1)]
        places = [(0, 0)] * teams  # the batch and the child where each team goes on
        while True:
            places = self._workers.run(
                [
                    partial(self._add_owned, batches, place, owned)
                    for place, owned in zip(places, pairwise(bounds), strict=True)
                ]
            )
            if all(number == len(batches) for number, _ in places):
                break
            self._make_room()
        if len(self) > self._most:
            self._drop_surplus()

    def _add_owned(
        self, batches: Sequence[Batch], place: tuple[int, int], owned: tuple[int, int]
    ) -> tuple[int, int]:
        number, start = place
        while number < len(batches):
            batch = batches[number]
            stopped = insert(
                batch.children,
                batch.hashes,
                start,
                batch.used,
                owned,
                self._distinct,
                self._table,
                self._rows,
                self._hashes,
                self._sizes,
            )
            if stopped < batch.used:
                return number, int(stopped)
            number, start = number + 1, 0
        return number, 0

    def _make_room(self) -> None:
        """Make it possible to store more in a region that is full."""
        if len(self) > self._most:
            self._drop_surplus()
            return
        rows, hashes, capacity, outgrown = self._rows, self._hashes, self._capacity, self._flat
        self._allocate(max(2 * self._slots, self._slots_for(self._expected)))
        for region, size in enumerate(self._sizes):
            new, old = region * self._capacity, region * capacity
            self._rows[new : new + size] = rows[old : old + size]
            self._hashes[region, :size] = hashes[region, :size]
        self._give_back(outgrown)
        if not self._distinct:
            fill_table(self._table, self._hashes, self._sizes)  # it is new, and empty

    def _drop_surplus(self) -> None:
        """Lower the ceiling so that no more than `limit` positions stay."""
        if len(self) <= self._limit:
            return
        stored = np.concatenate(
            [hashes[:size] for hashes, size in zip(self._hashes, self._sizes, strict=True)]
        )
        # Should two different positions have one hash, both go rather than one too many stay.
        first_dropped = np.partition(stored, self._limit)[self._limit]
        self.ceiling = np.uint64(first_dropped - np.uint64(1))
        self.full = True
        keep_up_to(self.ceiling, self._rows, self._hashes, self._sizes)
        if not self._distinct:
            self._table[:] = 0
            fill_table(self._table, self._hashes, self._sizes)

    def positions(self) -> Words:
        """All positions that survived, as a new array uint64[n, 8], region by region.

        The pool's memory goes back to the buffers: this is the last that is asked of it.
        """
        self._drop_surplus()
        ends = np.cumsum(self._sizes)
        gathered = np.empty((len(self), WORDS), dtype=np.uint64)

        def copy(regions: range) -> None:
            for region in regions:
                end, size = ends[region], self._sizes[region]
                start = region * self._capacity
                gathered[end - size : end] = self._rows[start : start + size]

        teams = min(self._workers.threads, self._regions)
        self._workers.run(
            [partial(copy, range(team, self._regions, teams)) for team in range(teams)]
        )
        self._give_back(self._flat)
        return gathered
