"""A bot of OpenSpiel that plays any two-player zero-sum game by the search (docs/openspiel.md)."""

from __future__ import annotations

import pyspiel

from obscuro.openspiel.spiel_bot import BotChoice, SpielBot, SpielState
from obscuro.research.any_game.game_player import GamePlayer
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.any_game.turn_tree import LeafValue
from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.research.games.openspiel import OpenSpielGame

Event = tuple[int | None, Observation]
"""One ply as a player lived it: its own action, or None, and what it then was told."""


class AnyGameBot(SpielBot):
    """Plays a game as `GamePlayer` does (docs/research/any_game.md).

    Parameters
    ----------
    game : str
        The game with its parameters, such as `liars_dice(dice_sides=5)`; `str` of a `pyspiel.Game`
        is this text.
    player_id : int
        The seat, 0 or 1.
    settings : PlaySettings
        How it thinks.
    seed : int
        Of the first game; each `restart` adds 1. Without a limit of time it fixes what is played.
    remembers : bool
        Whether the player remembers what OpenSpiel's information states forget, as in `dark_hex`.
    leaf_value : callable, optional
        A heuristic in place of random playouts, see `GamePlayer`.

    Raises
    ------
    ValueError
        If OpenSpiel has no such game, or one that is not for two players, or not zero-sum. `step`
        raises it for a state of another game.

    """

    def __init__(
        self,
        game: str,
        player_id: int,
        settings: PlaySettings,
        *,
        seed: int = 1,
        remembers: bool = False,
        leaf_value: LeafValue | None = None,
    ) -> None:
        """Load the game."""
        super().__init__(player_id)
        self._game = OpenSpielGame(game, remembers=remembers)
        self._spiel_name = str(pyspiel.load_game(game))
        self._player = GamePlayer(self._game, settings, leaf_value)
        self._seed = seed - 1
        self._told: list[Event] | None = None

    def begin_game(self) -> None:
        """Forget the game."""
        self._told = None

    def choose(self, state: SpielState) -> BotChoice:
        """Tell the player what is new to it, and let it choose."""
        name = str(state.get_game())
        if name != self._spiel_name:
            raise ValueError(f"this bot plays {self._spiel_name}, and the state is of {name}")
        events = self._events(state)
        told = self._told
        if told is None or events[: len(told)] != told:
            self._seed += 1
            self._player.new_game(self.player_id(), self._seed)
            told = []
        for event in events[len(told) :]:
            self._player.observe(*event)
        self._told = events
        decision = self._player.decide()
        return BotChoice(decision.action, list(decision.policy.items()))

    def _events(self, state: SpielState) -> list[Event]:
        """Return what the player did and was told, ply by ply.

        The replay is sequential. Where all choose at the same time, the second player is asked after
        the first one has made some action: whichever it is, the second player is told the same.
        """
        game, seat = self._game, self.player_id()
        replayed = game.start()
        events: list[Event] = []
        actions = [action for action in state.history() if action != pyspiel.INVALID_ACTION]
        while True:
            mover = game.player(replayed)
            if actions:
                action = actions.pop(0)
            elif mover in (seat, TERMINAL):
                return events
            else:
                action = game.actions(replayed)[0]
            replayed = game.apply(replayed, action)
            events.append((action if mover == seat else None, game.observation(replayed, seat)))
