"""What the bridge says in a game's chat: fixed lines, to people only, and nothing about the game."""

from __future__ import annotations

import chess

from obscuro.bots.game_settings import GameSettings
from obscuro.bots.messages import Say
from obscuro.bots.our_turn import FIRST_CLOCK_PLIES
from obscuro.bots.our_view import OurView
from obscuro.bots.verdict import OurResult, Verdict

RESIGNED = "I resign."
"""Said in the chat, since not every server tells the other side that we resigned."""


class SmallTalk:
    """The lines of one game."""

    def __init__(self, settings: GameSettings) -> None:
        self._settings = settings
        self._talks = False
        self._greets = False

    def begin(self, to_person: bool, plies: int, resumed: bool) -> None:
        """Take note of whom we play, and whether the game is new to us."""
        self._talks = to_person
        self._greets = to_person and not resumed and plies < FIRST_CLOCK_PLIES

    def greeting(self, view: OurView) -> list[Say]:
        """Greet, once, after the other side's first move.

        Before that it may not look at the board yet, and some servers keep no line for later.
        """
        first = 1 if view.side == chess.BLACK else 2
        if not self._greets or view.plies < first:
            return []
        self._greets = False
        return self._line(self._settings.greeting)

    def farewell(self, verdict: Verdict) -> list[Say]:
        """Say goodbye after a game that was played to its end."""
        over = verdict.outcome in (OurResult.WON, OurResult.LOST, OurResult.DRAWN)
        return self._line(self._settings.farewell) if over else []

    def resigned(self) -> list[Say]:
        """Say that we resign."""
        return self._line(RESIGNED)

    def _line(self, text: str) -> list[Say]:
        return [Say(text)] if text and self._talks else []
