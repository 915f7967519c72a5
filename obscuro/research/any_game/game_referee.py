"""The referee of any game: two players, each of which is told only what its seat sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from obscuro.research.any_game.game_fault import GameFaultError
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, Observation
from obscuro.search.game import CHANCE, MAX, MIN


class SeatedPlayer(Protocol):
    """Who takes a seat in `play`; `GamePlayer` is one."""

    def new_game(self, seat: int, seed: int) -> None:
        """Begin a game as the first (`MAX`) or the second player (`MIN`)."""

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """Take in one ply: the own action, or None, and what the player then saw."""

    def choose(self) -> int:
        """Return a legal action; it is this player's turn."""


class PlayedGame(NamedTuple):
    """How a game went."""

    actions: list[int]  # of players and chance
    payoff: float  # the first player's, in the game's units


def play(
    game: ExtensiveForm[Any],
    first: SeatedPlayer,
    second: SeatedPlayer,
    seed: int = 1,
    watch: Callable[[Any], None] | None = None,
) -> PlayedGame:
    """Play one game between two players.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    first, second : SeatedPlayer
        Who plays; two objects.
    seed : int
        Of chance and of the players' random numbers.
    watch : callable, optional
        Called with every state of the game, which no player sees.

    Raises
    ------
    GameFaultError
        If a player chooses an action that is not legal, or if chance's probabilities do not fit
        its actions.

    """
    players: Sequence[SeatedPlayer] = (first, second)
    random = np.random.default_rng(seed)
    for seat, player in enumerate(players):
        player.new_game(seat, seed)
    state = game.start()
    actions: list[int] = []
    if watch is not None:
        watch(state)
    while (mover := game.player(state)) != TERMINAL:
        legal = game.actions(state)
        if mover == CHANCE:
            chances = game.chances(state)
            try:
                action = legal[int(random.choice(len(legal), p=chances))]
            except ValueError as error:
                fault = f"chance's probabilities {list(chances)} do not fit {list(legal)}"
                raise GameFaultError(game.name, fault, actions) from error
        else:
            action = players[mover].choose()
            if action not in legal:
                raise GameFaultError(game.name, f"{action} is not among {list(legal)}", actions)
        state = game.apply(state, action)
        actions.append(action)
        if watch is not None:
            watch(state)
        if game.player(state) != TERMINAL:
            for seat in (MAX, MIN):
                own = action if mover == seat else None
                players[seat].observe(own, game.observation(state, seat))
    return PlayedGame(actions, game.payoff(state))
