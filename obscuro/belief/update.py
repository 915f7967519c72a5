"""One update of a belief: the parents are visited in chunks until all are done or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.pool import Batch, Pool
from obscuro.belief.successors import BLOCK
from obscuro.belief.workers import Workers
from obscuro.board.layout import MAX_MOVES, WORDS

Words = npt.NDArray[np.uint64]
Blocks = npt.NDArray[np.int64]

SMALL = 4096  # parents that are visited in one thread and their children kept in one region
ROOM = 1 << 15  # children that a thread writes before they are put into the pool
FIRST_CHUNK = 2048  # parents per thread and chunk, to begin with
CHUNK_SECONDS = 0.005, 0.015  # chunks grow and shrink to take this long: the clock's grain
# Children to provide for before a guess can be made at their number: a parent of a growing belief
# has several, and making more room costs more than having had it.
EXPECTED_PER_PARENT = 8
EXPECTED = 470_000  # just fits tables of a power of two
FINISHING = 60e-9  # seconds, for each position stored, that end an update
GROWING = 500e-9  # seconds, for each position stored, that making more room may take


class Scratch(NamedTuple):
    """One thread's memory."""

    children: Words  # [c, 8]
    hashes: Words  # [c]
    moves: npt.NDArray[np.uint32]  # [MAX_MOVES]


# (blocks, first, last, ceiling, scratch) -> (first parent not visited, number of children written)
Visit = Callable[[Blocks, int, int, np.uint64, Scratch], tuple[int, int]]


class Outcome(NamedTuple):
    """What an update led to."""

    positions: Words  # [n, 8] each once
    visited: int  # parents that were visited
    complete: bool  # whether the positions are all that there are, none left out


def new_scratch(room: int) -> Scratch:
    """Memory for `room` children and what the last parent visited may add."""
    room += MAX_MOVES
    return Scratch(
        np.empty((room, WORDS), dtype=np.uint64),
        np.empty(room, dtype=np.uint64),
        np.empty(MAX_MOVES, dtype=np.uint32),
    )


class Updater:
    """Runs updates; holds the threads and their memory.

    limit: greatest number of positions to keep; buffers: memory to work in, if it is to outlast this.
    """

    def __init__(self, limit: int, threads: int, buffers: Buffers | None = None) -> None:
        self.limit = limit
        self.workers = Workers(threads)
        self._scratch: list[Scratch] = []
        self._buffers = Buffers() if buffers is None else buffers

    def run(
        self,
        parents: int,
        visit: Visit,
        rng: np.random.Generator,
        deadline: float | None,
        *,
        distinct: bool,
    ) -> Outcome:
        """Visit `parents` parents and gather their children.

        visit: one of the kernels of `successors`, all but its last arguments bound; rng: decides
        the order of the visits; deadline: where `time.monotonic()` would pass it, the parents
        visited till then have to do: a uniform sample. The first chunk is always visited.
        distinct: whether no two parents have a child in common.
        """
        small = parents <= SMALL
        blocks = np.arange(-(-parents // BLOCK), dtype=np.int64)
        if not small:
            rng.shuffle(blocks)
        pool = Pool(
            min(parents if distinct else EXPECTED_PER_PARENT * parents, EXPECTED),
            self.limit,
            self.workers,
            self._buffers,
            small=small,
            distinct=distinct,
        )
        threads = 1 if small else self.workers.threads
        self._provide(threads)
        chunk = FIRST_CHUNK
        index, last = 0, len(blocks) * BLOCK
        begun = time.monotonic()
        while index < last:
            started = time.monotonic()
            index, chunk = self._visit_chunk(
                visit, blocks, index, min(index + chunk * threads, last), threads, chunk, pool
            )
            now = time.monotonic()
            growth = last / index
            if deadline is not None:  # room for what there is time for: touching memory costs time
                growth = min(growth, (deadline - begun) / max(now - begun, 1e-6))
            pool.expect(int(len(pool) * max(growth, 1.0)))
            if now - started < CHUNK_SECONDS[0]:
                chunk *= 2
            elif now - started > CHUNK_SECONDS[1]:
                chunk = max(chunk // 2, BLOCK)
            ahead = FINISHING + (GROWING if pool.nearly_full else 0.0)
            if deadline is not None and now + ahead * len(pool) >= deadline:
                break
        complete = index >= last and not pool.full
        positions = pool.positions()
        return Outcome(positions, min(index, parents), complete and not pool.full)

    def _provide(self, threads: int) -> None:
        while len(self._scratch) < threads:
            self._scratch.append(new_scratch(ROOM))

    def _visit_chunk(
        self,
        visit: Visit,
        blocks: Blocks,
        first: int,
        last: int,
        threads: int,
        chunk: int,
        pool: Pool,
    ) -> tuple[int, int]:
        """Visit some parents from `first` on; return where to go on, and the size of a chunk."""
        bounds = [first + (last - first) * thread // threads for thread in range(threads + 1)]
        results = self.workers.run(
            [
                partial(visit, blocks, bounds[t], bounds[t + 1], pool.ceiling, self._scratch[t])
                for t in range(threads)
            ]
        )
        batches = []
        reached = first
        for thread, (reached, count) in enumerate(results):
            scratch = self._scratch[thread]
            batches.append(Batch(scratch.children, scratch.hashes, count))
            if reached < bounds[thread + 1]:  # no room for more: what the others did comes later
                chunk = max((reached - bounds[thread]) // 2, BLOCK)
                break
        pool.add(batches)
        return reached, chunk


def reserve(buffers: Buffers, limit: int) -> None:
    """Touch the memory that large updates begin with, so that none has to wait for it on the clock.

    limit: greatest number of positions to keep.
    """
    pool = Pool(min(EXPECTED, limit), limit, Workers(1), buffers, small=False, distinct=False)
    pool.touch()
