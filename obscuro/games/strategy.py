"""Strategies of small games: {information key: probabilities}, and the same as one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.games.extensive_form import State
from obscuro.games.game_tree import GameTree

Strategy = Mapping[int, Sequence[float] | NDArray[np.floating[Any]]]
"""The probabilities of the actions, in canonical order, under the key of the one who moves.

The players' keys differ, so one mapping can hold both players' strategies.
"""

_TOLERANCE = 1e-3
"""How far probabilities in single precision may be from adding up to 1."""


def policy_of(tree: GameTree[State], strategy: Strategy) -> NDArray[np.float64]:
    """The probability of every slot [S] under `strategy`.

    Infosets that `strategy` lacks are played uniformly; keys that are not the game's are
    ignored. Probabilities are divided by their sum.

    Raises
    ------
    ValueError
        If an infoset's probabilities are too many or too few, negative, or do not add up to 1.

    """
    offsets = tree.infosets.offsets
    counts = np.diff(offsets)
    policy = np.repeat(1.0 / counts, counts)
    for i, key in enumerate(tree.infosets.key.tolist()):
        if key not in strategy:
            continue
        probabilities = np.asarray(strategy[key], np.float64)
        if probabilities.shape != (counts[i],):
            raise ValueError(f"infoset {key:016x} has {counts[i]} actions: {probabilities}")
        total = float(probabilities.sum())
        if not (abs(total - 1.0) <= _TOLERANCE and np.all(probabilities >= 0.0)):
            raise ValueError(f"infoset {key:016x}: not a distribution: {probabilities}")
        policy[offsets[i] : offsets[i + 1]] = probabilities / total
    return policy


def strategy_of(tree: GameTree[State], policy: NDArray[np.float64]) -> dict[int, list[float]]:
    """The mapping that holds the probabilities `policy` [S] of all slots."""
    offsets = tree.infosets.offsets.tolist()
    return {
        key: policy[offsets[i] : offsets[i + 1]].tolist()
        for i, key in enumerate(tree.infosets.key.tolist())
    }
