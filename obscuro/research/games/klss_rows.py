"""The rows of K's tables: each game, the floor of its blueprint, and the printed numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games import kuhn, leduc
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, Observation
from obscuro.research.games.game_tree import GameTree
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.matching_pennies import HEADS, MatchingPennies, PenniesState
from obscuro.search.game import MAX

EPSILON: Final = 0.25
"""ε: a blueprint plays each floored action with at least ε / (number of actions there)."""


class FigurePennies(MatchingPennies):
    """N-matching pennies by the rules of K's Figure 1 and tables, not of K's Section 4.

    ▲ observes ⌊(n+1)/2⌋ and ▼ observes ⌊n/2⌋, and two tails score N + 1 - n.
    """

    def payoff(self, state: PenniesState) -> float:
        """Return n after two heads, N + 1 - n after two tails, else 0."""
        mine, theirs = state.pennies
        if mine != theirs:
            return 0.0
        return float(state.number if mine == HEADS else self.numbers + 1 - state.number)

    def observation(self, state: PenniesState, player: int) -> Observation:
        """Return how many pennies lie, and what the player observes of the number (−1 before)."""
        return super().observation(state, 1 - player)


class TableOne(NamedTuple):
    """K's Table 1, as printed: exploitability for payoffs in [-1, 1]."""

    blueprint: str
    after: str  # 1-KLSS
    ratio: str


class TableTwo(NamedTuple):
    """K's Table 2, as printed. Averages that the table omits equal the last one it gives."""

    nodes: int
    infosets: int
    diameter: int
    average: tuple[str, ...]  # k = 1, 2, 3, 4
    connected: str


class KlssRow(NamedTuple):
    """One row of Table 1, with the row of its game in Table 2."""

    title: str
    make: Callable[[], ExtensiveForm[Any]]
    floored: Callable[[Any, int], bool]  # whether the floor holds for this action in this state
    one: TableOne
    two: TableTwo


def floor_of(tree: GameTree[Any], row: KlssRow, epsilon: float = EPSILON) -> NDArray[np.float64]:
    """Return the least probability of each action in the row's blueprint, float64[S]; 0 for ▼'s."""
    floor = np.zeros(len(tree.infosets.action))
    for node in np.flatnonzero(tree.player == MAX).tolist():
        for child in range(tree.first[node], tree.first[node] + tree.degree[node]):
            if row.floored(tree.states[node], int(tree.action[child])):
                floor[tree.slot[child]] = epsilon / tree.degree[node]
    return floor


def normalisation(tree: GameTree[Any]) -> float:
    """Return the factor that converts exploitability to payoffs shifted and scaled to [-1, 1]."""
    payoffs = tree.payoff[tree.player == TERMINAL]
    return float(2.0 / (payoffs.max() - payoffs.min()))


def _dark_hex() -> ExtensiveForm[Any]:
    """Load 2x2 abrupt dark hex, the one game that only OpenSpiel has."""
    from obscuro.research.games.openspiel import OpenSpielGame  # noqa: PLC0415  # an optional dependency

    return OpenSpielGame("dark_hex(num_rows=2,num_cols=2,gameversion=adh)")


def _every(_state: Any, _action: int) -> bool:
    return True


def _kuhn_bet(state: kuhn.KuhnState, action: int) -> bool:
    """Return whether the action is a bet, but not a call."""
    return action == kuhn.BET and kuhn.BET not in state.betting


def _leduc_raise(_state: leduc.LeducState, action: int) -> bool:
    return action == leduc.RAISE


def _leduc_fold(_state: leduc.LeducState, action: int) -> bool:
    return action == leduc.FOLD


_KUHN = TableTwo(58, 12, 3, ("2.50", "3.50", "4.00"), "4.00")
_LEDUC = TableTwo(9457, 936, 3, ("6.14", "14.71", "15.40"), "15.40")

ROWS: Final[dict[str, KlssRow]] = {
    "dark_hex": KlssRow(
        "2x2 abrupt dark hex",
        _dark_hex,
        _every,
        TableOne(".0683", ".0625", "1.093"),
        TableTwo(471, 94, 13, ("5.23", "12.00", "18.17", "22.04"), "29.58"),
    ),
    "goofspiel_random": KlssRow(
        "4-card Goofspiel, random order",
        lambda: Goofspiel(4, "random"),
        _every,
        TableOne(".171", ".077", "2.2"),
        TableTwo(26773, 3608, 4, ("5.84", "8.90", "9.19", "9.20"), "9.20"),
    ),
    "goofspiel_increasing": KlssRow(
        "4-card Goofspiel, increasing order",
        lambda: Goofspiel(4, "increasing"),
        _every,
        TableOne(".17", ".0", "∞"),
        TableTwo(1077, 162, 4, ("5.83", "9.05", "9.31", "9.32"), "9.32"),
    ),
    "kuhn": KlssRow("Kuhn poker", kuhn.KuhnPoker, _every, TableOne(".0124", ".0015", "8.3"), _KUHN),
    "kuhn_bet": KlssRow(
        "Kuhn poker (ε-bet)", kuhn.KuhnPoker, _kuhn_bet, TableOne(".0035", ".0", "∞"), _KUHN
    ),
    "leduc": KlssRow(
        "3-rank limit Leduc poker",
        leduc.LeducPoker,
        _every,
        TableOne(".0207", ".0191", "1.087"),
        _LEDUC,
    ),
    "leduc_fold": KlssRow(
        "3-rank limit Leduc poker (ε-fold)",
        leduc.LeducPoker,
        _leduc_fold,
        TableOne(".0065", ".0057", "1.087"),
        _LEDUC,
    ),
    "leduc_bet": KlssRow(
        "3-rank limit Leduc poker (ε-bet)",
        leduc.LeducPoker,
        _leduc_raise,
        TableOne(".0097", ".0096", "1.011"),
        _LEDUC,
    ),
    "liars_dice": KlssRow(
        "Liar's Dice, 5-sided die",
        LiarsDice,
        _every,
        TableOne(".181", ".125", "1.45"),
        TableTwo(51181, 5120, 2, ("7.00", "15.00"), "15.00"),
    ),
    "matching_pennies": KlssRow(
        "100-matching pennies",
        FigurePennies,
        _every,
        TableOne(".0013", ".0098", "0.13"),
        TableTwo(701, 101, 99, ("3.63", "4.29", "4.93", "5.57"), "35.97"),
    ),
}
"""The rows in the order of Table 1."""
