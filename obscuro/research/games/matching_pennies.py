"""N-matching pennies, a game almost without common knowledge (`K, Section 4`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.search.game import CHANCE, MAX, MIN

HEADS: Final = 0
TAILS: Final = 1


class PenniesState(NamedTuple):
    """One state of `MatchingPennies`."""

    number: int = 0  # chance's, from 1; 0 before it is chosen
    pennies: tuple[int, ...] = ()  # ▲'s, then ▼'s: HEADS or TAILS


class MatchingPennies:
    """Matching pennies for a stake that depends on a number n from 1 to N that no player knows fully.

    Chance draws n. ▲ observes ⌊n/2⌋ and ▼ observes ⌊(n+1)/2⌋. Both choose a side at the same time
    (▲ first, hidden). ▲ scores n for two heads, N − n for two tails, and nothing if the sides
    differ. Two neighbouring numbers look the same to one of the players, so all nodes are
    connected, by paths of up to N − 1 steps.
    """

    def __init__(self, numbers: int = 100) -> None:
        """`numbers`: N, how many numbers chance draws from."""
        self.numbers = numbers
        self.scale = 1 / numbers
        self.name = f"matching_pennies_{numbers}"

    def start(self) -> PenniesState:
        """Return the state before chance draws the number."""
        return PenniesState()

    def player(self, state: PenniesState) -> int:
        """Return who moves: `CHANCE` draws the number, then ▲ moves, then ▼."""
        if state.number == 0:
            return CHANCE
        return (MAX, MIN, TERMINAL)[len(state.pennies)]

    def actions(self, state: PenniesState) -> Sequence[int]:
        """Return the numbers minus one, or `HEADS` and `TAILS`."""
        player = self.player(state)
        if player == TERMINAL:
            return []
        return range(self.numbers) if player == CHANCE else (HEADS, TAILS)

    def chances(self, state: PenniesState) -> Sequence[float]:
        """Return equal probabilities for all numbers."""
        return [1 / self.numbers] * self.numbers

    def apply(self, state: PenniesState, action: int) -> PenniesState:
        """Return the state after `action`."""
        if state.number == 0:
            return PenniesState(action + 1)
        return state._replace(pennies=(*state.pennies, action))

    def payoff(self, state: PenniesState) -> float:
        """Return n after two heads, N − n after two tails, else 0."""
        mine, theirs = state.pennies
        if mine != theirs:
            return 0.0
        return float(state.number if mine == HEADS else self.numbers - state.number)

    def observation(self, state: PenniesState, player: int) -> Observation:
        """Return how many pennies lie, and what the player observes of the number (−1 before)."""
        if state.number == 0:
            return (0, -1)
        half = state.number // 2 if player == MAX else (state.number + 1) // 2
        return (len(state.pennies), half)
