"""OpenSpiel's two-player zero-sum games as an `ExtensiveForm`.

Only this module needs OpenSpiel (PyPI `open_spiel`). No playing code imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from random import Random
from typing import Any

import pyspiel

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX, MIN

SpielState = Any
"""A `pyspiel.State`. This module never changes a state after creating it."""

_SIMULTANEOUS = pyspiel.GameType.Dynamics.SIMULTANEOUS
_CHANCE_ID = int(pyspiel.PlayerId.CHANCE)
_TERMINAL_ID = int(pyspiel.PlayerId.TERMINAL)
_SEEDS = 1 << 31  # of pyspiel's random numbers
_PLAYERS = {
    _CHANCE_ID: CHANCE,
    _TERMINAL_ID: TERMINAL,
    0: MAX,
    1: MIN,
}


class OpenSpielGame:
    """One of OpenSpiel's games. Its first player is ▲. In simultaneous moves ▲ chooses first.

    A player's observation after a ply is OpenSpiel's information state and whether the player is
    to move. In games without information states it is OpenSpiel's observation instead, and players
    remember what they observed.

    cumulative: whether observations are information states. Then a player does not notice a ply
    that changes none of its observation; see `obscuro.research.any_game.histories.is_cumulative`.

    Parameters
    ----------
    text : str
        The game with its parameters in OpenSpiel's notation, such as `liars_dice(dice_sides=5)`.
    remembers : bool
        Whether players remember what their information states forget. Some of OpenSpiel's, such as
        those of `dark_hex`, forget how many plies had been made when a player chose.

    Raises
    ------
    ValueError
        If OpenSpiel has no such game, or if it does not have two players, is not zero-sum, or
        tells players nothing that this class can read.

    """

    def __init__(self, text: str, *, remembers: bool = False) -> None:
        """Load the game."""
        if text.split("(", maxsplit=1)[0] not in pyspiel.registered_names():
            raise ValueError(f"not a game of OpenSpiel (pyspiel.registered_names()): {text}")
        game = pyspiel.load_game(text)
        kind = game.get_type()
        if game.num_players() != 2 or kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
            raise ValueError(f"not a zero-sum game of two players: {text}")
        if kind.dynamics == _SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
        self.remembers = remembers
        self.cumulative: bool = kind.provides_information_state_string
        if not (self.cumulative or kind.provides_observation_string):
            raise ValueError(f"it has neither information states nor observations: {text}")
        self.name = text.lower()
        self.scale = 1.0 / max(abs(game.max_utility()), abs(game.min_utility()))
        self._game = game

    def start(self) -> SpielState:
        """Return the state before the first ply."""
        return self._game.new_initial_state()

    def player(self, state: SpielState) -> int:
        """Return who moves: `MAX`, `MIN`, `CHANCE`, or `TERMINAL`."""
        return _PLAYERS[state.current_player()]

    def actions(self, state: SpielState) -> Sequence[int]:
        """Return the legal actions, or those of chance, in OpenSpiel's order."""
        if state.is_chance_node():
            return [action for action, _ in state.chance_outcomes()]
        actions: list[int] = state.legal_actions()
        return actions

    def chances(self, state: SpielState) -> Sequence[float]:
        """Return the probability of each of chance's actions."""
        return [probability for _, probability in state.chance_outcomes()]

    def apply(self, state: SpielState, action: int) -> SpielState:
        """Return the state after `action`."""
        return state.child(action)

    def playouts(self, count: int, seed: int) -> Callable[[SpielState], float]:
        """Return a function of a state: the first player's mean payoff of random playouts.

        OpenSpiel plays them itself, five times as fast as from Python. pyspiel shows its evaluator
        to bots alone, so the first simulation of its MCTS, which is the evaluator's word on the
        root, is asked for. That takes no root where chance moves: there chance is drawn here.

        Parameters
        ----------
        count : int
            Playouts of each state.
        seed : int
            Of the random numbers.

        """
        many, one = _Playouts(self._game, count, seed), _Playouts(self._game, 1, seed)
        draw = Random(seed).random

        def mean_payoff(state: SpielState) -> float:
            if not state.is_chance_node():
                return many(state)
            return sum(one(_after_chance(state, draw)) for _ in range(count)) / count

        return mean_payoff

    def payoff(self, state: SpielState) -> float:
        """Return the first player's payoff."""
        return float(state.returns()[MAX])

    def payoffs(self, state: SpielState) -> Sequence[float]:
        """Return both players' payoffs."""
        returns: list[float] = state.returns()
        return returns

    def observation(self, state: SpielState, player: int) -> Observation:
        """Return a hash of what the player knows or sees, and whether it is to move."""
        tell = state.information_state_string if self.cumulative else state.observation_string
        seen = blake2b(tell(player).encode(), digest_size=8)
        return (int.from_bytes(seen.digest()), int(state.current_player() == player))


class _Playouts:
    """The first player's mean payoff of some of OpenSpiel's random playouts."""

    def __init__(self, game: Any, count: int, seed: int) -> None:
        # The bot does not keep its evaluator alive.
        self._evaluator = pyspiel.RandomRolloutEvaluator(count, seed % _SEEDS)
        self._bot = pyspiel.MCTSBot(game, self._evaluator, 1.0, 1, 1, False, 0, False)

    def __call__(self, state: SpielState) -> float:
        """state: one where it is not chance that moves."""
        if state.is_terminal():
            return float(state.player_return(MAX))
        root = self._bot.mcts_search(state)
        mean: float = root.total_reward / root.explore_count
        return mean if state.current_player() == MAX else -mean


def _after_chance(state: SpielState, draw: Callable[[], float]) -> SpielState:
    """Return a copy of a state in which chance has moved until it is a player's turn."""
    state = state.clone()
    while state.is_chance_node():
        state.apply_action(_outcome(state, draw()))
    return state


def _outcome(state: SpielState, drawn: float) -> int:
    """Return the outcome of chance at a number in [0, 1)."""
    outcomes: Sequence[tuple[int, float]] = state.chance_outcomes()
    for action, probability in outcomes:
        drawn -= probability
        if drawn < 0:
            return action
    return outcomes[-1][0]  # the probabilities were rounded
