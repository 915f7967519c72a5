"""Memory kept from one update to the next.

The system clears new memory page by page when it is first touched. For an update of some 100,000
positions that can take longer than the update itself. So buffers are made as large as they may ever
have to be, and used from their front. Memory that is never touched costs nothing but addresses.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obscuro.belief.record import RECORD_WORDS
from obscuro.belief.successors import Streams
from obscuro.rules.layout import MAX_MOVES

Records = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

MOST_KEPT = 3  # buffers: the records of a belief, those of its next update, and one more
UNEVEN = 1.1  # times the mean that the fullest region may hold


class ThreadStreams:
    """The streams of some threads, which work on one update at a time.

    offered: uint64[threads, regions, n, 4]; counts: int64[threads, regions]; see `Streams`.
    """

    def __init__(self, threads: int, regions: int, room: int) -> None:
        """Make empty streams. room: for the children of all threads together, on average."""
        each = int(UNEVEN * room / (threads * regions)) + 2 * MAX_MOVES
        self.offered = np.empty((threads, regions, each, 4), dtype=np.uint64)
        self.counts: Counts = np.zeros((threads, regions), dtype=np.int64)
        self._most = each - 2 * MAX_MOVES
        self._enough: Counts = np.zeros((threads, 2), dtype=np.int64)

    def of_threads(self, room: int) -> list[Streams]:
        """Each thread's streams; they stop taking children at about `room` in all."""
        threads, regions = self.counts.shape
        self._enough[:, 0] = min(self._most, max(room // (threads * regions), 1))
        self._enough[:, 1] = 0
        return [
            Streams(self.offered[thread], self.counts[thread], self._enough[thread])
            for thread in range(threads)
        ]


class Buffers:
    """Lends arrays of records, uint64[n, 3], and takes them back; holds the threads' streams."""

    def __init__(self) -> None:
        self._kept: list[Records] = []
        self._streams: dict[tuple[int, int], ThreadStreams] = {}

    def streams(self, threads: int, regions: int, room: int) -> ThreadStreams:
        """Empty streams for these threads and regions; later updates use the same ones.

        room: see `ThreadStreams`; it counts in the first call for these numbers.
        """
        if (threads, regions) not in self._streams:
            self._streams[threads, regions] = ThreadStreams(threads, regions, room)
        streams = self._streams[threads, regions]
        streams.counts[:] = 0
        return streams

    def lend(self, rows: int) -> Records:
        """Lend the smallest array uint64[n, RECORD_WORDS] with n ≥ `rows`, of any content."""
        fitting = [index for index, kept in enumerate(self._kept) if len(kept) >= rows]
        if fitting:
            return self._kept.pop(min(fitting, key=lambda index: len(self._kept[index])))
        return np.empty((rows, RECORD_WORDS), dtype=np.uint64)

    def take_back(self, records: Records) -> None:
        """Keep a lent array, uint64[n, RECORD_WORDS], for the next `lend`."""
        self._kept.append(records)
        self._kept.sort(key=len, reverse=True)
        del self._kept[MOST_KEPT:]
