"""A small shedding game: two players rid themselves of three cards, and two cards stay unseen.

It stands in for the card game of four players in G, Section 5.2, which has 108 cards and trained
networks behind it. It has the same kind of play (lead, beat or pass) and is small enough to be
solved exactly. It says nothing about that game's results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb
from typing import Final, NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX, MIN

RANKS: Final = 4
COPIES: Final = 2
HELD: Final = 3
"""The cards of a rank, and those that a player holds at the start."""

PASS: Final = 0
"""The other actions: 1 + r plays a card of rank r, and 1 + RANKS + r plays a pair of it."""

Hand = tuple[int, ...]
"""How many cards of each rank."""


class SheddingState(NamedTuple):
    """One state of `SheddingGame`."""

    hands: tuple[Hand, ...] = ()  # dealt so far: ▲'s, then ▼'s
    played: tuple[int, ...] = ()  # the actions since the deal; ▲ makes the first


class SheddingGame:
    """Lead a card or a pair, or beat the last one by a higher one of the same kind, or pass.

    After a pass the other player leads, and who leads must play. Who first has no card left wins as
    many units as the other has cards. The players know their own hands and what was played.
    """

    name = "shedding"
    scale = 1.0 / HELD

    def start(self) -> SheddingState:
        """Return the state before the deal."""
        return SheddingState()

    def player(self, state: SheddingState) -> int:
        """Return who moves: `CHANCE` deals both hands; then ▲ and ▼ take turns."""
        if len(state.hands) < 2:
            return CHANCE
        if any(not any(self._left(state, player)) for player in (MAX, MIN)):
            return TERMINAL
        return MIN if len(state.played) % 2 else MAX

    def actions(self, state: SheddingState) -> Sequence[int]:
        """Return the numbers of the hands that can be dealt, or the legal plays."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        if player == CHANCE:
            return [n for n, _ in enumerate(_hands()) if self._ways(state, n)]
        hand = self._left(state, player)
        plays = [1 + rank for rank in range(RANKS) if hand[rank]]
        plays += [1 + RANKS + rank for rank in range(RANKS) if hand[rank] == COPIES]
        last = state.played[-1] if state.played else PASS
        if last == PASS:
            return plays
        single = last <= RANKS
        return [PASS, *(play for play in plays if play > last and (play <= RANKS) == single)]

    def chances(self, state: SheddingState) -> Sequence[float]:
        """Return how likely each hand is."""
        ways = [self._ways(state, number) for number in self.actions(state)]
        return [each / sum(ways) for each in ways]

    def apply(self, state: SheddingState, action: int) -> SheddingState:
        """Return the state after `action`."""
        if len(state.hands) < 2:
            return state._replace(hands=(*state.hands, _hands()[action]))
        return state._replace(played=(*state.played, action))

    def payoff(self, state: SheddingState) -> float:
        """Return the loser's cards, as a gain of ▲ if ▼ has lost."""
        mine, theirs = (sum(self._left(state, player)) for player in (MAX, MIN))
        return float(theirs - mine)

    def observation(self, state: SheddingState, player: int) -> Observation:
        """Return the own hand when it has been dealt, and then each play."""
        if not state.played:
            dealt = len(state.hands) == player + 1
            return (len(state.hands), *(state.hands[player] if dealt else ()))
        return (len(state.hands), state.played[-1])

    def _left(self, state: SheddingState, player: int) -> Hand:
        """Return the cards that a player still holds."""
        hand = list(state.hands[player])
        for play in state.played[player::2]:
            if play != PASS:
                hand[(play - 1) % RANKS] -= 1 + (play > RANKS)
        return tuple(hand)

    def _ways(self, state: SheddingState, number: int) -> int:
        """Return in how many ways a hand can be drawn from the cards that are not dealt yet."""
        ways = 1
        for rank, count in enumerate(_hands()[number]):
            ways *= comb(COPIES - sum(hand[rank] for hand in state.hands), count)
        return ways


@cache
def _hands() -> list[Hand]:
    """Return all hands of three cards."""
    counts = product(range(COPIES + 1), repeat=RANKS)
    return [hand for hand in counts if sum(hand) == HELD]
