"""Children's values by material and sight after a search of captures: Obscuro's simple evaluation.

The paper put "the material difference and number of squares visible to each player" in the place of
Stockfish's network (§4.1, ablation 6). What searches above it stays. So here the search of captures
that the evaluator `nnue` has for Stockfish's depth 1 reads these two terms at its leaves.
"""

import numpy as np
import numpy.typing as npt

from obscuro.evaluation import scale
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.nnue.capture_search import FIRST, PLIES, search_captures
from obscuro.evaluation.nnue.network import SEARCH_FIELDS
from obscuro.evaluation.nnue.nnue_evaluator import WARM_UP, value_of_units
from obscuro.kernels import kernel
from obscuro.rules.layout import WORDS
from obscuro.rules.make import make_move
from obscuro.rules.position import from_fen, load, store
from obscuro.rules.records import make_record
from obscuro.rules.tables import TABLES


@kernel
def _fill_values(tables, work, positions, offsets, moves, tau, values):
    """Write the value of every child without a value, in the view of the side that moved."""
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        for child in range(offsets[index], offsets[index + 1]):
            if np.isnan(values[child]):
                store(work.positions, FIRST, make_move(pos, moves[child]))
                units = -search_captures(tables, None, work, PLIES)
                values[child] = value_of_units(units, tau)


class SimpleEvaluator:
    """Evaluates every child by a search of captures on material and sight. Never fails."""

    name = "simple"

    def __init__(self, tau: float = scale.TAU) -> None:
        """tau: the number of pawns worth tanh(1)."""
        self._tau = float(tau)
        self._work = make_record(SEARCH_FIELDS)

    def start(self) -> None:
        """Compile the kernels. See `Evaluator`."""
        self.evaluate(from_fen(WARM_UP).reshape(1, WORDS))

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. See `Evaluator`."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
        children = expand(positions, find_mates=True)
        _fill_values(
            TABLES,
            self._work,
            positions,
            children.offsets,
            children.moves,
            self._tau,
            children.values,
        )
        return children

    def forget(self) -> None:
        """Do nothing: the evaluator remembers nothing. See `Evaluator`."""

    def close(self) -> None:
        """Do nothing. See `Evaluator`."""
