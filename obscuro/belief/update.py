"""One update of a belief: it visits parents in chunks until all are done or time is up.

In each chunk every thread visits some parents and writes the children that fit, sorted by their
region of the table. Then every thread stores the children of its own regions. Neither step needs a
lock. Random access to a large table costs most, since memory is slow and so is finding its pages.
So chunks are large, and a region is small enough for a core's own cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Event
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import UNEVEN, Buffers, ThreadStreams
from obscuro.belief.own_move import Keep
from obscuro.belief.successors import Visit
from obscuro.belief.table import (
    PADDING,
    Ranking,
    clear,
    collect,
    cut,
    gather,
    insert,
    lowered,
    rank_below,
    spread,
)

Records = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

SMALL = 4096  # parents that one thread visits alone
FILTER_CHUNK = 1 << 18  # records filtered after our own move between two looks at the clock
REGIONS = 8, 32  # of an update with few parents, with many
ROOM = 1 << 13, 1 << 18  # children that are written at most before they are stored
LEAST_ROOM = 1 << 14
ROOM_SHARE = 0.5  # of the number of records in the table: children that are stored at a time
FIRST_CHUNK = 4096  # parents per thread and chunk, to begin with
BEST_CHUNK = 2048  # where the likeliest come first: what has room must not depend on the clock
LEAST_CHUNK = 16
ROOM_PER_PARENT = 64  # records for which there must be room, for each parent of a chunk
CHUNK_SECONDS = 0.002, 0.006  # chunks grow and shrink to take this long: the clock's grain

FULL = 0.75  # share of a region's slots; with more records it needs more slots
GROWTH = 1.3, 1.7  # times the slots, when it needs more
EXPECTED_PER_PARENT = 2  # children to begin with
SURPLUS = 0.25  # share of the limit; a larger surplus over the limit is dropped
LEAST_SURPLUS = 4096
LEAST_SLOTS = 64
SMALL_ROWS = 1 << 14  # a table of so few rows does not take a buffer for the largest one
FINISHING = 15e-9  # seconds that the end of an update takes for each record
RESERVED = 400_000  # positions of an update for which memory is touched in advance

T = TypeVar("T")
# Returns whether work that takes these seconds more would be too late.
IsLate = Callable[[float], bool]


class Outcome(NamedTuple):
    """What an update led to."""

    records: Records  # a lent buffer; its first `size` rows hold each record once
    size: int
    parts: list[tuple[int, int]]  # visited parents: from the first number up to below the second
    complete: bool  # whether no record was left out

    @property
    def visited(self) -> int:
        """How many parents were visited."""
        return sum(end - begin for begin, end in self.parts)


def regions_for(parents: int) -> int:
    """The number of regions of an update with this number of parents."""
    return REGIONS[parents > SMALL]


def most_rows(limit: int) -> int:
    """The rows that the table of an update may need if it keeps at most `limit` records."""
    return max(_rows(_slots_for(limit + _surplus(limit), r), r) for r in REGIONS)


def _surplus(limit: int) -> int:
    return max(int(SURPLUS * limit), LEAST_SURPLUS)


def _slots_for(records: int, regions: int) -> int:
    return int((UNEVEN * records / regions + LEAST_SLOTS) / FULL)


def _rows(slots: int, regions: int) -> int:
    return regions * (slots + PADDING)


class Workers:
    """A team of `threads` threads, the calling one among them. Threads start when first needed."""

    def __init__(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"at least one thread is needed, not {threads}")
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None

    def run(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """Do the jobs, the first one in this thread; return their results in order.

        If jobs raise, this waits for all of them and raises the first exception again.
        """
        if len(jobs) <= 1:
            return [job() for job in jobs]
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="belief")
        futures = [self._executor.submit(job) for job in jobs[1:]]
        try:
            first = jobs[0]()
        finally:
            for future in futures:
                future.exception()
        return [first, *(future.result() for future in futures)]

    def close(self) -> None:
        """End the threads; they start again if needed."""
        if self._executor is not None:
            self._executor.shutdown()
            self._executor = None


class RecordTable:
    """The records found so far, each once, at most `limit` in the end.

    ranking: which hashes can still survive. full: whether any record was dropped.
    """

    def __init__(
        self, expected: int, limit: int, workers: Workers, buffers: Buffers, ranking: Ranking
    ) -> None:
        """Make an empty table. expected: a guess at the number of records."""
        self.ranking = ranking
        self.full = False
        self._limit = limit
        self._workers = workers
        self._buffers = buffers
        self._regions = ranking.regions
        self._most_slots = _slots_for(limit + _surplus(limit), self._regions)
        self._slots = min(_slots_for(expected, self._regions), self._most_slots)
        self._sizes: Counts = np.zeros(self._regions, dtype=np.int64)
        self._rows = self._lend(self._slots)
        clear(self._rows, 0, _rows(self._slots, self._regions))

    def __len__(self) -> int:
        """Number of records, at times somewhat more than the limit."""
        return int(self._sizes.sum())

    def add(self, streams: ThreadStreams, share_done: float) -> None:
        """Store the records that the threads offer and the table lacks; empty their streams.

        share_done: of the parents; it serves to guess how many records there will be.
        """
        owners = min(len(streams.counts), self._regions)
        done = np.zeros_like(streams.counts)
        while True:
            most = int(FULL * self._slots)
            stored = self._workers.run(
                [
                    partial(
                        insert,
                        self._rows,
                        self._slots,
                        most,
                        self._sizes,
                        owner,
                        owners,
                        streams.offered,
                        streams.counts,
                        done,
                        self.ranking,
                    )
                    for owner in range(owners)
                ]
            )
            if all(stored):
                break
            self._make_room(share_done)
        streams.counts[:] = 0
        if len(self) > self._limit + _surplus(self._limit):
            self._make_room(share_done)

    def _make_room(self, share_done: float) -> None:
        """Get more slots, or drop the surplus."""
        count = self._gather()
        if count > self._limit and (
            self._slots == self._most_slots or count > self._limit + _surplus(self._limit)
        ):
            self._drop_surplus()
        else:
            expected = _slots_for(int(len(self) / share_done), self._regions)
            least, most = (int(times * self._slots) for times in GROWTH)
            slots = min(max(expected, least), most)
            if self._slots < self._most_slots:
                slots = min(slots, self._most_slots)
            if _rows(slots, self._regions) > len(self._rows):
                larger = self._lend(slots)
                larger[:count] = self._rows[:count]
                self._buffers.take_back(self._rows)
                self._rows = larger
            self._slots = slots
        spread(self._rows, self._slots, self._sizes, self.ranking)

    def _lend(self, slots: int) -> Records:
        rows = _rows(slots, self._regions)
        if rows <= SMALL_ROWS:
            return self._buffers.lend(SMALL_ROWS)
        try:
            return self._buffers.lend(max(rows, most_rows(self._limit)))
        except MemoryError:  # a limit on addresses is set
            return self._buffers.lend(rows)

    def _gather(self) -> int:
        """Put the records in order at the front of the memory; return their number."""
        regions = range(self._regions)
        teams = min(self._workers.threads, self._regions) if len(self) > SMALL else 1

        def order(team: int) -> None:
            for region in regions[team::teams]:
                self._sizes[region] = collect(self._rows, self._slots, region, self.ranking)

        self._workers.run([partial(order, team) for team in range(teams)])
        return int(gather(self._rows, self._slots + PADDING, self._sizes))

    def _drop_surplus(self) -> None:
        """Lower the ceiling of the gathered records so that no more than `limit` stay."""
        low, high = -1, int(self.ranking.ceiling)
        while high - low > 1:  # never more than `limit` up to `low`, always more up to `high`
            middle = (low + high) // 2
            if self._rank(middle).sum() > self._limit:
                high = middle
            else:
                low = middle
        ceiling = max(low, 0)
        cut(self._rows, self._sizes, self._rank(low) if low >= 0 else np.zeros_like(self._sizes))
        self.ranking = lowered(self.ranking, ceiling)
        self.full = True

    def _rank(self, ceiling: int) -> Counts:
        counts: Counts = rank_below(self._rows, self._sizes, self.ranking, np.uint64(ceiling))
        return counts

    def abandon(self) -> None:
        """Give the memory back. The table can't be used afterwards."""
        self._buffers.take_back(self._rows)

    def finish(self) -> tuple[Records, int]:
        """Return the table's memory, uint64[rows, RECORD_WORDS], and the number of its records.

        The records are at the front of the memory, in their order. The table is unusable
        afterwards.
        """
        if self._gather() > self._limit:
            self._drop_surplus()
        return self._rows, len(self)


class Run:
    """An update under way; it can be interrupted and continued.

    visited: the number of parents visited so far.
    """

    def __init__(
        self, updater: Updater, parents: int, visit: Visit, ranking: Ranking, *, best_first: bool
    ) -> None:
        self.visited = 0
        self._outcome: Outcome | None = None
        self._updater = updater
        self._parents = parents
        self._visit_rows = visit
        self._best_first = best_first
        self._bounds = updater.bounds(parents)
        self._streams = updater.streams(len(self._bounds) - 1, ranking.regions)
        expected = min(EXPECTED_PER_PARENT * parents, updater.limit)
        self._table = RecordTable(
            expected, updater.limit, updater.workers, updater.buffers, ranking
        )
        self._places = self._bounds[:-1]
        self._chunk = BEST_CHUNK if best_first else FIRST_CHUNK

    @property
    def ended(self) -> bool:
        """Whether no more parents are to be visited."""
        return self.visited == self._parents or (self._best_first and self._room() <= 0)

    def _room(self) -> int:
        return self._updater.limit - len(self._table)

    def advance(self, is_late: IsLate | None = None) -> None:
        """Visit parents until all are visited, or the best ones fill the room, or it is late.

        is_late: called after each chunk with the seconds that the next chunk and the end would
        take.
        """
        while not self.ended:
            if self._best_first:
                most = self._room() // ROOM_PER_PARENT
                self._chunk = min(self._chunk, max(most, LEAST_CHUNK))
            seconds = self._visit_chunk()
            if is_late is not None and is_late(FINISHING * len(self._table) + seconds):
                break

    def _visit_chunk(self) -> float:
        """Visit a chunk of each thread's part of the parents; return how long it took."""
        started = time.perf_counter()
        ends = self._bounds[1:]
        all_streams = self._streams.of_threads(max(LEAST_ROOM, int(ROOM_SHARE * len(self._table))))
        self._places = self._updater.workers.run(
            [
                partial(
                    self._visit_rows,
                    place,
                    min(place + self._chunk, end),
                    self._table.ranking,
                    streams,
                )
                for place, end, streams in zip(self._places, ends, all_streams, strict=True)
            ]
        )
        self.visited = sum(self._places) - sum(self._bounds[:-1])
        self._table.add(self._streams, self.visited / self._parents)
        seconds = time.perf_counter() - started
        if not self._best_first:
            self._adapt_chunk(seconds)
        return seconds

    def _adapt_chunk(self, seconds: float) -> None:
        """Choose the size of the next chunk by the time that the last one took."""
        if seconds < CHUNK_SECONDS[0]:
            self._chunk *= 2
        elif seconds > CHUNK_SECONDS[1]:
            self._chunk = max(self._chunk // 2, LEAST_CHUNK)

    def finish(self) -> Outcome:
        """Return the records found. No more parents can be visited afterwards."""
        if self._outcome is not None:
            return self._outcome
        records, count = self._table.finish()
        complete = self.visited == self._parents and not self._table.full
        parts = list(zip(self._bounds[:-1], self._places, strict=True))
        self._outcome = Outcome(records, count, parts, complete)
        return self._outcome

    def abandon(self) -> None:
        """Throw away what was found."""
        if self._outcome is not None:
            self._updater.buffers.take_back(self._outcome.records)
        else:
            self._table.abandon()


class Updater:
    """Runs updates, one at a time; holds the threads and their memory.

    limit: greatest number of records to keep. buffers: memory to work in, which may outlast this.
    """

    def __init__(self, limit: int, threads: int, buffers: Buffers | None = None) -> None:
        self.limit = limit
        self.workers = Workers(threads)
        self.buffers = Buffers() if buffers is None else buffers

    def bounds(self, parents: int) -> list[int]:
        """Where the threads' parts of the parents begin, and where the last one ends."""
        threads = 1 if parents <= SMALL else self.workers.threads
        return [parents * thread // threads for thread in range(threads + 1)]

    def start(
        self, parents: int, visit: Visit, ranking: Ranking, *, best_first: bool = False
    ) -> Run:
        """Begin an update.

        parents: their number. They must come in a random order: if time is up before all are
        visited, the visited ones are a uniform sample then. best_first: each thread's part begins
        with those that count most; then the update also ends when there is no more room. visit: a
        kernel of `successors` with all but the arguments of `Visit` bound. ranking: a new one.
        """
        return Run(self, parents, visit, ranking, best_first=best_first)

    def run(
        self, parents: int, visit: Visit, ranking: Ranking, is_late: IsLate | None = None
    ) -> Outcome:
        """Do an update; see `start` and `Run.advance`. It always visits the first chunk."""
        run = self.start(parents, visit, ranking)
        run.advance(is_late)
        return run.finish()

    def streams(self, threads: int, regions: int) -> ThreadStreams:
        """Empty streams for this number of threads."""
        return self.buffers.streams(threads, regions, ROOM[regions == REGIONS[-1]])


def is_late(deadline: float | None, stop: Event | None = None) -> IsLate:
    """Make an `IsLate` of a deadline, a second of `time.monotonic`, and of an event."""

    def late(seconds: float) -> bool:
        if stop is not None and stop.is_set():
            return True
        return deadline is not None and time.monotonic() + seconds >= deadline

    return late


def filter_rows(
    records: Records,
    weights: npt.NDArray[np.float32] | None,
    count: int,
    keep: Keep,
    workers: Workers,
    is_late: IsLate,
) -> tuple[int, int]:
    """Filter the first `count` records in place; return how many were looked at, and how many stay.

    records: uint64[n, 3]. weights: theirs, float32[n], or None. keep: filters a range of both.
    is_late: asked after each chunk.
    """
    kept, first = 0, 0
    while first < count:
        last = min(first + FILTER_CHUNK, count)
        teams = workers.threads if last - first > SMALL else 1
        bounds = [first + (last - first) * team // teams for team in range(teams + 1)]
        sizes = workers.run([partial(keep, begin, end, begin) for begin, end in pairwise(bounds)])
        for begin, size in zip(bounds, sizes, strict=False):
            if begin != kept:
                records[kept : kept + size] = records[begin : begin + size]
                if weights is not None:
                    weights[kept : kept + size] = weights[begin : begin + size]
            kept += size
        first = last
        if is_late(0.0):
            break
    return first, kept


def reserve(buffers: Buffers, limit: int, threads: int) -> None:
    """Touch the memory that large updates begin with, so that none waits for it on the clock.

    limit: greatest number of records to keep.
    """
    Updater(limit, threads, buffers).streams(threads, REGIONS[-1]).offered[:] = 0
    touched = most_rows(min(RESERVED, limit))
    lent = [buffers.lend(most_rows(limit)) for _ in range(2)]
    for records in lent:
        records[:touched] = 0
        buffers.take_back(records)
