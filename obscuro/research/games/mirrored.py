"""A game with its two seats exchanged, so that what solves for ▲ solves for the second player."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic

from obscuro.research.games.extensive_form import ExtensiveForm, Observation, State
from obscuro.search.game import MAX, MIN

_OTHER: Final = {MAX: MIN, MIN: MAX}


class Mirrored(Generic[State]):
    """A game in which ▲ has the seat, the observations and the payoffs that ▼ has in another.

    Parameters
    ----------
    game : ExtensiveForm
        The other game.

    """

    def __init__(self, game: ExtensiveForm[State]) -> None:
        """Keep the game, whose states are used as they are."""
        self._game = game
        self.name = f"{game.name}_mirrored"
        self.scale = game.scale

    def start(self) -> State:
        """Return the state before the first ply."""
        return self._game.start()

    def player(self, state: State) -> int:
        """Return who moves: `MAX`, `MIN`, `CHANCE`, or `TERMINAL`."""
        player = self._game.player(state)
        return _OTHER.get(player, player)

    def actions(self, state: State) -> Sequence[int]:
        """Return the legal actions in canonical order."""
        return self._game.actions(state)

    def chances(self, state: State) -> Sequence[float]:
        """Return the probability of each action of a `CHANCE` state."""
        return self._game.chances(state)

    def apply(self, state: State, action: int) -> State:
        """Return the state after `action`."""
        return self._game.apply(state, action)

    def payoff(self, state: State) -> float:
        """Return ▲'s payoff in a `TERMINAL` state, in the game's own units."""
        return -self._game.payoff(state)

    def observation(self, state: State, player: int) -> Observation:
        """Return the observation of `player` (`MAX` or `MIN`) on reaching `state`."""
        return self._game.observation(state, _OTHER[player])
