"""Goofspiel: both bid cards for a prize at the same time, and see only who won it.

The simultaneous bids are made one after the other, the first one hidden from the second player.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from obscuro.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX, MIN

Order = Literal["random", "increasing"]
"""How the prizes come: dealt by chance in the course of the game, or the lowest first."""


class GoofspielState(NamedTuple):
    """One state of `Goofspiel`. Card c, of a hand or a prize, is worth c + 1."""

    prizes: tuple[int, ...]  # turned up so far
    bids: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # ▲'s and ▼'s, one for each prize


class Goofspiel:
    """Goofspiel with imperfect information: nobody is shown the other's bids (`K, B.2`).

    In each round the higher bid wins the prize; after equal bids nobody does. The last cards are
    played without asking. Who has won the higher total wins a stake of 1; equal totals are a draw.
    """

    scale = 1.0

    def __init__(self, cards: int = 4, order: Order = "random") -> None:
        """`cards`: the number of cards in each hand, and of prizes."""
        self.cards = cards
        self.order = order
        self.name = f"goofspiel_{cards}_{order}"

    def start(self) -> GoofspielState:
        """The state before the first prize is turned up, or where the order is known, after it."""
        return GoofspielState(() if self.order == "random" else (0,))

    def player(self, state: GoofspielState) -> int:
        """Who moves: `CHANCE` turns up a prize if the order is random, then ▲ bids, then ▼."""
        mine, theirs = map(len, state.bids)
        if theirs == self.cards - 1:
            return TERMINAL
        if len(state.prizes) == theirs:
            return CHANCE
        return MAX if mine == theirs else MIN

    def actions(self, state: GoofspielState) -> Sequence[int]:
        """The prizes that are left, or the cards that the player has left."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        return self._left(state.prizes if player == CHANCE else state.bids[player])

    def chances(self, state: GoofspielState) -> Sequence[float]:
        """Every prize that is left comes alike."""
        left = self.cards - len(state.prizes)
        return [1 / left] * left

    def apply(self, state: GoofspielState, action: int) -> GoofspielState:
        """The state after `action`."""
        player = self.player(state)
        mine, theirs = state.bids
        if player == CHANCE:
            return state._replace(prizes=(*state.prizes, action))
        if player == MAX:
            return state._replace(bids=((*mine, action), theirs))
        over = len(theirs) + 1 == self.cards - 1
        prizes = state.prizes
        if self.order == "increasing" and not over:
            prizes = tuple(range(len(prizes) + 1))
        return GoofspielState(prizes, (mine, (*theirs, action)))

    def payoff(self, state: GoofspielState) -> float:
        """1 if ▲ has won more than ▼, −1 if less, 0 if as much."""
        mine, theirs, prizes = (
            (*cards, *self._left(cards)) for cards in (*state.bids, state.prizes)
        )
        won = sum(
            (prize + 1) * winner
            for prize, winner in zip(prizes, _winners(mine, theirs), strict=True)
        )
        return float((won > 0) - (won < 0))

    def observation(self, state: GoofspielState, player: int) -> Observation:
        """How many bids have been made, the prizes, and who won which (1 for ▲, −1 for ▼, 0)."""
        made = sum(map(len, state.bids))
        return (made, len(state.prizes), *state.prizes, *_winners(*state.bids))

    def _left(self, used: tuple[int, ...]) -> list[int]:
        """The cards that are not among `used`."""
        return [card for card in range(self.cards) if card not in used]


def _winners(mine: tuple[int, ...], theirs: tuple[int, ...]) -> list[int]:
    """Who won each round in which both have bid: 1 for ▲, −1 for ▼, 0 for nobody."""
    return [(a > b) - (a < b) for a, b in zip(mine, theirs, strict=False)]
