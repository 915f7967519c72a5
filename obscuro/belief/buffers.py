"""Memory kept from one update to the next.

Memory that the system hands out anew has to be cleared, page by page, at its first touch, which for
an update of some 100,000 positions can take longer than the update itself. So buffers are made as
large as they may ever have to be, which costs nothing but addresses until they are touched, and used
from their front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from obscuro.belief.record import RECORD_WORDS

if TYPE_CHECKING:
    from obscuro.belief.update import Crew

Records = npt.NDArray[np.uint64]

MOST_KEPT = 3  # buffers: the records of a belief, those of its next update, and one more


class Buffers:
    """Lends arrays of records, uint64[n, 3], and takes them back; holds the threads' streams."""

    def __init__(self) -> None:
        self._kept: list[Records] = []
        self._crews: dict[tuple[int, ...], Crew] = {}

    def crew(self, threads: int, regions: int) -> Crew | None:
        """The streams that were kept for so many threads and regions."""
        return self._crews.get((threads, regions))

    def keep_crew(self, crew: Crew) -> None:
        """Keep streams for all updates that work in this memory."""
        self._crews[crew.counts.shape] = crew

    def lend(self, rows: int) -> Records:
        """An array of at least so many rows, with anything in it: the smallest one that will do."""
        fitting = [index for index, kept in enumerate(self._kept) if len(kept) >= rows]
        if fitting:
            return self._kept.pop(min(fitting, key=lambda index: len(self._kept[index])))
        return np.empty((rows, RECORD_WORDS), dtype=np.uint64)

    def take_back(self, records: Records) -> None:
        """Keep a lent array for the next time."""
        self._kept.append(records)
        self._kept.sort(key=len, reverse=True)
        del self._kept[MOST_KEPT:]
