"""The protocol of a small game's rules, which enumeration, solvers and search rely on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from obscuro.search.game import MAX, MIN

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


Word = TypeVar("Word", int, NDArray[np.uint64])

_MASK: Final = 2**64 - 1
# Odd numbers nearest to the fractional parts of √2, √3, √5 and √7 times 2^64.
_KEY_FACTOR: Final = 0x6A09E667F3BCC909
_FIRST_FACTOR: Final = 0xBB67AE8584CAA73B
_SECOND_FACTOR: Final = 0x3C6EF372FE94F82B
_WORD_OFFSET: Final = 0xA54FF53A5F1D36F1

_OTHER_MOVED: Final = 0
"""Stands for the own action in an event in which someone else moved."""


def mix(key: Word, word: Word) -> Word:
    """Chain `word` to `key`: return a hash of both, in this order, that is never 0.

    Both are integers in [0, 2^64) or arrays uint64[n]; the hash has the same type.
    """
    x: Any = (key * _KEY_FACTOR + word + _WORD_OFFSET) & _MASK
    x = ((x ^ (x >> 32)) * _FIRST_FACTOR) & _MASK
    x = ((x ^ (x >> 29)) * _SECOND_FACTOR) & _MASK
    x ^= x >> 32
    hashed: Word = x | (x == 0)
    return hashed


@lru_cache(maxsize=1 << 16)
def event(action: int | None, observation: Observation) -> int:
    """Hash one ply in one player's view, for chaining to the player's key.

    `action` is the player's own action, or None if someone else moved.
    """
    hashed = mix(len(observation), _OTHER_MOVED if action is None else action + 1)
    for number in observation:
        hashed = mix(hashed, number & _MASK)
    return hashed


def initial_key(player: int, observation: Observation) -> int:
    """Return the key of `player` at the start of a game. No two players ever share a key."""
    return mix(player + 1, event(None, observation))


OTHER: Final = {MAX: MIN, MIN: MAX}
"""The other player."""


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
        return OTHER.get(player, player)

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
        return self._game.observation(state, OTHER[player])
