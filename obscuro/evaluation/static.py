"""Children's values by a function of positions, such as a network: the easy way to write an evaluator."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from obscuro.board.layout import WORDS
from obscuro.board.make import make_move
from obscuro.board.position import from_fen, load, store
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.scale import EVALUATION_LIMIT
from obscuro.kernels import kernel

Values = Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.floating]]
"""Of positions uint64[n, 8], the value of each to its side to move, in [-1, 1]: float[n]."""

_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@kernel
def _make_undecided(positions, children, made, which):
    """Make the children without a value: made uint64[m, 8], and their indices which int64[m]."""
    count = 0
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        for child in range(children.offsets[index], children.offsets[index + 1]):
            if np.isnan(children.values[child]):
                store(made, count, make_move(pos, children.moves[child]))
                which[count] = child
                count += 1


class StaticEvaluator:
    """Evaluates every child by itself, by a function that is given all those of a batch at once.

    Kings that are captured or left to be captured, and mates, are decided without it: what it is given
    are positions in which both kings stand, and the side not to move is not in check.

    name: for the user. values: see `Values`; it may be slow to compile or load at its first call,
    which is made by `start`.
    """

    def __init__(self, name: str, values: Values) -> None:
        self.name = name
        self._values = values

    def start(self) -> None:
        """Evaluate a little. See `Evaluator`."""
        self.evaluate(np.array([from_fen(_START)], dtype=np.uint64))

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """The values of all children of uint64[n, 8]. See `Evaluator`."""
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
            # The side to move in a child is the enemy of who chooses it.
            children.values[which] = -np.clip(found, -EVALUATION_LIMIT, EVALUATION_LIMIT)
        return children

    def forget(self) -> None:
        """Do nothing: what a function says depends on nothing else. See `Evaluator`."""

    def close(self) -> None:
        """Nothing to release. See `Evaluator`."""
