"""The protocol of a small game's rules, which enumeration, solvers and search rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

TERMINAL: Final = -1
"""The "player to move" at the end of a game, in addition to the search's MAX, MIN and CHANCE."""

Observation = tuple[int, ...]
"""A player's observation after one ply: any number of any integers."""

State = TypeVar("State")


class ExtensiveForm(Protocol[State]):
    """A timeable two-player zero-sum game with perfect recall (`Obscuro, App. B`).

    `State` is immutable and determines the rest of the game. Players have perfect recall: a player
    knows its own actions and its observations from the start, one observation per ply. These must
    tell a player whether it is to move, and if so, the legal actions and their order.
    """

    @property
    def name(self) -> str:
        """The game's name in lower case, as in `kuhn_poker`."""

    @property
    def scale(self) -> float:
        """The factor that scales payoffs to [-1, 1]."""

    def start(self) -> State:
        """Return the state before the first ply."""

    def player(self, state: State) -> int:
        """Return who moves: `MAX`, `MIN`, `CHANCE`, or `TERMINAL`."""

    def actions(self, state: State) -> Sequence[int]:
        """Return the legal actions in canonical order: distinct, not negative, none at the end."""

    def chances(self, state: State) -> Sequence[float]:
        """Return the probability of each action of a `CHANCE` state; they add up to 1."""

    def apply(self, state: State, action: int) -> State:
        """Return the state after `action`."""

    def payoff(self, state: State) -> float:
        """Return ▲'s payoff in a `TERMINAL` state, in the game's own units."""

    def observation(self, state: State, player: int) -> Observation:
        """Return the observation of `player` (`MAX` or `MIN`) on reaching `state`."""
