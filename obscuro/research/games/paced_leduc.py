"""Leduc poker in which the public card comes at the same ply in every game.

The first round has two to four plies. Where it has fewer than four, chance waits. A depth limit
after the public card is then one level of the tree. The game's strategies are those of Leduc poker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from obscuro.research.games.extensive_form import Observation
from obscuro.research.games.leduc import CALL, LeducPoker, LeducState
from obscuro.search.game import CHANCE

LONGEST_ROUND: Final = 4
"""Check, raise, raise, call."""

CARDS_DEALT: Final = 3
LIMIT: Final = CARDS_DEALT + LONGEST_ROUND
"""The ply after the public card."""


class PacedLeducState(NamedTuple):
    """One state of `PacedLeduc`. waits: how often chance has waited."""

    poker: LeducState = LeducState()
    waits: int = 0


class PacedLeduc:
    """See the module."""

    name = "paced_leduc"
    scale = LeducPoker.scale

    def __init__(self) -> None:
        """Take the rules of Leduc poker."""
        self._poker = LeducPoker()

    def start(self) -> PacedLeducState:
        """Return the state before the deal."""
        return PacedLeducState(self._poker.start())

    def player(self, state: PacedLeducState) -> int:
        """Return who moves; chance moves where it waits."""
        return self._poker.player(state.poker)

    def actions(self, state: PacedLeducState) -> Sequence[int]:
        """Return the legal actions; waiting is the only one, 0."""
        return [0] if self._waits(state) else self._poker.actions(state.poker)

    def chances(self, state: PacedLeducState) -> Sequence[float]:
        """Return the probabilities of chance's actions."""
        return [1.0] if self._waits(state) else self._poker.chances(state.poker)

    def apply(self, state: PacedLeducState, action: int) -> PacedLeducState:
        """Return the state after `action`."""
        if self._waits(state):
            return state._replace(waits=state.waits + 1)
        return state._replace(poker=self._poker.apply(state.poker, action))

    def payoff(self, state: PacedLeducState) -> float:
        """Return the chips that ▲ has won."""
        return self._poker.payoff(state.poker)

    def observation(self, state: PacedLeducState, player: int) -> Observation:
        """Return what a player of Leduc poker observes, and how often chance has waited."""
        return (state.waits, *self._poker.observation(state.poker, player))

    def _waits(self, state: PacedLeducState) -> bool:
        poker = state.poker
        closed = len(poker.first) >= 2 and poker.first[-1] == CALL
        dealing = closed and self._poker.player(poker) == CHANCE
        return dealing and len(poker.first) + state.waits < LONGEST_ROUND
