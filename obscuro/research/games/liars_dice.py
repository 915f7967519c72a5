"""Liar's Dice with one die each: bids rise until a player doubts one; the highest face is wild."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX

_DICE: Final = 2  # one each


class LiarsDiceState(NamedTuple):
    """One state of `LiarsDice`."""

    dice: tuple[int, ...] = ()  # ▲'s, then ▼'s, from 0
    bids: tuple[int, ...] = ()  # ▲ and ▼ alternate, ▲ first; the last may be the doubt


class LiarsDice:
    """Liar's Dice of two players with one die of `sides` sides each, for a stake of 1.

    Bid b claims that at least `b // sides + 1` of the two dice show `b % sides`. The highest face
    counts as every face. Each bid must be higher than the one before. Instead of bidding, a player
    may doubt the last bid (action `liar`). That ends the game: the bidder wins if the bid holds.
    """

    scale = 1.0

    def __init__(self, sides: int = 5) -> None:
        """`sides`: the number of faces of a die."""
        self.sides = sides
        self.liar = _DICE * sides
        self.name = f"liars_dice_{sides}"

    def start(self) -> LiarsDiceState:
        """Return the state before the roll."""
        return LiarsDiceState()

    def player(self, state: LiarsDiceState) -> int:
        """Return who moves: `CHANCE` rolls ▲'s die and ▼'s, then ▲ and ▼ alternate."""
        if len(state.dice) < _DICE:
            return CHANCE
        if state.bids[-1:] == (self.liar,):
            return TERMINAL
        return len(state.bids) % 2

    def actions(self, state: LiarsDiceState) -> Sequence[int]:
        """Return the faces, or the higher bids, followed by the doubt if there is a bid."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        if player == CHANCE:
            return range(self.sides)
        if not state.bids:
            return range(self.liar)
        return range(state.bids[-1] + 1, self.liar + 1)

    def chances(self, state: LiarsDiceState) -> Sequence[float]:
        """Return equal probabilities for all faces."""
        return [1 / self.sides] * self.sides

    def apply(self, state: LiarsDiceState, action: int) -> LiarsDiceState:
        """Return the state after `action`."""
        if len(state.dice) < _DICE:
            return state._replace(dice=(*state.dice, action))
        return state._replace(bids=(*state.bids, action))

    def payoff(self, state: LiarsDiceState) -> float:
        """Return 1 if ▲ made a last bid that holds or doubted one that does not, else −1."""
        quantity, face = divmod(state.bids[-2], self.sides)
        matches = sum(die in (face, self.sides - 1) for die in state.dice)
        bidder = len(state.bids) % 2  # the one who did not doubt
        holds = matches >= quantity + 1
        return 1.0 if holds == (bidder == MAX) else -1.0

    def observation(self, state: LiarsDiceState, player: int) -> Observation:
        """Return the number of dice rolled, the own die plus one (0 before the roll), the bids."""
        own = state.dice[player] + 1 if player < len(state.dice) else 0
        return (len(state.dice), own, *state.bids)
