"""Leduc poker: six cards, two rounds of betting, one public card (Southey et al. 2005).

Its value for the first player is about −0.0856 chips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX

FOLD: Final = 0
CALL: Final = 1
"""Call, or check if there is nothing to call."""
RAISE: Final = 2

_SUITS: Final = 2
_CARDS: Final = 3 * _SUITS
_ANTE: Final = 1
_RAISE_SIZES: Final = (2, 4)  # in the first and in the second round
_MAX_RAISES: Final = 2  # in each round


class LeducState(NamedTuple):
    """One state of `LeducPoker`. A card is rank times 2 plus suit, rank 2 the highest."""

    cards: tuple[int, ...] = ()  # ▲'s, ▼'s, the public one
    first: tuple[int, ...] = ()  # the first round's actions, ▲ opens
    second: tuple[int, ...] = ()  # the second round's actions, ▲ opens


class LeducPoker:
    """Leduc poker: the ante is 1; each round has at most two raises, of 2 and later of 4 chips.

    Chance deals ▲'s card, then ▼'s, and the public card after the first round. Folding is legal
    only after a raise.
    """

    name = "leduc_poker"
    scale = 1 / 13

    def start(self) -> LeducState:
        """Return the state before the deal."""
        return LeducState()

    def player(self, state: LeducState) -> int:
        """Return who moves: `CHANCE` deals, and ▲ opens both rounds."""
        if FOLD in (*state.first[-1:], *state.second[-1:]) or _is_closed(state.second):
            return TERMINAL
        if len(state.cards) < (3 if _is_closed(state.first) else 2):
            return CHANCE
        return len(_round(state)) % 2

    def actions(self, state: LeducState) -> Sequence[int]:
        """Return the remaining cards, or the legal ones of `FOLD`, `CALL`, `RAISE`."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        if player == CHANCE:
            return [card for card in range(_CARDS) if card not in state.cards]
        betting = _round(state)
        legal = [FOLD] if betting[-1:] == (RAISE,) else []
        legal.append(CALL)
        if betting.count(RAISE) < _MAX_RAISES:
            legal.append(RAISE)
        return legal

    def chances(self, state: LeducState) -> Sequence[float]:
        """Return equal probabilities for the remaining cards."""
        left = _CARDS - len(state.cards)
        return [1 / left] * left

    def apply(self, state: LeducState, action: int) -> LeducState:
        """Return the state after `action`."""
        if self.player(state) == CHANCE:
            return state._replace(cards=(*state.cards, action))
        if len(state.cards) == 3:
            return state._replace(second=(*state.second, action))
        return state._replace(first=(*state.first, action))

    def payoff(self, state: LeducState) -> float:
        """Return the chips that ▲ has won: the loser's stake, or 0 if the players split the pot."""
        raises = (state.first.count(RAISE), state.second.count(RAISE))
        stake = _ANTE + sum(n * size for n, size in zip(raises, _RAISE_SIZES, strict=True))
        betting = _round(state)
        if betting[-1] == FOLD:  # the last raise was not called
            stake -= _RAISE_SIZES[1 if state.second else 0]
            folder = (len(betting) - 1) % 2
            return float(-stake if folder == MAX else stake)
        mine, theirs = (_hand(card, state.cards[2]) for card in state.cards[:2])
        return float(stake * ((mine > theirs) - (mine < theirs)))

    def observation(self, state: LeducState, player: int) -> Observation:
        """Return the number of cards dealt, own and public card plus one (0: none), the bets."""
        own = state.cards[player] + 1 if player < len(state.cards) else 0
        public = state.cards[2] + 1 if len(state.cards) == 3 else 0
        return (len(state.cards), own, public, len(state.first), *state.first, *state.second)


def _round(state: LeducState) -> tuple[int, ...]:
    """Return the actions of the current or last round."""
    return state.second if len(state.cards) == 3 else state.first


def _is_closed(betting: tuple[int, ...]) -> bool:
    """Return whether a round ended without a fold: the last action is a call, not the opening."""
    return len(betting) >= 2 and betting[-1] == CALL


def _hand(card: int, public: int) -> tuple[bool, int]:
    """Return what the showdown compares: a pair with the public card first, then the rank."""
    rank = card // _SUITS
    return rank == public // _SUITS, rank


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
