"""A cache of expansions, which saves evaluating a position twice.

Many histories lead to the same position, and an evaluator's values do not depend on the history.
The cache lives as long as its evaluators. Its content lives as long as a game.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.cache_table import (
    count_all,
    keep,
    look_up,
    new_table,
    nothing_found,
    put_together,
)
from obscuro.evaluation.evaluator import CacheUse, ChildValues, Evaluator
from obscuro.rules.layout import WORDS
from obscuro.rules.tables import TABLES


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
