"""An evaluator from a function that values positions, such as a network.

This is the easy way to write an evaluator.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.scale import EVALUATION_LIMIT
from obscuro.kernels import kernel
from obscuro.rules.layout import WORDS
from obscuro.rules.make import make_move
from obscuro.rules.position import from_fen, load, store

Values = Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.floating]]
"""Maps positions, uint64[n, 8], to values float[n] in [-1, 1], in the view of the side to move."""

_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@kernel
def _make_undecided(positions, children, made, which):
    """Make the m children without a value (NaN).

    Written: made uint64[m, 8], the children; which int64[m], their indices.
    """
    count = 0
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        for child in range(children.offsets[index], children.offsets[index + 1]):
            if np.isnan(children.values[child]):
                store(made, count, make_move(pos, children.moves[child]))
                which[count] = child
                count += 1


class StaticEvaluator:
    """Evaluates every child independently, with one call of a function for a whole batch.

    The rules decide captures of kings, kings left to be captured, and mates. So the function gets
    only positions with both kings in which the side not to move is not in check.

    name: the evaluator's name for the user. values: see `Values`. `start` makes the first call, so
    that call may compile or load something slow.
    """

    def __init__(self, name: str, values: Values) -> None:
        self.name = name
        self._values = values

    def start(self) -> None:
        """Evaluate the starting position. See `Evaluator`."""
        self.evaluate(np.array([from_fen(_START)], dtype=np.uint64))

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. See `Evaluator`.

        Raises ValueError if the function returns values of a wrong shape.
        """
        positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
        children = expand(positions, find_mates=True)
        count = int(np.isnan(children.values).sum())
        made = np.empty((count, WORDS), dtype=np.uint64)
        which = np.empty(count, dtype=np.int64)
        _make_undecided(positions, children, made, which)
        if count:
            found = np.asarray(self._values(made), dtype=np.float32)
            if found.shape != (count,):
                raise ValueError(f"{count} positions were given values of shape {found.shape}")
            # The side to move in a child is the enemy of the side that chooses the child.
            children.values[which] = -np.clip(found, -EVALUATION_LIMIT, EVALUATION_LIMIT)
        return children

    def forget(self) -> None:
        """Do nothing: the function's values depend on the position alone. See `Evaluator`."""

    def close(self) -> None:
        """Do nothing. See `Evaluator`."""
