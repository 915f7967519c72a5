"""Kuhn poker with one fault each, and a plain guessing game whose players do not know the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.research.games.kuhn import BET, KuhnPoker, KuhnState
from obscuro.search.game import MAX, MIN


class HidesTurn(KuhnPoker):
    """The player with the lower card begins, and cards are hidden."""

    def player(self, state: KuhnState) -> int:
        found = super().player(state)
        if found in (MAX, MIN) and state.cards[MAX] > state.cards[MIN]:
            return 1 - found
        return found


class HigherCardMayRaise(KuhnPoker):
    """▲ has one action more if its card is higher than ▼'s, which it must not know."""

    def actions(self, state: KuhnState) -> Sequence[int]:
        found = list(super().actions(state))
        if self.player(state) == MAX and state.cards[MAX] > state.cards[MIN]:
            return [*found, BET + 1]
        return found

    def apply(self, state: KuhnState, action: int) -> KuhnState:
        return super().apply(state, min(action, BET) if len(state.cards) == 2 else action)


class NeverEnds(KuhnPoker):
    """▲ and ▼ pass for ever."""

    def player(self, state: KuhnState) -> int:
        found = super().player(state)
        return len(state.betting) % 2 if found == TERMINAL else found

    def observation(self, state: KuhnState, player: int) -> Observation:
        return (*super().observation(state, player)[:2], len(state.betting))


class PaysBoth(KuhnPoker):
    """The winner is paid, and the loser pays nothing."""

    def payoffs(self, state: KuhnState) -> Sequence[float]:
        return [max(self.payoff(state), 0.0), max(-self.payoff(state), 0.0)]


class PaysTooMuch(KuhnPoker):
    """Its scale fits to half of its payoffs."""

    scale = 1.0


class LoadedDeck(KuhnPoker):
    """Chances of 1/2 for each of three cards."""

    def chances(self, state: KuhnState) -> Sequence[float]:
        return [1 / 2] * len(super().chances(state))


class ForgetsOwnBets(KuhnPoker):
    """Its information states hold the number of betting actions, not which they were."""

    cumulative = True

    def observation(self, state: KuhnState, player: int) -> Observation:
        own = state.cards[player] + 1 if player < len(state.cards) else 0
        return (own, len(state.betting), int(self.player(state) == player))


class Tries:
    """▲ hides 0, 1 or 2; ▼ guesses until it is right, unseen; then ▲ guesses a coin for double.

    ▼ pays one for each wrong guess. ▲ does not notice wrong guesses.
    """

    name = "tries"
    scale = 1 / 4
    cumulative = True

    def start(self) -> tuple[int, ...]:
        return ()

    def player(self, state: tuple[int, ...]) -> int:
        if not state:
            return MAX
        if state[0] not in state[1:]:
            return MIN
        return MAX if state[-1] == state[0] and len(state) < 6 and 9 not in state else TERMINAL

    def actions(self, state: tuple[int, ...]) -> Sequence[int]:
        mover = self.player(state)
        if mover == TERMINAL:
            return []
        if not state:
            return [0, 1, 2]
        if mover == MIN:
            return [guess for guess in (0, 1, 2) if guess not in state[1:]]
        return [8, 9]

    def chances(self, state: tuple[int, ...]) -> Sequence[float]:
        raise AssertionError("there is no chance in this game")

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, *([action, 9] if action == 8 else [action]))

    def payoff(self, state: tuple[int, ...]) -> float:
        wrong = len([each for each in state[1:] if each < 8]) - 1
        return float(2 * wrong if 8 in state else wrong)

    def observation(self, state: tuple[int, ...], player: int) -> Observation:
        turn = int(self.player(state) == player)
        if player == MIN:
            return (turn, *state[1:])
        return (turn, *state[:1], *(each for each in state[1:] if each >= 8))


class ChangesStates:
    """Kuhn poker with lists for states; `apply` appends to the one that it is given."""

    name = "kuhn_poker"
    scale = KuhnPoker().scale

    def start(self) -> list[int]:
        return []

    def apply(self, state: list[int], action: int) -> list[int]:
        state.append(action)
        return state

    def __getattr__(self, name: str) -> Any:
        """All else is Kuhn poker's."""
        plain = KuhnPoker()
        if not hasattr(plain, name):
            raise AttributeError(name)

        def ask(state: list[int], *arguments: Any) -> Any:
            found = plain.start()
            for action in state:
                found = plain.apply(found, action)
            return getattr(plain, name)(found, *arguments)

        return ask


class HasNoActions(KuhnPoker):
    """`actions` returns None at the end."""

    def actions(self, state: KuhnState) -> Any:
        return super().actions(state) or None


class PaysInPairs(KuhnPoker):
    """A payoff is both players'."""

    def payoff(self, state: KuhnState) -> Any:
        return (super().payoff(state), -super().payoff(state))


class ShowsList(KuhnPoker):
    """Observations are lists."""

    def observation(self, state: KuhnState, player: int) -> Any:
        return list(super().observation(state, player))


class ShowsFractions(KuhnPoker):
    """Observations hold numbers that are not integers."""

    def observation(self, state: KuhnState, player: int) -> Any:
        return (0.5, *super().observation(state, player))


class NegativeScale(KuhnPoker):
    """Its scale turns the players around."""

    scale = -1 / 2


FAULTS: list[tuple[Any, str, int]] = [
    (HidesTurn(), "does not know whether it is to move", 2),
    (HigherCardMayRaise(), "has different actions in one infoset", 2),
    (PaysBoth(), "not zero-sum", 1),
    (PaysTooMuch(), "not in [-1, 1]", 1),
    (LoadedDeck(), "do not add up to 1", 1),
    (ForgetsOwnBets(), "has no perfect recall", 2),
    (ChangesStates(), "apply changes the state", 1),
    (HasNoActions(), "actions must be a sequence, and are None", 1),
    (PaysInPairs(), "is not a number", 1),
    (ShowsList(), "observation must be a tuple of integers", 0),
    (ShowsFractions(), "observation must be a tuple of integers", 0),
    (NegativeScale(), "the scale must be above 0, and is -0.5", 0),
]
"""Each game, words of its fault, and how many histories show it."""
