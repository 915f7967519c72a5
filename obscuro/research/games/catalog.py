"""The games that prove the search, with the known facts about each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from obscuro.research.games.extensive_form import ExtensiveForm
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.matching_pennies import MatchingPennies


class KnownGame(NamedTuple):
    """One game of the catalog, with its sizes from K, Table 2."""

    make: Callable[[], ExtensiveForm[Any]]
    histories: int  # nodes, the start and the ends included
    infosets: int  # of both players, where they move
    value: float  # ▲'s, in the game's units
    iterations: int  # enough for an exploitability below 0.001 units


CATALOG: Final[dict[str, KnownGame]] = {
    "kuhn": KnownGame(KuhnPoker, 58, 12, -1 / 18, 512),
    "leduc": KnownGame(LeducPoker, 9457, 936, -0.085606424, 8192),
    "liars_dice": KnownGame(LiarsDice, 51181, 5120, 0.008, 24576),
    "goofspiel_increasing": KnownGame(lambda: Goofspiel(4, "increasing"), 1077, 162, 0.0, 1024),
    "goofspiel_random": KnownGame(lambda: Goofspiel(4, "random"), 26773, 3608, 0.0, 4096),
    "matching_pennies": KnownGame(MatchingPennies, 701, 101, 16.6625, 4096),
}
"""The games by name.

Kuhn's value is from Kuhn 1950. OpenSpiel's sequence-form linear program gave the other values, to
all digits shown (`docs/results/small_games.md` has the command). Goofspiel is symmetric.
"""
