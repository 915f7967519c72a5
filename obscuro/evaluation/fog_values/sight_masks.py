"""Which squares both sides of positions see, as masks."""

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.rules.moves import side_to_move
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import vision


@kernel
def _fill_sight_masks(tables, positions, seen):
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        mover = side_to_move(pos)
        seen[index, 0] = vision(tables, pos, mover)
        seen[index, 1] = vision(tables, pos, 1 - mover)


def sight_masks(positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return what the side to move sees in positions uint64[n, 8], and what the other side sees.

    The masks are uint64[n, 2].
    """
    seen = np.empty((len(positions), 2), dtype=np.uint64)
    _fill_sight_masks(TABLES, np.ascontiguousarray(positions, dtype=np.uint64), seen)
    return seen
