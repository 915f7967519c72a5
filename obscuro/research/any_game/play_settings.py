"""How a player of any game thinks: its limits, its belief, its search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from obscuro.research.any_game.history_belief import MOST_HISTORIES
from obscuro.research.games.solve import LEAST_VARIANCE
from obscuro.search.parameters import SearchParameters

PARAMETERS: Final = SearchParameters(puct_least_variance=LEAST_VARIANCE, purification=False)
"""Of the search, unless the caller says otherwise."""
ROLLOUTS: Final = 8
"""Playouts of a leaf, unless the caller says otherwise.

The tree takes the best of many leaves, and a single playout is all or nothing. So with one playout
a leaf the search believes luck (docs/results/any_game.md).
"""
MEMORY: Final = 64
"""MiB for the search's trees, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class PlaySettings:
    """The settings of a `GamePlayer`. A search ends at the first limit that it reaches.

    seconds: of a turn; a player with a limit of time does not repeat itself. iterations: of the
    solver in a turn. nodes: histories that a search adds to its tree. most_histories: of the
    belief; more are sampled. rollouts: playouts of a leaf that no heuristic values. memory: MiB for
    the trees. parameters: of the search, such as `purification` and `unfrozen`.

    The default parameters differ from the engine's in chess: an action that seems bad is tried
    again sooner, and the strategy is played as it is, without purification. In small games both
    make what is played far less exploitable (docs/any_game.md).
    """

    seconds: float | None = None
    iterations: int | None = None
    nodes: int | None = None
    most_histories: int = MOST_HISTORIES
    rollouts: int = ROLLOUTS
    memory: int = MEMORY
    parameters: SearchParameters = PARAMETERS

    def __post_init__(self) -> None:
        """Raise ValueError if there is no limit, or if a number makes no sense."""
        limits = (self.seconds, self.iterations, self.nodes)
        if all(limit is None for limit in limits):
            raise ValueError("set a limit of a turn: seconds, iterations or nodes")
        for name in ("seconds", "iterations", "nodes", "most_histories", "rollouts", "memory"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be above 0, not {value}")
