"""Strategies of small games, as {information key: probabilities} and as one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import State
from obscuro.research.games.game_tree import GameTree

Strategy = Mapping[int, Sequence[float] | NDArray[np.floating[Any]]]
"""The mover's information key to the probabilities of its actions, in canonical order.

No two players share a key, so one mapping can hold the strategies of both.
"""

_TOLERANCE = 1e-3
"""How far the sum of probabilities may be from 1, as they may have single precision."""


def policy_of(tree: GameTree[State], strategy: Strategy) -> NDArray[np.float64]:
    """Return the probability of every slot under `strategy`, float64[S].

    At infosets that `strategy` lacks the policy is uniform. Keys of other games are ignored.
    Probabilities are divided by their sum.

    Raises
    ------
    ValueError
        If an infoset has the wrong number of probabilities, if one of them is negative, or if their
        sum is not about 1.

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
    """Convert `policy`, float64[S], to a mapping from information key to probabilities."""
    offsets = tree.infosets.offsets.tolist()
    return {
        key: policy[offsets[i] : offsets[i + 1]].tolist()
        for i, key in enumerate(tree.infosets.key.tolist())
    }
