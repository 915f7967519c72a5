"""Exploitability of trunks with 1, 2, 4, 8 continuation strategies at a depth limit (V, 4.3.1).

    python -m tools.proofs.continuations
    python -m tools.proofs.continuations --games leduc --blueprints 10

Each player's trunk is solved by CFR+ while the other one chooses at the limit among strategies for
the rest of the game. The first is a blueprint's, of so many iterations of CFR+ on the whole game; each
next one is a best response to the trunk with those before. Beside them stand trunks with one value of
each history: 0, the mean of random play, and the value if both saw everything. Exploitability is the
mean of both players' loss if both play their best below the limit, exactly, for payoffs in [-1, 1].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import Mirrored
from obscuro.research.games.game_tree import GameTree, enumerate_game, policy_of
from obscuro.research.games.klss import values_when_all_is_seen
from obscuro.research.games.leduc import LeducPoker, PacedLeduc
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.value_functions.continuations import (
    grow_portfolio,
    node_values,
    solve_with_values,
)
from obscuro.research.value_functions.limited_trunk import RegionCfr, TrunkExploitability
from obscuro.research.value_functions.value_network import goofspiel
from obscuro.search.game import MAX
from tools.common import given, publish, say, table, tool_parser

Floats = NDArray[np.float64]


class LimitedRow(NamedTuple):
    """A game of the table."""

    title: str
    make: Callable[[], GameTree[Any]]
    level: int  # the plies above the limit


_LEDUC: Final = PacedLeduc(LeducPoker())
GAMES: Final[dict[str, LimitedRow]] = {
    "leduc": LimitedRow(
        "Leduc poker, after the first round of bets", lambda: enumerate_game(_LEDUC), _LEDUC.limit
    ),
    "goofspiel": LimitedRow(
        "Goofspiel, 5 cards, after two rounds", lambda: goofspiel(5, 2).tree, 4
    ),
    "liars_dice": LimitedRow(
        "Liar's Dice, 4 sides, after two bids", lambda: enumerate_game(LiarsDice(4)), 4
    ),
}
BLUEPRINTS: Final = (10, 1000)
ITERATIONS: Final = 1000
COUNTS: Final = (1, 2, 4, 8)


def measure(name: str, blueprints: Sequence[int], iterations: int) -> dict[str, Any]:
    """Return the exploitability of one game's trunks.

    blueprints: iterations of CFR+ that make each. iterations: of CFR+ in the trunk.
    """
    row = GAMES[name]
    tree, level = row.make(), row.level
    seats = (tree, enumerate_game(Mirrored(tree.game)))
    whole = RegionCfr(tree, (0, len(tree.levels) - 1))
    trunk = RegionCfr(tree, (0, level)).slots
    measured = TrunkExploitability(tree, trunk)
    first = tree.infosets.owner == MAX
    values = {
        "0": np.zeros(len(tree.states)),
        "random play": node_values(tree, policy_of(tree, {})),
        "all is seen": values_when_all_is_seen(tree),
    }
    found: dict[str, Any] = {
        "game": name,
        "histories": len(tree.states),
        "infosets": len(tree.infosets.key),
        "one_value": {
            what: float(measured.of(solve_with_values(tree, level, value[np.newaxis], iterations)))
            for what, value in values.items()
        },
        "blueprints": [],
    }
    for wanted in blueprints:
        whole.iterate(None, max(0, wanted - whole.iterations))
        blueprint = whole.average()
        grown = [
            list(islice(grow_portfolio(seat, level, blueprint, iterations), max(COUNTS)))
            for seat in seats
        ]
        # A portfolio that ended holds all responses: its last policy is that of any larger one.
        lost = {
            count: float(
                measured.of(np.where(first, *(each[min(count, len(each)) - 1] for each in grown)))
            )
            for count in COUNTS
        }
        found["blueprints"].append(
            {
                "iterations": wanted,
                "own": float(measured.of(blueprint)),
                "continuations": lost,
                "ended": [len(each) for each in grown],
            }
        )
        say(f"{name}, blueprint of {wanted} iterations: {lost}, of {measured.of(blueprint):.4f}")
    return found


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield both tables, in Markdown."""
    named = list(figures[0]["one_value"])
    rows = [
        [GAMES[each["game"]].title, f"{each['histories']:,}"]
        + [f"{each['one_value'][what]:.4f}" for what in named]
        for each in figures
    ]
    yield from table(["game", "histories", *named], rows, "lr" + "r" * len(named))
    yield ""
    head = ["game", "iterations of the blueprint", "its trunk", *(f"k = {n}" for n in COUNTS)]
    rows = [
        [GAMES[each["game"]].title, f"{one['iterations']:,}", f"{one['own']:.4f}"]
        # The counts are numbers here, and text once they were stored.
        + [f"{lost:.4f}" for lost in one["continuations"].values()]
        for each in figures
        for one in each["blueprints"]
    ]
    yield from table(head, rows, "lrr" + "r" * len(COUNTS))


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.continuations", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument(
        "--blueprints",
        nargs="+",
        type=int,
        default=list(BLUEPRINTS),
        metavar="ITERATIONS",
        help="ascending",
    )
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help="in the trunk")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    figures = [measure(name, options.blueprints, options.iterations) for name in options.games]
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
