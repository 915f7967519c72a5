"""What a leaf of the search is worth: the mean of random playouts, or what the caller says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from obscuro.games.extensive_form import TERMINAL, ExtensiveForm
from obscuro.search.game import CHANCE

LeafValue = Callable[[Any], float]
"""A heuristic: the first player's expected payoff in a state, in the game's units."""


class Rollouts:
    """The mean payoff of random playouts; both players and chance are drawn.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    count : int
        Playouts of each state.
    seed : int
        Of the random numbers.

    """

    def __init__(self, game: ExtensiveForm[Any], count: int = 1, seed: int = 1) -> None:
        """Seed the random numbers."""
        self._game = game
        self._count = count
        self._random = np.random.default_rng(seed)

    def __call__(self, state: Any) -> float:
        """Return the first player's mean payoff, in the game's units."""
        return sum(self._play_out(state) for _ in range(self._count)) / self._count

    def _play_out(self, state: Any) -> float:
        game = self._game
        while (mover := game.player(state)) != TERMINAL:
            actions = game.actions(state)
            if mover == CHANCE:
                chances = np.cumsum(game.chances(state))
                drawn = np.searchsorted(chances, self._random.random() * chances[-1], "right")
                index = min(int(drawn), len(actions) - 1)
            else:
                index = int(self._random.random() * len(actions))
            state = game.apply(state, actions[index])
        return game.payoff(state)
