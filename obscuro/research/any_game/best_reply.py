"""The best response to a player whose game is too large to enumerate.

All replies are tried, but the player's own moves only where it makes them. So a game can be followed
to its ends if the player mixes few actions, however many infosets there are otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from obscuro.research.any_game.game_player import GamePlayer, Told, decisions, refuse_clock
from obscuro.research.any_game.histories import UNNOTICED, chained, is_cumulative, noticed
from obscuro.research.games.extensive_form import (
    OTHER,
    TERMINAL,
    ExtensiveForm,
    Observation,
    initial_key,
)
from obscuro.search.game import CHANCE, MAX


class Situation(NamedTuple):
    """What a player knows where it is to move."""

    key: int  # its information key
    told: tuple[Told, ...]  # from the start


Policy = Callable[[Situation], Mapping[int, float]]
"""The probability of each action where a player is to move; left out means 0."""


class PlayedPolicy:
    """What a `GamePlayer` plays in one seat, found by searching where it is asked for.

    Parameters
    ----------
    player : GamePlayer
        The player, without a limit of time.
    seat : int
        `MAX` or `MIN`.
    seed : int
        Of the player.

    Raises
    ------
    ValueError
        If the player has a limit of time.

    """

    def __init__(self, player: GamePlayer, seat: int, seed: int = 1) -> None:
        """Begin with nothing known."""
        refuse_clock(player)
        self._player = player
        self._seat = seat
        self._seed = seed
        self.found: dict[int, dict[int, float]] = {}
        """By information key: the actions and their probabilities."""

    def __call__(self, situation: Situation) -> Mapping[int, float]:
        """Return what the player draws its action from. It plays the game up to there once."""
        known = self.found.get(situation.key)
        if known is None:
            *_, last = decisions(self._player, self._seat, self._seed, situation.told)
            known = self.found[situation.key] = last.policy
        return known


class _History(NamedTuple):
    """A history that a responder thinks possible."""

    state: Any
    chance: float  # that chance and the other player play to it
    policy: Policy  # of the other player
    key: int  # the other player's information key
    told: tuple[Told, ...]  # what it was told


class BestReply:
    """What a player wins at most from the other one, whose policy is fixed.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    responder : int
        `MAX` or `MIN`.
    *policies : callable
        What the other player plays. Of several it draws one for each game, all equally likely, and
        the responder is not told which.

    """

    def __init__(self, game: ExtensiveForm[Any], responder: int, *policies: Policy) -> None:
        """Keep the game and the policies."""
        self._game = game
        self._responder = responder
        self._policies = policies
        self._cumulative = is_cumulative(game)
        self._sign = 1.0 if responder == MAX else -1.0

    def value(self) -> float:
        """Return it in the game's units, in the responder's view."""
        game, other = self._game, OTHER[self._responder]
        start = game.start()
        told = Told(None, game.observation(start, other), game.player(start) == other)
        key = initial_key(other, told.observation)
        chance = 1 / len(self._policies)
        return self._best([_History(start, chance, each, key, (told,)) for each in self._policies])

    def _best(self, alike: list[_History]) -> float:
        """Return the value of histories that the responder can't tell apart, by their chances."""
        first = alike[0].state
        if self._game.player(first) != self._responder:
            return self._after((each, None) for each in alike)
        return max(
            self._after((each, action) for each in alike) for action in self._game.actions(first)
        )

    def _after(self, chosen: Iterable[tuple[_History, int | None]]) -> float:
        """Return the value after the responder's action, or after None a ply of the others."""
        parts: dict[int, list[_History]] = {}
        total = 0.0
        for history, action in chosen:
            seen = self._game.observation(history.state, self._responder)
            for happened, after in self._next_noticed(history, action, seen):
                if self._game.player(after.state) == TERMINAL:
                    total += after.chance * self._sign * self._game.payoff(after.state)
                else:
                    parts.setdefault(happened, []).append(after)
        return total + sum(self._best(alike) for alike in parts.values())

    def _next_noticed(
        self, history: _History, action: int | None, seen: Observation
    ) -> Iterator[tuple[int, _History]]:
        """Yield the histories in which the responder next notices a ply, and its event.

        action: the responder's own, or None if the others go on. seen: its observation before.
        """
        for after in self._plies(history, action):
            observation = self._game.observation(after.state, self._responder)
            happened = noticed(action, observation, seen, self._cumulative)
            if happened == UNNOTICED and self._game.player(after.state) != TERMINAL:
                yield from self._next_noticed(after, None, seen)
            else:
                yield happened, after

    def _plies(self, history: _History, action: int | None) -> Iterator[_History]:
        """Yield the histories after one ply that have a chance."""
        state, other = history.state, OTHER[self._responder]
        mover = self._game.player(state)
        if action is not None:
            chances: Mapping[int, float] = {action: 1.0}
        elif mover == CHANCE:
            chances = dict(zip(self._game.actions(state), self._game.chances(state), strict=True))
        else:
            chances = history.policy(Situation(history.key, history.told))
        before = self._game.observation(state, other)
        for choice, chance in chances.items():
            if chance <= 0:
                continue
            after = self._game.apply(state, choice)
            observation = self._game.observation(after, other)
            own = choice if mover == other else None
            happened = noticed(own, observation, before, self._cumulative)
            told = Told(own, observation, self._game.player(after) == other)
            key = chained(history.key, happened)
            reached = history.chance * chance
            yield _History(after, reached, history.policy, key, (*history.told, told))
