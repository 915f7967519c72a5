"""The interface by which a game plugs into the search.

A state is a fixed number of `uint64` words that only the game understands. A player's information
key is a 64-bit hash chained over own moves and own observations; equal keys mean the same infoset,
and all nodes of an infoset must have the same actions in the same order.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

MAX, MIN, CHANCE = 0, 1, 2  # ▲, ▼ and chance; also the column of a player's key


class Expansion(NamedTuple):
    """The children of a batch of B leaves, N in all."""

    player: npt.NDArray[np.int8]  # [B] who moves at the leaf: MAX, MIN or CHANCE
    offsets: npt.NDArray[np.int64]  # [B + 1] children of leaf b are offsets[b]:offsets[b + 1]
    states: npt.NDArray[np.uint64]  # [N, W]
    keys: npt.NDArray[np.uint64]  # [N, 2] ▲'s and ▼'s information keys
    values: npt.NDArray[np.float32]  # [N] ▲'s view, [-1, 1]; exact where terminal
    terminal: npt.NDArray[np.uint8]  # [N]
    chance: npt.NDArray[np.float32]  # [N] probabilities under chance nodes, ignored elsewhere


def concatenate_expansions(parts: Sequence[Expansion]) -> Expansion:
    """One expansion of the leaves of several, in their order. There must be one part at least."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([part.offsets[-1] for part in parts])
    offsets = [
        part.offsets[1:] + end - part.offsets[-1] for part, end in zip(parts, ends, strict=True)
    ]
    whole = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    whole[1] = np.concatenate((parts[0].offsets[:1], *offsets))
    return Expansion(*whole)


def take_leaves(expansion: Expansion, leaves: npt.NDArray[np.int64]) -> Expansion:
    """The expansion of some of its leaves, by their indices, int64[b]."""
    begins = expansion.offsets[leaves]
    lengths = expansion.offsets[leaves + 1] - begins
    ends = np.cumsum(lengths)
    children = np.repeat(begins - (ends - lengths), lengths) + np.arange(lengths.sum())
    offsets = np.concatenate((np.zeros(1, np.int64), ends))
    return Expansion(
        expansion.player[leaves], offsets, *(array[children] for array in expansion[2:])
    )


class Game(Protocol):
    """What the search asks of a game. One thread at a time uses one object."""

    state_words: int  # W
    position_words: int  # the first ones, which tell positions apart; the others are counters

    def expand(self, states: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64]) -> Expansion:
        """The children of leaves that are not terminal.

        states: uint64[B, W]; keys: uint64[B, 2], the leaves' own keys, which the children's keys
        are chained to. May block, for instance on another process, but must end.
        """
        ...
