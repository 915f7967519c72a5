"""The rules of a small game: what a game has to answer to be enumerated, solved and searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

TERMINAL: Final = -1
"""The "player to move" where the game is over, besides the search's MAX, MIN and CHANCE."""

Observation = tuple[int, ...]
"""What a player is shown after one ply: any integers, of any number."""

State = TypeVar("State")


class ExtensiveForm(Protocol[State]):
    """A timeable two-player zero-sum game with perfect recall (`Obscuro, App. B`).

    `State` is immutable and holds all that the rest of the game depends on. Nobody forgets:
    what a player knows at a node is the chain of the player's own actions and observations from
    the start, one observation per ply. It must tell the player whose turn it is, if that is the
    player's own, and then also the legal actions and their order.
    """

    @property
    def name(self) -> str:
        """The game's name in lower case, as in `kuhn_poker`."""

    @property
    def scale(self) -> float:
        """What payoffs are multiplied with so that they lie in [-1, 1]."""

    def start(self) -> State:
        """The state before the first ply."""

    def player(self, state: State) -> int:
        """Who moves: `MAX`, `MIN`, `CHANCE`, or `TERMINAL`."""

    def actions(self, state: State) -> Sequence[int]:
        """The legal actions in canonical order: distinct, never negative; none at the end."""

    def chances(self, state: State) -> Sequence[float]:
        """The probability of each action of a `CHANCE` state; they add up to 1."""

    def apply(self, state: State, action: int) -> State:
        """The state after `action`."""

    def payoff(self, state: State) -> float:
        """▲'s payoff in a `TERMINAL` state, in the game's own units."""

    def observation(self, state: State, player: int) -> Observation:
        """What `player` (`MAX` or `MIN`) is shown on reaching `state`."""
