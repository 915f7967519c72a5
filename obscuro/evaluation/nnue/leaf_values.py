"""What a search with `nnue` gives to a leaf at given positions, without the positions before them."""

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.children import has_safe_reply
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.nnue.accumulator import refresh
from obscuro.evaluation.nnue.capture_search import FIRST, PLIES, search_captures
from obscuro.evaluation.nnue.install import load_networks
from obscuro.evaluation.nnue.network import Network
from obscuro.evaluation.nnue.nnue_evaluator import leaf_value, shared_weights
from obscuro.evaluation.nnue.weights import arrange
from obscuro.evaluation.nnue.workspace import make_workspace
from obscuro.evaluation.scale import TAU, value_of_mate
from obscuro.kernels import kernel
from obscuro.rules.layout import KINGS, MAX_MOVES, WORDS
from obscuro.rules.moves import has_move, pieces_of, side_to_move
from obscuro.rules.position import load, store
from obscuro.rules.tables import TABLES

_MATED = -value_of_mate(1)  # the side to move will lose its king at the enemy's next move
_NOTHING = np.uint64(0)


@kernel
def fill_leaf_values(tables, weights, work, no_weights, positions, replies, tau, values):
    """Write the value of a leaf at each position, in the view of the side to move.

    no_weights: float64[0]. positions: uint64[n, 8]. replies: uint32[MAX_MOVES], a buffer. Written:
    values float32[n].
    """
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        side = side_to_move(pos)
        if pos[KINGS] & pieces_of(pos, side) == _NOTHING or not has_move(tables, pos):
            values[index] = -1.0
        elif pos[KINGS] & pieces_of(pos, 1 - side) == _NOTHING or king_is_attacked(
            tables, pos, 1 - side
        ):
            values[index] = 1.0
        elif not has_safe_reply(tables, pos, replies):
            values[index] = _MATED
        else:
            refresh(weights, work, FIRST, pos, 0)
            refresh(weights, work, FIRST, pos, 1)
            store(work.positions, FIRST, pos)
            units = search_captures(tables, weights, work, PLIES)
            values[index] = -leaf_value(tables, pos, -units, no_weights, no_weights, tau)


class LeafValuer:
    """Values positions as the search values leaves, with τ = 6 and no correction.

    network: None for that of the installed Stockfish. Raises NetworkError if there is none.
    name: the network's name.
    """

    def __init__(self, network: Network | None = None) -> None:
        if network is None:
            installed = load_networks(None)[0]
            self.name, self._weights = installed.name, shared_weights(installed)
        else:
            self.name, self._weights = "a given network", arrange(network)
        self._work = make_workspace(self._weights)

    def __call__(self, positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.float32]:
        """Return the values of positions uint64[n, 8] in the view of their sides to move, float32[n]."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
        values = np.empty(len(positions), dtype=np.float32)
        replies = np.empty(MAX_MOVES, dtype=np.uint32)
        none = np.zeros(0)
        fill_leaf_values(TABLES, self._weights, self._work, none, positions, replies, TAU, values)
        return values
