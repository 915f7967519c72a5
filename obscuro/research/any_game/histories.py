"""The histories of any game, numbered as they are met.

The search holds a number in place of a state. A history has one number, by whichever way it is met.
▲ is the player in `seat`, which searches; ▼ is the other one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from obscuro.research.any_game.game_fault import GameFaultError
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, Observation
from obscuro.research.games.information import event, initial_key, mix
from obscuro.search.game import CHANCE, MAX, MIN

START: Final = 0
"""The number of the empty history."""
UNNOTICED: Final = 0
"""The event of a ply that a player does not notice; no other event has this number."""

_TOLERANCE: Final = 1e-6
_INTEGERS: Final = (int, np.integer)
_OVER: Final[Observation] = ()
"""Stands for the observations of a terminal state: nobody has to tell them apart."""


def is_cumulative(game: ExtensiveForm[Any]) -> bool:
    """Return whether each observation is all that a player knows, its information state.

    Such a game has the attribute `cumulative`, which is true. A ply that changes neither is not
    noticed, so a player need not know how many plies were made. In other games a player notices
    every ply and remembers its observations itself.
    """
    return bool(getattr(game, "cumulative", False))


def noticed(
    own_action: int | None, observation: Observation, before: Observation, cumulative: bool
) -> int:
    """Return one player's event of a ply, or `UNNOTICED`.

    own_action: None if someone else moved. before: the player's observation before the ply.
    """
    if cumulative and own_action is None and observation == before:
        return UNNOTICED
    return event(own_action, observation)


def chained(key: int, happened: int) -> int:
    """Return an information key after an event; `UNNOTICED` does not change it."""
    return key if happened == UNNOTICED else mix(key, happened)


class PlayedHistory(NamedTuple):
    """One history. Columns of pairs are ▲'s and ▼'s."""

    state: Any
    player: int  # MAX, MIN, CHANCE or TERMINAL
    parent: int  # its number; -1 at the start
    action: int  # the one that led here; -1 at the start
    events: tuple[int, int]  # of the ply that led here
    observations: tuple[Observation, Observation]
    keys: tuple[int, int]  # information keys


class HistoryTable:
    """All histories met in one game of one player.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    seat : int
        `MAX` if ▲ is the first player of the game, `MIN` if it is the second.

    Raises
    ------
    GameFaultError
        If the game's scale is not above 0, or if an observation is not a tuple of integers. The
        methods raise it, too.

    """

    def __init__(self, game: ExtensiveForm[Any], seat: int = MAX) -> None:
        """Begin with the empty history."""
        if not (game.scale > 0 and math.isfinite(game.scale)):
            raise GameFaultError(game.name, f"the scale must be above 0, and is {game.scale}")
        self.game = game
        self.seat = seat
        self.cumulative = is_cumulative(game)
        self.sign = 1.0 if seat == MAX else -1.0
        """Times a payoff of the first player gives ▲'s."""
        start = game.start()
        seen = self._observations(start)
        keys = (initial_key(self.person(MAX), seen[MAX]), initial_key(self.person(MIN), seen[MIN]))
        self._rows = [
            PlayedHistory(start, self._player(start), -1, -1, (UNNOTICED, UNNOTICED), seen, keys)
        ]
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """Return how many histories have a number."""
        return len(self._rows)

    def __getitem__(self, number: int) -> PlayedHistory:
        """Return a history by its number."""
        return self._rows[number]

    def person(self, side: int) -> int:
        """Return which player of the game is ▲ (`MAX`) or ▼ (`MIN`)."""
        return side if self.seat == MAX else 1 - side

    def actions(self, number: int) -> Sequence[int]:
        """Return the legal actions after a history, or those of chance."""
        return self.game.actions(self._rows[number].state)

    def payoff(self, number: int) -> float:
        """Return ▲'s payoff at the end of a history, scaled to [-1, 1].

        Raises GameFaultError if it is no number, or is not in that range.
        """
        payoff, scale = self.game.payoff(self._rows[number].state), self.game.scale
        if not isinstance(payoff, (int, float, np.number)):
            raise GameFaultError(
                self.game.name, f"the payoff {payoff!r} is not a number", self.line(number)
            )
        scaled = payoff * scale
        if not abs(scaled) <= 1.0 + _TOLERANCE:
            fault = f"the payoff {payoff} times the scale {scale} is not in [-1, 1]"
            raise GameFaultError(self.game.name, fault, self.line(number))
        return self.sign * float(scaled)

    def after(self, number: int, action: int) -> PlayedHistory:
        """Return the history after one more action, which need not have a number."""
        known = self._numbers.get((number, action))
        if known is not None:
            return self._rows[known]
        row = self._rows[number]
        state = self.game.apply(row.state, action)
        player = self._player(state)
        seen = (_OVER, _OVER) if player == TERMINAL else self._observations(state)
        own = [action if row.player == side else None for side in (MAX, MIN)]
        happened = [
            noticed(own[side], seen[side], row.observations[side], self.cumulative)
            for side in (MAX, MIN)
        ]
        keys = (chained(row.keys[MAX], happened[MAX]), chained(row.keys[MIN], happened[MIN]))
        events = (happened[MAX], happened[MIN])
        return PlayedHistory(state, player, number, action, events, seen, keys)

    def number(self, history: PlayedHistory) -> int:
        """Return the number of a history that `after` returned; it gets one if it has none."""
        place = (history.parent, history.action)
        known = self._numbers.setdefault(place, len(self._rows))
        if known == len(self._rows):
            self._rows.append(history)
        return known

    def children(self, number: int) -> list[int]:
        """Return the numbers of all histories with one more action, in the order of the actions."""
        return [self.number(self.after(number, action)) for action in self.actions(number)]

    def line(self, number: int) -> list[int]:
        """Return all actions of a history, chance's included."""
        actions = []
        while number != START:
            row = self._rows[number]
            actions.append(row.action)
            number = row.parent
        return actions[::-1]

    def _player(self, state: Any) -> int:
        player = self.game.player(state)
        return player if player in (CHANCE, TERMINAL) else self.person(player)

    def _observations(self, state: Any) -> tuple[Observation, Observation]:
        first, second = (self.game.observation(state, self.person(side)) for side in (MAX, MIN))
        for seen in (first, second):
            if not isinstance(seen, tuple) or not all(isinstance(n, _INTEGERS) for n in seen):
                fault = f"an observation must be a tuple of integers, and one is {seen!r}"
                raise GameFaultError(self.game.name, fault)
        return first, second
