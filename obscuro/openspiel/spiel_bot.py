"""What OpenSpiel asks of a bot, for players that go by the history of a state."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import pyspiel

SpielState = Any
"""A `pyspiel.State`. No bot of this room changes one."""


class BotChoice(NamedTuple):
    """A bot's answer: its action, and what it was drawn from, action by action."""

    action: int
    policy: list[tuple[int, float]]


class SpielBot(pyspiel.Bot):  # type: ignore[misc]  # pyspiel has no types
    """A bot that plays one seat, and takes what its player did and saw from the state's history.

    So it may be asked in any order: nothing has to be told by `inform_action`, an action may be
    forced, and a state may come from the middle of a game. A state whose history does not go on from
    the last one begins a new game.

    A bot is handed the whole state. It replays the history, and looks at no more of it than the
    player's own actions and what OpenSpiel tells the player after each ply.

    player_id: OpenSpiel's number of the player, 0 or 1. Raises ValueError if it is another one.
    """

    def __init__(self, player_id: int) -> None:
        """Begin without a game."""
        super().__init__()
        if player_id not in (0, 1):
            raise ValueError(f"player_id is 0 or 1, not {player_id!r}")
        self._player_id = player_id
        self._answered: tuple[list[int], BotChoice] | None = None

    # -- what a player does -------------------------------------------------------------------

    @abstractmethod
    def begin_game(self) -> None:
        """Forget the game: the next state is of another one."""

    @abstractmethod
    def choose(self, state: SpielState) -> BotChoice:
        """Return an answer to a state in which this player has a choice."""

    # -- what OpenSpiel calls -----------------------------------------------------------------

    def player_id(self) -> int:
        """Return the player that the bot plays."""
        return self._player_id

    def restart(self) -> None:
        """Begin a new game."""
        self._answered = None
        self.begin_game()

    def restart_at(self, state: SpielState) -> None:
        """Begin a new game at any state."""
        self.restart()

    def inform_action(self, state: SpielState, player_id: int, action: int) -> None:
        """Do nothing: the next state's history has the action."""

    def step(self, state: SpielState) -> int:
        """Return an action. Raises ValueError if it is not this player's turn."""
        return self._answer(state).action

    def provides_policy(self) -> bool:
        """Return that the bot says what it draws from."""
        return True

    def get_policy(self, state: SpielState) -> list[tuple[int, float]]:
        """Return what `step` draws from. A `step` at the same state does not think again."""
        return self._answer(state).policy

    def step_with_policy(self, state: SpielState) -> tuple[list[tuple[int, float]], int]:
        """Return what the bot draws from, and an action."""
        choice = self._answer(state)
        return choice.policy, choice.action

    def provides_force_action(self) -> bool:
        """Return that an action may be forced."""
        return True

    def force_action(self, state: SpielState, action: int) -> None:
        """Do nothing: the next state's history has the action."""

    # -- inside -------------------------------------------------------------------------------

    def _answer(self, state: SpielState) -> BotChoice:
        if not state.is_simultaneous_node() and state.current_player() != self._player_id:
            raise ValueError(f"player {self._player_id} is asked, and it is not its turn")
        history: list[int] = state.history()
        if self._answered is None or self._answered[0] != history:
            self._answered = history, self.choose(state)
        return self._answered[1]
