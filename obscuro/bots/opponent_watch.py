"""Watches whether the other side's move is overdue."""

from __future__ import annotations

from typing import Literal

from obscuro.bots.events import GameState, OpponentGone
from obscuro.bots.our_turn import FIRST_CLOCK_PLIES
from obscuro.bots.our_view import OurView

OVERDUE_SECONDS = 60.0
"""We look how the game stands if the other side's clock ran out so long ago and no news came."""
OVERDUE_LOOKS = 3
"""The game is given up after so many looks without news: the server has forgotten it."""

Overdue = Literal["claim", "abort", "look", "give up"]


class OpponentWatch:
    """The other side's turn. abort_seconds: how long to wait for its first move."""

    def __init__(self, abort_seconds: float) -> None:
        self.since = 0.0
        """When its turn began."""
        self._abort_seconds = abort_seconds
        self._looks = 0
        self._claim_at: float | None = None

    def began(self, now: float) -> None:
        """Take note of news."""
        self.since, self._looks = now, 0

    def gone(self, message: OpponentGone, now: float) -> None:
        """Take note of whether the other side is there, and when we may claim the win."""
        claim_in = message.claim_in
        self._claim_at = now + claim_in if message.gone and claim_in is not None else None

    def overdue(self, view: OurView, state: GameState, now: float) -> Overdue | None:
        """Return what to do about a move that does not come; None: wait on."""
        if view.our_turn:
            return None
        if self._claim_at is not None and now >= self._claim_at:
            self._claim_at = None
            return "claim"
        waited = now - self.since
        if view.plies < FIRST_CLOCK_PLIES and waited > self._abort_seconds:
            return "abort"
        clock = state.clock(not view.side)
        if clock is None or waited < clock / 1000 + OVERDUE_SECONDS * (self._looks + 1):
            return None
        self._looks += 1
        return "give up" if self._looks > OVERDUE_LOOKS else "look"
