"""What a leaf of the search is worth: the mean of random playouts, or what the caller says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from obscuro.research.any_game.game_fault import GameFaultError
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm
from obscuro.search.game import CHANCE

LeafValue = Callable[[Any], float]
"""A heuristic: the first player's expected payoff in a state, in the game's units."""
PlayOut = Callable[[Any, Callable[[], float]], float]
"""A random playout of a state; the second argument draws a number in [0, 1)."""


class Rollouts:
    """The mean payoff of random playouts; both players and chance are drawn.

    Parameters
    ----------
    game : ExtensiveForm
        The game. If it has a method `play_out(state, draw)`, a `PlayOut`, that plays instead. A
        game may well be faster at it, as it need not keep the states in between.
    count : int
        Playouts of each state.
    seed : int
        Of the random numbers.

    """

    def __init__(self, game: ExtensiveForm[Any], count: int = 1, seed: int = 1) -> None:
        """Seed the random numbers."""
        self._game = game
        self._count = count
        self._draw = np.random.default_rng(seed).random
        self._play_out: PlayOut = getattr(game, "play_out", self._play_plies)

    def __call__(self, state: Any) -> float:
        """Return the first player's mean payoff, in the game's units.

        Raises GameFaultError if a playout comes to a state where nobody has an action.
        """
        return sum(self._play_out(state, self._draw) for _ in range(self._count)) / self._count

    def _play_plies(self, state: Any, draw: Callable[[], float]) -> float:
        game = self._game
        while (mover := game.player(state)) != TERMINAL:
            actions = game.actions(state)
            if not len(actions):
                fault = f"the game is not over, and nobody has an action, in the state {state!r}"
                raise GameFaultError(game.name, fault)
            if mover == CHANCE:
                chances = np.cumsum(game.chances(state))
                drawn = np.searchsorted(chances, draw() * chances[-1], "right")
                index = min(int(drawn), len(actions) - 1)
            else:
                index = int(draw() * len(actions))
            state = game.apply(state, actions[index])
        return game.payoff(state)
