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

"""Raise by the smallest size; the next actions raise by twice, three times, ... as much."""

_SUITS: Final = 2
_CARDS: Final = 3 * _SUITS
_ANTE: Final = 1
_RAISE_SIZES: Final = (2, 4)  # the smallest ones in the first and in the second round


class LeducState(NamedTuple):
    """One state of `LeducPoker`. A card is rank times 2 plus suit, rank 2 the highest."""

    cards: tuple[int, ...] = ()  # ▲'s, ▼'s, the public one
    first: tuple[int, ...] = ()  # the first round's actions, ▲ opens
    second: tuple[int, ...] = ()  # the second round's actions, ▲ opens


class LeducPoker:
    """Leduc poker: the ante is 1; each round has at most two raises, of 2 and later of 4 chips.

    Chance deals ▲'s card, then ▼'s, and the public card after the first round. Folding is legal
    only after a raise.

    Parameters
    ----------
    raises : int
        The most raises of a round, the first bet included.
    sizes : int
        Sizes of a raise. The k-th one is k times the smallest.
    ranks : bool
        Whether chance deals ranks, which players see in place of cards. No hand's worth changes.

    """

    def __init__(self, raises: int = 2, sizes: int = 1, *, ranks: bool = False) -> None:
        """Note the rules."""
        self.raises = raises
        self.sizes = sizes
        self.ranks = ranks
        self.name = "leduc_poker"
        if (raises, sizes, ranks) != (2, 1, False):
            self.name += f"_{raises}_{sizes}" + "_ranks" * ranks
        self.scale = 1 / (_ANTE + raises * sizes * sum(_RAISE_SIZES))

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
            return list(self._left(state))
        betting = _round(state)
        legal = [FOLD] if betting and betting[-1] >= RAISE else []
        legal.append(CALL)
        if sum(action >= RAISE for action in betting) < self.raises:
            legal.extend(range(RAISE, RAISE + self.sizes))
        return legal

    def chances(self, state: LeducState) -> Sequence[float]:
        """Return the probabilities of the remaining cards, or of their ranks."""
        left = _CARDS - len(state.cards)
        return [count / left for count in self._left(state).values()]

    def apply(self, state: LeducState, action: int) -> LeducState:
        """Return the state after `action`."""
        if self.player(state) == CHANCE:
            return state._replace(cards=(*state.cards, action))
        if len(state.cards) == 3:
            return state._replace(second=(*state.second, action))
        return state._replace(first=(*state.first, action))

    def payoff(self, state: LeducState) -> float:
        """Return the chips that ▲ has won: the loser's stake, or 0 if the players split the pot."""
        rounds = (state.first, state.second)
        smallest = zip(rounds, _RAISE_SIZES, strict=True)
        stake = _ANTE + sum(
            _raised(action, size) for betting, size in smallest for action in betting
        )
        betting = _round(state)
        if betting[-1] == FOLD:  # the last raise was not called
            stake -= _raised(betting[-2], _RAISE_SIZES[1 if state.second else 0])
            folder = (len(betting) - 1) % 2
            return float(-stake if folder == MAX else stake)
        mine, theirs = (_hand(card, state.cards[2]) for card in state.cards[:2])
        return float(stake * ((mine > theirs) - (mine < theirs)))

    def observation(self, state: LeducState, player: int) -> Observation:
        """Return the number of cards dealt, own and public card plus one (0: none), the bets."""
        own, public = (
            self.seen(state.cards[place]) + 1 if place < len(state.cards) else 0
            for place in (player, 2)
        )
        return (len(state.cards), own, public, len(state.first), *state.first, *state.second)

    def seen(self, card: int) -> int:
        """Return what players see of a card: the card itself, or its rank."""
        return card // _SUITS if self.ranks else card

    def _left(self, state: LeducState) -> dict[int, int]:
        """Return what chance may deal: cards, and for how many cards each one stands."""
        left = [card for card in range(_CARDS) if card not in state.cards]
        if not self.ranks:
            return dict.fromkeys(left, 1)
        ranks = [card // _SUITS for card in left]
        return {left[ranks.index(rank)]: ranks.count(rank) for rank in dict.fromkeys(ranks)}


def _raised(action: int, smallest: int) -> int:
    """Return the chips by which an action raises."""
    return max(action - RAISE + 1, 0) * smallest


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


CARDS_DEALT: Final = 3


class PacedLeducState(NamedTuple):
    """One state of `PacedLeduc`. waits: how often chance has waited."""

    poker: LeducState = LeducState()
    waits: int = 0


class PacedLeduc:
    """Leduc poker in which chance waits after a short first round, so that all take equally long.

    Parameters
    ----------
    poker : LeducPoker
        The rules.

    """

    def __init__(self, poker: LeducPoker) -> None:
        """Take the rules of Leduc poker."""
        self.poker = poker
        self.name = f"paced_{poker.name}"
        self.scale = poker.scale
        self._longest = poker.raises + 2  # check, raises, call
        self.limit = CARDS_DEALT + self._longest
        """The ply after the public card."""

    def start(self) -> PacedLeducState:
        """Return the state before the deal."""
        return PacedLeducState(self.poker.start())

    def player(self, state: PacedLeducState) -> int:
        """Return who moves; chance moves where it waits."""
        return self.poker.player(state.poker)

    def actions(self, state: PacedLeducState) -> Sequence[int]:
        """Return the legal actions; waiting is the only one, 0."""
        return [0] if self._waits(state) else self.poker.actions(state.poker)

    def chances(self, state: PacedLeducState) -> Sequence[float]:
        """Return the probabilities of chance's actions."""
        return [1.0] if self._waits(state) else self.poker.chances(state.poker)

    def apply(self, state: PacedLeducState, action: int) -> PacedLeducState:
        """Return the state after `action`."""
        if self._waits(state):
            return state._replace(waits=state.waits + 1)
        return state._replace(poker=self.poker.apply(state.poker, action))

    def payoff(self, state: PacedLeducState) -> float:
        """Return the chips that ▲ has won."""
        return self.poker.payoff(state.poker)

    def observation(self, state: PacedLeducState, player: int) -> Observation:
        """Return what a player of Leduc poker observes, and how often chance has waited."""
        return (state.waits, *self.poker.observation(state.poker, player))

    def _waits(self, state: PacedLeducState) -> bool:
        poker = state.poker
        closed = len(poker.first) >= 2 and poker.first[-1] == CALL
        dealing = closed and self.poker.player(poker) == CHANCE
        return dealing and len(poker.first) + state.waits < self._longest
