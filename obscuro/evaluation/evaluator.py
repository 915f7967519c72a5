"""What an evaluator is: the interface that the search's chess side works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class ChildValues(NamedTuple):
    """The values of all children of a batch of positions.

    The children of position b are offsets[b]:offsets[b + 1], in the order of `generate_moves`.
    Values are in [-1, 1] from the view of the side to move in the parent, who chooses among them.
    """

    offsets: npt.NDArray[np.int64]  # [positions + 1]
    moves: npt.NDArray[np.uint32]  # [children] move words
    values: npt.NDArray[np.float32]  # [children]
    terminal: npt.NDArray[np.uint8]  # [children] 1: king captured or enemy stalemated, value +1


class EvaluatorFailed(RuntimeError):  # noqa: N818 - says what happened, as `subprocess.TimeoutExpired`
    """A batch could not be evaluated; the message says why, in words for the user.

    for_good: whether there is no use in asking again before `start`.
    """

    def __init__(self, message: str, *, for_good: bool = False) -> None:
        super().__init__(message)
        self.for_good = for_good


class EvaluatorNotReady(EvaluatorFailed):
    """Not this batch, but a later one: what is needed is being started."""


class Evaluator(Protocol):
    """Evaluates the children of positions. One thread at a time uses an evaluator."""

    @property
    def name(self) -> str:
        """What evaluates, for the user: `stockfish`, `material`."""

    def start(self) -> None:
        """Load and compile all that `evaluate` needs, so that the first batch takes no longer.

        May be called again; does nothing then. Raises EvaluatorFailed.
        """

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """The values of all children of uint64[n, 8], in bounded time. Raises EvaluatorFailed."""

    def forget(self) -> None:
        """A new game: from here on, the same batches are given the same values as the last time."""

    def close(self) -> None:
        """Release everything, processes above all. May be called again, and from another thread."""


class CacheUse(NamedTuple):
    """How a cache has been used."""

    lookups: int = 0  # positions that were asked for
    hits: int = 0  # of these, that needed no evaluation
    positions: int = 0  # in it now
    capacity: int = 0

    def since(self, before: CacheUse) -> CacheUse:
        """The use between two looks at it."""
        return self._replace(lookups=self.lookups - before.lookups, hits=self.hits - before.hits)
