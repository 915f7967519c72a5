"""Goofspiel: both players bid cards for a prize at the same time, and see only who won it.

The game tree makes simultaneous bids one after the other and hides the first from the second
player.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX, MIN

Order = Literal["random", "increasing", "decreasing"]
"""The order of the prizes: chance deals one each round, or the lowest or the highest comes first."""

Stake = Literal["win", "points"]
"""What a player wins: 1 for the higher total of prizes, or how much higher its total is."""


class GoofspielState(NamedTuple):
    """One state of `Goofspiel`. Card c, of a hand or a prize, is worth c + 1."""

    prizes: tuple[int, ...]  # turned up so far
    bids: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # ▲'s and ▼'s, one for each prize


class Goofspiel:
    """Goofspiel with imperfect information: no player sees the other's bids (`K, B.2`).

    In each round the higher bid wins the prize; with equal bids no player wins it. Where all cards are
    played, each player bids its last one automatically. The player with the higher total of prizes
    wins; equal totals are a draw.

    Parameters
    ----------
    cards : int
        The number of cards in each hand, and of prizes.
    order : Order
        The order of the prizes.
    rounds : int, optional
        The number of rounds, from 1 to `cards`, the default.
    stake : Stake
        What the winner wins.

    """

    def __init__(
        self,
        cards: int = 4,
        order: Order = "random",
        rounds: int | None = None,
        stake: Stake = "win",
    ) -> None:
        """Note the rules. Raises ValueError for a number of rounds out of range."""
        self.rounds = cards if rounds is None else rounds
        if not 1 <= self.rounds <= cards:
            raise ValueError(f"from 1 to {cards} rounds can be played with {cards} cards: {rounds}")
        self.cards = cards
        self.order = order
        self.stake = stake
        self._choices = min(self.rounds, cards - 1)  # the rounds in which a player has a choice
        parts = ["goofspiel", str(cards), order]
        parts += [f"{rounds}_rounds"] * (self.rounds < cards) + ["points"] * (stake == "points")
        self.name = "_".join(parts)
        most = sum(range(cards, cards - self.rounds, -1))
        if self.rounds == cards:  # with equal hands no player wins every card
            most = max(most - 2, 1)
        self.scale = 1.0 if stake == "win" else 1.0 / most

    def start(self) -> GoofspielState:
        """Return the state before the first prize comes up; after it, if the order is known."""
        return GoofspielState(self._known_prizes(1))

    def player(self, state: GoofspielState) -> int:
        """Return who moves: `CHANCE` turns up a prize if the order is random; ▲ bids, then ▼."""
        mine, theirs = map(len, state.bids)
        if theirs == self._choices:
            return TERMINAL
        if len(state.prizes) == theirs:
            return CHANCE
        return MAX if mine == theirs else MIN

    def actions(self, state: GoofspielState) -> Sequence[int]:
        """Return the remaining prizes, or the player's remaining cards."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        return self._left(state.prizes if player == CHANCE else state.bids[player])

    def chances(self, state: GoofspielState) -> Sequence[float]:
        """Return equal probabilities for the remaining prizes."""
        left = self.cards - len(state.prizes)
        return [1 / left] * left

    def apply(self, state: GoofspielState, action: int) -> GoofspielState:
        """Return the state after `action`."""
        player = self.player(state)
        mine, theirs = state.bids
        if player == CHANCE:
            return state._replace(prizes=(*state.prizes, action))
        if player == MAX:
            return state._replace(bids=((*mine, action), theirs))
        over = len(theirs) + 1 == self._choices
        prizes = state.prizes
        if self.order != "random" and not over:
            prizes = self._known_prizes(len(prizes) + 1)
        return GoofspielState(prizes, (mine, (*theirs, action)))

    def payoff(self, state: GoofspielState) -> float:
        """Return ▲'s prizes less ▼'s, or with the stake "win" the sign of that."""
        mine, theirs, prizes = (
            (*cards, *(self._left(cards) if self.rounds == self.cards else ()))
            for cards in (*state.bids, state.prizes)
        )
        won = sum(
            (prize + 1) * winner
            for prize, winner in zip(prizes, _winners(mine, theirs), strict=True)
        )
        return float((won > 0) - (won < 0) if self.stake == "win" else won)

    def observation(self, state: GoofspielState, player: int) -> Observation:
        """Return the number of bids, the prizes, and their winners (1: ▲, −1: ▼, 0: none)."""
        made = sum(map(len, state.bids))
        return (made, len(state.prizes), *state.prizes, *_winners(*state.bids))

    def _known_prizes(self, count: int) -> tuple[int, ...]:
        """Return the first prizes; none where chance deals them."""
        if self.order == "random":
            return ()
        return tuple(range(self.cards)[:: 1 if self.order == "increasing" else -1][:count])

    def _left(self, used: tuple[int, ...]) -> list[int]:
        """Return the cards that are not in `used`."""
        return [card for card in range(self.cards) if card not in used]


def _winners(mine: tuple[int, ...], theirs: tuple[int, ...]) -> list[int]:
    """Return the winner of each round in which both have bid: 1 for ▲, −1 for ▼, 0 for none."""
    return [(a > b) - (a < b) for a, b in zip(mine, theirs, strict=False)]
