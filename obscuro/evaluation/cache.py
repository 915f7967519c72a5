"""A cache of expansions, which saves evaluating a position twice.

Many histories lead to the same position, and an evaluator's values do not depend on the history.
The cache lives as long as its evaluators. Its content lives as long as a game.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.evaluator import CacheUse, ChildValues, Evaluator
from obscuro.kernels import kernel
from obscuro.rules.layout import MAX_MOVES, ONE, WORDS
from obscuro.rules.moves import generate_moves
from obscuro.rules.position import load, position_hash, store
from obscuro.rules.tables import TABLES

WAYS = 4  # slots of a set
MOST_CHILDREN = 64  # the cache does not store positions with more; about one in 500 has more

MISS = 0  # marks a position that the table lacks, in place of its number of children
_ZERO = np.uint64(0)


class CacheTable(NamedTuple):
    """Sets of WAYS slots. The tags of a set fill one cache line of the processor."""

    tags: npt.NDArray[np.uint64]  # [sets, 2 * WAYS] hashes, 0: empty; then the times of last use
    rows: npt.NDArray[np.uint64]  # [slots, ROW_WORDS] position, number of children, terminal bits
    values: npt.NDArray[np.float32]  # [slots, 2 * ROW_WORDS] the same memory, for the values


class Found(NamedTuple):
    """Copies of the table's entries for a batch of n positions, so that the table may change."""

    children: npt.NDArray[np.int64]  # [n] numbers of children, or MISS
    terminal: npt.NDArray[np.uint64]  # [n] bit k: child k is terminal
    values: npt.NDArray[np.float32]  # [n, MOST_CHILDREN]
    misses: npt.NDArray[np.int64]  # [n] first the missing positions, each once; the rest is unused
    place: npt.NDArray[np.int64]  # [n] the index of a missing position among the misses


CHILDREN, TERMINAL, VALUES = WORDS, WORDS + 1, WORDS + 2  # offsets in a row, in words
ROW_WORDS = VALUES + MOST_CHILDREN // 2
SLOT_BYTES = 8 * (2 + ROW_WORDS)
_FIRST_VALUE = 2 * VALUES


def new_table(size: int) -> CacheTable:
    """Make an empty table of at most `size` bytes, but at least one set."""
    sets = max(1, size // (SLOT_BYTES * WAYS))
    rows = np.zeros((sets * WAYS, ROW_WORDS), dtype=np.uint64)
    return CacheTable(np.zeros((sets, 2 * WAYS), dtype=np.uint64), rows, rows.view(np.float32))


def nothing_found(size: int) -> Found:
    """Allocate the output of `look_up` for a batch of `size` positions."""
    return Found(
        np.zeros(size, dtype=np.int64),
        np.empty(size, dtype=np.uint64),
        np.empty((size, MOST_CHILDREN), dtype=np.float32),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
    )


@kernel
def _same(positions, index, others, other):
    for word in range(WORDS):  # noqa: SIM110 - a loop is what numba compiles
        if positions[index, word] != others[other, word]:
            return False
    return True


@kernel
def _find(table, positions, index, hashed):
    """Find position `index` of uint64[n, 8].

    Returns its set, its slot there or -1, and the least recently used slot of the set.
    """
    place = np.int64(hashed % np.uint64(table.tags.shape[0]))
    oldest = 0
    for way in range(WAYS):
        if table.tags[place, way] == hashed and _same(
            table.rows, place * WAYS + way, positions, index
        ):
            return place, way, way
        if table.tags[place, WAYS + way] < table.tags[place, WAYS + oldest]:
            oldest = way
    return place, -1, oldest


@kernel
def look_up(table, positions, hashes, now, found):
    """Look up each position of uint64[n, 8]; return the number of misses.

    now: uint64, the time, larger than at the last call. Written: hashes uint64[n], found. A missing
    position that occurs twice in the batch is one miss.
    """
    misses = 0
    for index in range(positions.shape[0]):
        hashed = position_hash(load(positions, index))
        hashes[index] = hashed
        place, way, _ = _find(table, positions, index, hashed)
        if way >= 0:
            table.tags[place, WAYS + way] = now
            slot = place * WAYS + way
            children = np.int64(table.rows[slot, CHILDREN])
            found.children[index] = children
            found.terminal[index] = table.rows[slot, TERMINAL]
            for k in range(children):
                found.values[index, k] = table.values[slot, _FIRST_VALUE + k]
            continue
        found.children[index] = MISS
        first = misses
        for k in range(misses):
            other = found.misses[k]
            if hashes[other] == hashed and _same(positions, other, positions, index):
                first = k
                break
        if first == misses:
            found.misses[misses] = index
            misses += 1
        found.place[index] = first
    return misses


@kernel
def keep(table, positions, hashes, misses, now, offsets, values, terminal):
    """Store the children of the positions `misses` int64[m]; return the number of slots newly used.

    positions: uint64[n, 8]. hashes: uint64[n], by `look_up`. offsets, values, terminal: the arrays
    of the m positions' ChildValues. Positions without children or with more than MOST_CHILDREN are
    not stored.
    """
    taken = 0
    for k in range(misses.shape[0]):
        index = misses[k]
        first = offsets[k]
        children = offsets[k + 1] - first
        if children == 0 or children > MOST_CHILDREN:
            continue
        hashed = hashes[index]
        place, way, oldest = _find(table, positions, index, hashed)
        if way < 0:
            way = oldest
            taken += table.tags[place, way] == _ZERO
            table.tags[place, way] = hashed
            store(table.rows, place * WAYS + way, load(positions, index))
        table.tags[place, WAYS + way] = now
        slot = place * WAYS + way
        table.rows[slot, CHILDREN] = children
        ended = _ZERO
        for child in range(children):
            table.values[slot, _FIRST_VALUE + child] = values[first + child]
            if terminal[first + child]:
                ended |= ONE << np.uint64(child)
        table.rows[slot, TERMINAL] = ended
    return taken


@kernel
def count_all(found, new_offsets, offsets):
    """Write where the children of each position of the batch start, offsets int64[n + 1].

    new_offsets: int64[m + 1], the offsets of the misses' ChildValues.
    """
    offsets[0] = 0
    for index in range(found.children.shape[0]):
        children = found.children[index]
        if children == MISS:
            place = found.place[index]
            children = new_offsets[place + 1] - new_offsets[place]
        offsets[index + 1] = offsets[index] + children


@kernel
def put_together(tables, positions, found, new, offsets, moves, values, terminal):
    """Write the children of a batch, from the found entries and the misses' ChildValues `new`.

    positions: uint64[n, 8]. offsets: int64[n + 1], by `count_all`. Written: moves uint32, values
    float32, terminal uint8, all [children].
    """
    buffer = np.empty(MAX_MOVES, dtype=np.uint32)
    for index in range(positions.shape[0]):
        first = offsets[index]
        children = found.children[index]
        if children == MISS:
            source = new.offsets[found.place[index]]
            for k in range(offsets[index + 1] - first):
                moves[first + k] = new.moves[source + k]
                values[first + k] = new.values[source + k]
                terminal[first + k] = new.terminal[source + k]
            continue
        generate_moves(tables, load(positions, index), buffer)
        for k in range(children):
            moves[first + k] = buffer[k]
            values[first + k] = found.values[index, k]
            terminal[first + k] = (found.terminal[index] >> np.uint64(k)) & ONE


class ExpansionCache:
    """The values of the children of as many positions as fit into `size` bytes.

    Several threads may use a cache. Each lookup holds a lock for some microseconds.
    """

    def __init__(self, size: int) -> None:
        self._table = new_table(size)
        self._lock = threading.Lock()
        self._now = 0
        self._lookups = self._hits = self._positions = 0

    @property
    def use(self) -> CacheUse:
        """The counts of the cache's use since its creation."""
        return CacheUse(self._lookups, self._hits, self._positions, len(self._table.rows))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._table.tags[:] = 0
            self._positions = 0

    def evaluate(self, positions: npt.NDArray[np.uint64], evaluator: Evaluator) -> ChildValues:
        """Return the values of all children of uint64[n, 8].

        The evaluator evaluates only the positions that the cache lacks. Raises EvaluatorFailed as
        the evaluator does.
        """
        positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
        hashes = np.empty(len(positions), dtype=np.uint64)
        found = nothing_found(len(positions))
        with self._lock:
            self._now += 1
            count = look_up(self._table, positions, hashes, np.uint64(self._now), found)
            self._lookups += len(positions)
            self._hits += len(positions) - count
        misses = found.misses[:count]
        new = evaluator.evaluate(positions[misses] if count < len(positions) else positions)
        with self._lock:
            self._positions += keep(
                self._table,
                positions,
                hashes,
                misses,
                np.uint64(self._now),
                new.offsets,
                new.values,
                new.terminal,
            )
        if count == len(positions):
            return new
        offsets = np.empty(len(positions) + 1, dtype=np.int64)
        count_all(found, new.offsets, offsets)
        children = ChildValues(
            offsets,
            np.empty(offsets[-1], dtype=np.uint32),
            np.empty(offsets[-1], dtype=np.float32),
            np.empty(offsets[-1], dtype=np.uint8),
        )
        put_together(
            TABLES,
            positions,
            found,
            new,
            offsets,
            children.moves,
            children.values,
            children.terminal,
        )
        return children


class CachedEvaluator:
    """An evaluator behind a cache, which it may share with evaluators that give equal values."""

    def __init__(self, evaluator: Evaluator, cache: ExpansionCache) -> None:
        self._evaluator = evaluator
        self._cache = cache

    @property
    def uncached(self) -> Evaluator:
        """The evaluator behind the cache."""
        return self._evaluator

    @property
    def name(self) -> str:
        """The evaluator's name."""
        return self._evaluator.name

    @property
    def engine_name(self) -> str | None:
        """The own name of the program behind the evaluator; None if there is no program."""
        return getattr(self._evaluator, "engine_name", None)

    def start(self) -> None:
        """Start the evaluator and compile the cache's kernels. See `Evaluator`."""
        self._evaluator.start()
        ExpansionCache(0).evaluate(np.zeros((2, WORDS), dtype=np.uint64), self._evaluator)

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. See `Evaluator`."""
        return self._cache.evaluate(positions, self._evaluator)

    def forget(self) -> None:
        """Empty the cache, and let the evaluator forget. See `Evaluator`."""
        self._cache.clear()
        self._evaluator.forget()

    def close(self) -> None:
        """Close the evaluator. See `Evaluator`."""
        self._evaluator.close()
