"""Each child searched one ply deep: K runs Stockfish at depth 1 on every node (K, D.1)."""

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.static import StaticEvaluator


class ChildSearch(StaticEvaluator):
    """Values a child by the best of its own children, which another evaluator values.

    It needs an evaluation for each move of each child. The rules decide a child as they do without
    it.

    inner: the other evaluator, whose name it has.
    """

    def __init__(self, inner: Evaluator) -> None:
        super().__init__(inner.name, self._best_replies)
        self._inner = inner

    @property
    def engine_name(self) -> str | None:
        """The own name of the program behind the other evaluator; None if there is no program."""
        return getattr(self._inner, "engine_name", None)

    def start(self) -> None:
        """Start the other evaluator, and load the kernels. See `Evaluator`."""
        self._inner.start()
        super().start()

    def forget(self) -> None:
        """Let the other evaluator forget. See `Evaluator`."""
        self._inner.forget()

    def close(self) -> None:
        """Close the other evaluator. See `Evaluator`."""
        self._inner.close()

    def _best_replies(self, positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.float32]:
        """Return the value of the best move in positions uint64[n, 8], the mover's view."""
        found = self._inner.evaluate(positions)
        best: npt.NDArray[np.float32] = np.maximum.reduceat(found.values, found.offsets[:-1])
        return best
