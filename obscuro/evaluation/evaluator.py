"""The interface of evaluators, which the chess side of the search calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class ChildValues(NamedTuple):
    """The values of all children of a batch of positions.

    The children of position b are offsets[b]:offsets[b + 1], in the order of `generate_moves`.
    Values are in [-1, 1], in the view of the side to move in the parent, which chooses among them.
    Where a side without a move draws, the search puts 0 in the place of that +1.
    """

    offsets: npt.NDArray[np.int64]  # [positions + 1]
    moves: npt.NDArray[np.uint32]  # [children] move words
    values: npt.NDArray[np.float32]  # [children]
    terminal: npt.NDArray[np.uint8]  # [children] 1: king captured or enemy without a move, +1


class EvaluatorFailed(RuntimeError):  # noqa: N818 - named like `subprocess.TimeoutExpired`
    """The evaluator could not evaluate a batch; the message tells the user why.

    for_good: whether every later batch will fail too, until the next call of `start`.
    """

    def __init__(self, message: str, *, for_good: bool = False) -> None:
        super().__init__(message)
        self.for_good = for_good


class EvaluatorNotReady(EvaluatorFailed):
    """The evaluator is still starting and cannot evaluate this batch. A later one may work."""


class Evaluator(Protocol):
    """Evaluates the children of positions. One thread at a time uses an evaluator."""

    @property
    def name(self) -> str:
        """The evaluator's name for the user: `stockfish`, `material`."""

    def start(self) -> None:
        """Load and compile all that `evaluate` needs, so that the first batch is not slower.

        A second call does nothing. Raises EvaluatorFailed.
        """

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8], in bounded time.

        Raises EvaluatorFailed.
        """

    def forget(self) -> None:
        """Forget earlier batches, for a new game.

        After each call of `forget` the same sequence of batches gets the same values.
        """

    def close(self) -> None:
        """Release everything, processes above all.

        Any thread may call it. A second call does nothing.
        """


class CacheUse(NamedTuple):
    """Counts of a cache's use."""

    lookups: int = 0  # requested positions
    hits: int = 0  # of these, positions found in the cache
    positions: int = 0  # positions in the cache now
    capacity: int = 0  # positions that it can hold

    def since(self, before: CacheUse) -> CacheUse:
        """Return the counts with the lookups and hits since `before`."""
        return self._replace(lookups=self.lookups - before.lookups, hits=self.hits - before.hits)
