"""The interface by which a game plugs into ZS21.

A state is a fixed number of `uint64` words that only the game understands. A player's information
key is a 64-bit hash chained over its own moves and observations. Equal keys mean the same infoset.
All nodes of an infoset have the same actions in the same order.
"""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

MAX, MIN, CHANCE = 0, 1, 2  # ▲, ▼ and chance; also the column of a player's key

Words = npt.NDArray[np.uint64]


class GrownLeaves(NamedTuple):
    """The children of a batch of B leaves, N in all."""

    player: npt.NDArray[np.int8]  # [B] who moves at the leaf: MAX, MIN or CHANCE
    offsets: npt.NDArray[np.int64]  # [B + 1] children of leaf b are offsets[b]:offsets[b + 1]
    states: Words  # [N, W]
    keys: Words  # [N, 2] ▲'s and ▼'s information keys
    values: npt.NDArray[np.float64]  # [N] ▲'s view, [-1, 1]; exact where terminal
    terminal: npt.NDArray[np.bool_]  # [N]
    forcing: npt.NDArray[np.bool_]  # [N] more interesting than any move that is not
    chance: npt.NDArray[np.float64]  # [N] probabilities under chance nodes, else 1


class TrunkGame(Protocol):
    """What ZS21 asks of a game."""

    state_words: int  # W
    identity_words: int  # states that agree in so many first words are transpositions

    def grow(self, states: Words, keys: Words) -> GrownLeaves:
        """Return the children of leaves that are not terminal.

        states: uint64[B, W]. keys: uint64[B, 2], the leaves' own keys, to which the children's keys
        are chained.
        """
        ...
