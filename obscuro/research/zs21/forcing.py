"""Which moves are forcing: captures, checks and promotions (K, D.2)."""

import numpy as np

from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.kernels import kernel
from obscuro.rules.bits import popcount
from obscuro.rules.layout import PAWNS
from obscuro.rules.moves import occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import load


@kernel
def mark_forcing(tables, parents, offsets, children, forcing):
    """Write which children are reached by a forcing move: bool[N].

    parents: uint64[B, ≥ 8]. offsets: int64[B + 1], where each parent's children start. children:
    uint64[N, ≥ 8]. A check attacks the king, whether its owner sees that or not.
    """
    for index in range(parents.shape[0]):
        pos = load(parents, index)
        mover = side_to_move(pos)
        pieces = popcount(occupied_squares(pos))
        pawns = popcount(pos[PAWNS] & pieces_of(pos, mover))
        for i in range(offsets[index], offsets[index + 1]):
            child = load(children, i)
            forcing[i] = (
                popcount(occupied_squares(child)) < pieces
                or popcount(child[PAWNS] & pieces_of(child, mover)) < pawns
                or king_is_attacked(tables, child, 1 - mover)
            )


def forcing_moves(
    tables: object, parents: np.ndarray, offsets: np.ndarray, children: np.ndarray
) -> np.ndarray:
    """Return which children are reached by a forcing move, bool[N]; see `mark_forcing`."""
    forcing = np.empty(len(children), dtype=np.bool_)
    mark_forcing(tables, parents, offsets, children, forcing)
    return forcing
