"""The games of V, Section 6.1.4, with their depth limits and what is public in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.goofspiel import Goofspiel, GoofspielState
from obscuro.research.games.oshi_zumo import OshiZumo, OshiZumoState
from obscuro.research.games.paced_leduc import LIMIT, PacedLeduc, PacedLeducState
from obscuro.research.value_functions.limited_trunk import LimitedGame
from obscuro.research.value_functions.value_network import NetworkShape


class Domain(NamedTuple):
    """A game of the experiments, and the network that V trained for it (Table 2)."""

    title: str
    make: Callable[[], LimitedGame]
    shape: NetworkShape
    strategies: int  # random trunk strategies of the training data
    printed_histories: int  # V's Table 3, rounded
    printed_states: int


def goofspiel(cards: int, rounds_above: int) -> LimitedGame:
    """Return Goofspiel, highest card first, for points, with a limit after so many rounds."""
    game = Goofspiel(cards, "decreasing", stake="points")
    return LimitedGame(
        enumerate_game(game),
        2 * rounds_above,
        _winners,
        lambda state, player: state.bids[player],
    )


def _winners(state: GoofspielState) -> list[int]:
    return [1 + (a > b) - (a < b) for a, b in zip(*state.bids, strict=True)]


def _oshi_zumo(coins: int, rounds_above: int) -> LimitedGame:
    game = OshiZumo(coins)

    def pushes(state: OshiZumoState) -> list[int]:
        return [1 + push for push in game.pushes(state)]

    return LimitedGame(
        enumerate_game(game),
        2 * rounds_above,
        pushes,
        lambda state, player: state.bids[player],
    )


def _leduc() -> LimitedGame:
    bets: dict[tuple[int, ...], int] = {}

    def public(state: PacedLeducState) -> list[int]:
        return [bets.setdefault(state.poker.first, len(bets)), state.poker.cards[-1]]

    def private(state: PacedLeducState, player: int) -> int:
        return state.poker.cards[player]

    return LimitedGame(enumerate_game(PacedLeduc()), LIMIT, public, private)


DOMAINS: Final[dict[str, Domain]] = {
    "goofspiel": Domain(
        "Goofspiel, 5 cards", lambda: goofspiel(5, 2), NetworkShape(5, 500), 2000, 56_000, 9
    ),
    "oshi_zumo": Domain(
        "Oshi-zumo, 8 coins", lambda: _oshi_zumo(8, 3), NetworkShape(4, 400), 2000, 20_000, 17
    ),
    "leduc": Domain("Leduc poker", _leduc, NetworkShape(6, 200), 812, 61_000, 87),
}
