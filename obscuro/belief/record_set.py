"""A set of positions, stored as records, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.queries import common_king, common_observation, find
from obscuro.belief.record import OUR_SIDE, RECORD_WORDS, packed, unpacked
from obscuro.rules.layout import WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.observation_words import OBSERVATION_WORDS
from obscuro.rules.position import hash_positions
from obscuro.rules.tables import TABLES

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]
Hashes = npt.NDArray[np.uint64]


class RecordSet(NamedTuple):
    """Positions that differ only in what one side does not know, each once, in a random order."""

    known: Words  # [KNOWN_WORDS] what that side knows by itself; see `record`
    rows: Records  # [n, 3] see `record`

    @property
    def positions(self) -> Words:
        """All positions as a new array uint64[n, 8]; 64 bytes a position."""
        return unpacked(self.known, self.rows)

    def any_position(self) -> Words:
        """The first position: uint64[8]. Raises IndexError if there is none."""
        position: Words = unpacked(self.known, self.rows[:1])[0]
        return position

    def contains(self, words: Words) -> bool:
        """Whether the position uint64[8] is in the set. Looks through all of it."""
        position = np.ascontiguousarray(words, dtype=np.uint64).reshape(1, WORDS)
        record = packed(position, int(self.known[OUR_SIDE]))
        if not np.array_equal(unpacked(self.known, record), position):
            return False  # what is ours differs
        return bool(find(self.rows, record[0]) >= 0)

    def lacking(self, positions: Words) -> Records:
        """The records uint64[k, 3], sorted and each once, of positions that are not in the set.

        positions: uint64[n, 8]. Those in which what is ours differs are left out. Looks at every
        record in turn, so it is for small sets.
        """
        offered = packed(
            np.ascontiguousarray(positions, dtype=np.uint64), int(self.known[OUR_SIDE])
        )
        ours = (unpacked(self.known, offered) == positions).all(axis=1)
        new = {record.tobytes() for record in offered[ours]}
        new -= {record.tobytes() for record in self.rows}
        return np.frombuffer(b"".join(sorted(new)), dtype=np.uint64).reshape(-1, RECORD_WORDS)

    def certain_enemy_king(self) -> int | None:
        """The square where the enemy king stands in all positions, if there is one."""
        mask = int(common_king(self.rows)) if len(self.rows) else 0
        return mask.bit_length() - 1 if mask else None

    def common_observation(self) -> Observation | None:
        """What our side sees, if that is the same in all positions."""
        observed = np.zeros(OBSERVATION_WORDS, dtype=np.uint64)
        side = int(self.known[OUR_SIDE])
        if not common_observation(TABLES, self.known, self.rows, side, observed):
            return None
        return Observation.from_words(observed)

    def sample(
        self, count: int, rng: np.random.Generator, exclude: Collection[int] | Hashes = ()
    ) -> Words:
        """Draw positions without repeats; every set of them is equally likely.

        exclude: `position_hash` of positions that are not to be drawn. Returns uint64[k, 8]; k is
        `count`, or the number of positions if there are fewer. The time it takes grows with `count`
        and the size of `exclude`, not with the set.
        """
        if isinstance(exclude, np.ndarray):
            excluded = exclude
        else:
            excluded = np.fromiter(exclude, dtype=np.uint64, count=len(exclude))
        size = len(self.rows)
        if size <= 4 * (count + len(excluded)):
            rows = self._not_excluded(rng.permutation(size), excluded)
            return unpacked(self.known, self.rows[rows[:count]])
        rows = np.empty(0, dtype=np.int64)
        while len(rows) < count:
            drawn = np.concatenate([rows, rng.integers(size, size=2 * (count - len(rows)))])
            first = np.sort(np.unique(drawn, return_index=True)[1])
            rows = self._not_excluded(drawn[first], excluded)
        return unpacked(self.known, self.rows[rows[:count]])

    def _not_excluded(self, rows: npt.NDArray[np.int64], excluded: Hashes) -> npt.NDArray[np.int64]:
        """Of the row numbers int64[m], those whose positions' hashes are not excluded, in order."""
        if not len(excluded):
            return rows
        hashes = np.empty(len(rows), dtype=np.uint64)
        hash_positions(unpacked(self.known, self.rows[rows]), hashes)
        return rows[~np.isin(hashes, excluded)]
