"""Children's values by material and sight, as they stand: no capture is looked at.

It needs no other program, and is what other evaluators fall back on. The two terms are those of
Obscuro's simple evaluation (§4.1, ablation 6), which `simple_evaluator` has with Stockfish's search
of captures. The paper does not give their weights. Here pieces have their usual weights, and 20 more
seen squares are worth a pawn. That is enough to develop pieces and too little to sacrifice one.
"""

import numpy as np
import numpy.typing as npt

from obscuro.evaluation import scale
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues
from obscuro.kernels import kernel
from obscuro.rules.bits import popcount
from obscuro.rules.layout import BISHOPS, KNIGHTS, PAWNS, QUEENS, ROOKS, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.moves import pieces_of, side_to_move
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import vision

KNIGHT_PAWNS, BISHOP_PAWNS, ROOK_PAWNS, QUEEN_PAWNS = 3, 3, 5, 9
SEEN_SQUARE_PAWNS = 0.05

_value_of_pawns = kernel(scale.value_of_pawns)


@kernel
def material_pawns(pos, side):
    """Return the material of `side` (0 = White) in pawns."""
    own = pieces_of(pos, side)
    return (
        popcount(pos[PAWNS] & own)
        + KNIGHT_PAWNS * popcount(pos[KNIGHTS] & own)
        + BISHOP_PAWNS * popcount(pos[BISHOPS] & own)
        + ROOK_PAWNS * popcount(pos[ROOKS] & own)
        + QUEEN_PAWNS * popcount(pos[QUEENS] & own)
    )


@kernel
def simple_pawns(tables, pos, side):
    """Return material and sight in pawns in the view of `side`, whoever is to move."""
    material = material_pawns(pos, side) - material_pawns(pos, 1 - side)
    seen = popcount(vision(tables, pos, side)) - popcount(vision(tables, pos, 1 - side))
    return material + SEEN_SQUARE_PAWNS * seen


@kernel
def material_value(tables, pos, side, tau):
    """Return the value of a position in the view of `side`, whoever is to move, in [-1, 1]."""
    return _value_of_pawns(simple_pawns(tables, pos, side), tau)


@kernel
def _fill_values(tables, positions, offsets, moves, tau, values):
    """Write the static value of every child without a value, in the view of the side that moved."""
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        for child in range(offsets[index], offsets[index + 1]):
            if np.isnan(values[child]):
                after = make_move(pos, moves[child])
                values[child] = material_value(tables, after, side_to_move(pos), tau)


class MaterialEvaluator:
    """Evaluates every child independently and without a search. Never fails."""

    name = "material"

    def __init__(self, tau: float = scale.TAU) -> None:
        """tau: the number of pawns worth tanh(1)."""
        self._tau = tau

    def start(self) -> None:
        """Compile the kernels. See `Evaluator`."""
        self.evaluate(np.zeros((1, WORDS), dtype=np.uint64))

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. See `Evaluator`."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
        children = expand(positions, find_mates=False)
        _fill_values(
            TABLES, positions, children.offsets, children.moves, self._tau, children.values
        )
        return children

    def forget(self) -> None:
        """Do nothing: the evaluator remembers nothing. See `Evaluator`."""

    def close(self) -> None:
        """Do nothing. See `Evaluator`."""
