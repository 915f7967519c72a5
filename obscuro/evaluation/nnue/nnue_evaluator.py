"""Children's values by Stockfish's network in this process, with a search of captures.

The network and its scale are Stockfish's, so a value means the same as one of `StockfishEvaluator`.
On positions from self-play the two evaluators' values in [-1, 1] differ by 0.02 on average. No
common factor brings them closer (docs/network.md).
"""

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from obscuro.evaluation import scale
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.king_safety import attacked_squares
from obscuro.evaluation.nnue.accumulator import refresh, update
from obscuro.evaluation.nnue.capture_search import FIRST, MATED, PLIES, search_captures
from obscuro.evaluation.nnue.captures import PAWN_UNITS
from obscuro.evaluation.nnue.install import InstalledNetwork, load_networks
from obscuro.evaluation.nnue.layers import pieces_units
from obscuro.evaluation.nnue.network import Network, NetworkError, arrange, make_workspace
from obscuro.evaluation.scale import TAU
from obscuro.evaluation.stockfish_program import UNITS_PER_PAPER_PAWN
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import KINGS, ONE, PAWNS, QUEENS, ROOKS, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.moves import occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import from_fen, load, store
from obscuro.rules.tables import TABLES

EXPOSED_PAWNS = 6.0  # of a king to move, all of whose squares are attacked
CONFINED_PAWNS = 2.0  # of a king without a square, beside one that may go everywhere
NEAR_PAWNS = 0.1  # for each step by which the kings are nearer to each other
FARTHEST = 7  # steps between two squares of the board
SQUARES = 64
CALM_PAWNS = 6.0  # where pawns have to decide, what is more than this counts less
CALM_SLOPE = 0.4  # so 20 pawns become 11.6, less than a queen is worth here
WON_UNITS = 500  # Stockfish's units, below which nothing is decided
NO_SIDE = -1


@kernel
def region_of_king(tables, king, closed):
    """Return the squares that a king can reach, uint64, its own among them.

    king: its square, as a bit. closed: squares that it does not enter.
    """
    region = king
    edge = king
    while edge:
        square = lowest_square(edge)
        edge &= edge - ONE
        found = tables.king[square] & ~closed & ~region
        region |= found
        edge |= found
    return region


@kernel
def side_of_won_bare_king(pos, units):
    """Return the side that has lost with nothing but its king, 0 = White, or NO_SIDE.

    units: what a search says of the position, in the view of the side that is not to move.
    """
    if abs(units) < WON_UNITS:
        return NO_SIDE
    side = side_to_move(pos) if units > 0 else 1 - side_to_move(pos)
    own = pieces_of(pos, side)
    return side if own == pos[KINGS] & own else NO_SIDE


@kernel
def progress_pawns(tables, pos, side):
    """Return what brings the bare king of `side` nearer to its end, in pawns.

    At least 0. Both kings are on the board.
    """
    bit = pos[KINGS] & pieces_of(pos, side)
    others = pieces_of(pos, 1 - side)
    king, other = lowest_square(bit), lowest_square(pos[KINGS] & others)
    files, ranks = abs((king & 7) - (other & 7)), abs((king >> 3) - (other >> 3))
    attacked = attacked_squares(tables, pos, others, 1 - side, occupied_squares(pos) & ~bit)
    confined = SQUARES - popcount(region_of_king(tables, bit, attacked | others))
    progress = CONFINED_PAWNS * confined / SQUARES + NEAR_PAWNS * (FARTHEST - max(files, ranks))
    if side_to_move(pos) == side:
        moves = tables.king[king]
        progress += EXPOSED_PAWNS * popcount(moves & attacked) / popcount(moves)
    return progress


@kernel
def won_ending_pawns(tables, pos, side, units):
    """Return what a won ending against the bare king of `side` is worth to the other one, in pawns.

    units: the network's value. It counts where a pawn has to decide, without rook or queen. There it
    may be twice what it is after the promotion, so the upper part is pressed together.
    """
    if pos[PAWNS] and not (pos[ROOKS] | pos[QUEENS]):
        pawns = units / UNITS_PER_PAPER_PAWN
        return min(pawns, CALM_PAWNS + CALM_SLOPE * (pawns - CALM_PAWNS))
    material = pieces_units(pos) + PAWN_UNITS * popcount(pos[PAWNS])
    return material / UNITS_PER_PAPER_PAWN + progress_pawns(tables, pos, side)


_SURELY_MATED = MATED - 1_000  # larger than every evaluation
WARM_UP = "rnbqkbnr/ppp2ppp/3p4/1B2p3/4P3/8/PPPP1PPP/RNBQK1NR b KQkq - 0 1"

_value_of_pawns = kernel(scale.value_of_pawns)
_value_of_mate = kernel(scale.value_of_mate)


@kernel
def value_of_units(units, tau):
    """Convert units to a value in [-1, 1], both in the view of the side that moved."""
    size = abs(units)
    if size < _SURELY_MATED:
        return _value_of_pawns(units / UNITS_PER_PAPER_PAWN, tau)
    plies = MATED - size + 1  # the plies from before the move until the mate
    return _value_of_mate((plies + 1) // 2 if units > 0 else -(plies // 2))


@kernel
def leaf_value(tables, pos, units, tau):
    """Return the value of a position that a search of captures gave `units`.

    Both are in the view of the side that moved.
    """
    if abs(units) >= _SURELY_MATED:
        return value_of_units(units, tau)
    weak = side_of_won_bare_king(pos, units)
    if weak != NO_SIDE:
        pawns = won_ending_pawns(tables, pos, weak, abs(units))
        return _value_of_pawns(pawns if units > 0 else -pawns, tau)
    return value_of_units(units, tau)


@kernel
def fill_values(tables, weights, work, positions, offsets, moves, plies, tau, values):
    """Write the value of every child without a value, in the view of the side that moved.

    positions: uint64[n, 8]. offsets, moves, values: the arrays of their ChildValues. plies:
    see `search_captures`. A position with an undecided child must have both kings.
    """
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        ready = False
        for child in range(offsets[index], offsets[index + 1]):
            if not np.isnan(values[child]):
                continue
            if not ready:
                refresh(weights, work, FIRST - 1, pos, 0)
                refresh(weights, work, FIRST - 1, pos, 1)
                ready = True
            after = make_move(pos, moves[child])
            update(weights, work, FIRST - 1, FIRST, pos, after, moves[child])
            store(work.positions, FIRST, after)
            units = -search_captures(tables, weights, work, plies)
            values[child] = leaf_value(tables, after, units, tau)


_sharing = threading.Lock()
_shared: dict[str, Any] = {}  # weights by the path of their network


def shared_weights(installed: InstalledNetwork) -> Any:
    """Return the weights of a network. All evaluators of this process share them."""
    with _sharing:
        if installed.path not in _shared:
            _shared[installed.path] = arrange(installed.network)
        return _shared[installed.path]


class NnueEvaluator:
    """Evaluates with the network of the installed Stockfish. Fails only without a network.

    stockfish: the path of the Stockfish to take the network from; None: the usual places. tau: the
    number of pawns worth tanh(1). searched: whether to search captures. Static values are four
    times as fast but rank children much less like Stockfish. network: replaces Stockfish's network.
    """

    def __init__(
        self,
        stockfish: str | None = None,
        tau: float = TAU,
        *,
        searched: bool = True,
        network: Network | None = None,
    ) -> None:
        """Store the settings without loading the network."""
        self.name = "nnue"
        self._network = network
        self._stockfish = stockfish
        self._tau = float(tau)
        self._plies = PLIES if searched else 0
        self._loaded: tuple[Any, Any] | None = None  # shared weights, own workspace

    def start(self) -> None:
        """Load the network and compile the kernels. Raises EvaluatorFailed. See `Evaluator`."""
        if self._loaded is None:
            self.evaluate(from_fen(WARM_UP).reshape(1, WORDS))

    def _load(self) -> tuple[Any, Any]:
        """Return the weights and a new workspace. Raises EvaluatorFailed."""
        if self._network is not None:
            weights = arrange(self._network)
        else:
            try:
                weights = shared_weights(load_networks(self._stockfish)[0])
            except NetworkError as error:
                raise EvaluatorFailed(f"no network: {error}", for_good=True) from error
        return weights, make_workspace(weights)

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. See `Evaluator`.

        Raises EvaluatorFailed without a network.
        """
        loaded = self._loaded or self._load()
        self._loaded = loaded
        positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
        children = expand(positions, find_mates=True)
        fill_values(
            TABLES,
            *loaded,
            positions,
            children.offsets,
            children.moves,
            self._plies,
            self._tau,
            children.values,
        )
        return children

    def forget(self) -> None:
        """Do nothing: the remembered sums change no value. See `Evaluator`."""

    def close(self) -> None:
        """Drop the workspace; the weights stay for the next evaluator. See `Evaluator`."""
        self._loaded = None
