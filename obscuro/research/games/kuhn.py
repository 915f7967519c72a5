"""Kuhn poker: three cards, one bet. Its value for the first player is −1/18 (Kuhn 1950)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX

PASS: Final = 0
"""Check, or fold after a bet."""
BET: Final = 1
"""Bet, or call after a bet."""

_CARDS: Final = 3
_OVER: Final = {(PASS, PASS), (PASS, BET, PASS), (PASS, BET, BET), (BET, PASS), (BET, BET)}


class KuhnState(NamedTuple):
    """One state of `KuhnPoker`."""

    cards: tuple[int, ...] = ()  # ▲'s, then ▼'s; 0 is the lowest
    betting: tuple[int, ...] = ()  # PASS or BET; ▲ and ▼ alternate, ▲ first


class KuhnPoker:
    """Kuhn poker with antes and bets of 1. Chance deals ▲'s card first, then ▼'s."""

    name = "kuhn_poker"
    scale = 1 / 2

    def start(self) -> KuhnState:
        """Return the state before the deal."""
        return KuhnState()

    def player(self, state: KuhnState) -> int:
        """Return who moves: `CHANCE` deals, then ▲ and ▼ alternate."""
        if len(state.cards) < 2:
            return CHANCE
        if state.betting in _OVER:
            return TERMINAL
        return len(state.betting) % 2

    def actions(self, state: KuhnState) -> Sequence[int]:
        """Return the remaining cards, or `PASS` and `BET`."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        if player == CHANCE:
            return [card for card in range(_CARDS) if card not in state.cards]
        return [PASS, BET]

    def chances(self, state: KuhnState) -> Sequence[float]:
        """Return equal probabilities for the remaining cards."""
        left = _CARDS - len(state.cards)
        return [1 / left] * left

    def apply(self, state: KuhnState, action: int) -> KuhnState:
        """Return the state after `action`."""
        if len(state.cards) < 2:
            return state._replace(cards=(*state.cards, action))
        return state._replace(betting=(*state.betting, action))

    def payoff(self, state: KuhnState) -> float:
        """Return the chips that ▲ has won: ±1, or ±2 after a call."""
        bets = state.betting.count(BET)
        if bets == 1:  # the last one passed and folded
            folder = (len(state.betting) - 1) % 2
            return -1.0 if folder == MAX else 1.0
        stake = 1.0 if bets == 0 else 2.0
        mine, theirs = state.cards
        return stake if mine > theirs else -stake

    def observation(self, state: KuhnState, player: int) -> Observation:
        """Return the number of cards dealt, own card plus one (0 before the deal), the betting."""
        own = state.cards[player] + 1 if player < len(state.cards) else 0
        return (len(state.cards), own, *state.betting)
