"""What the root of a subgame costs in safety, and what it gains, exactly, in small games.

    python -m tools.proofs.root_variants
    python -m tools.proofs.root_variants --games leduc --orders 2-KLUSS "common knowledge" --few
    python -m tools.proofs.root_variants --list

As in `tools.proofs.klss_table`, ▲ gets a blueprint and solves a subgame at every infoset that it can
reach, nested, by linear programs. Here the root of the subgame changes: Maxmargin, Resolve, a soft root
that takes an expectation over ▼'s infosets J with weight ε, priors over J, a budget of J, and alternate
values. Two blueprints: the one of the table, least exploitable with a floor of 0.25 / (number of
actions), and an early one, the average of 8 iterations of PCFR+ without a floor. For each root two
sides are measured: how exploitable ▲ is, and what ▲ gains over its blueprint against three strategies
of ▼ that do not respond. Payoffs are in [-1, 1].

The games that run by default take five minutes on one core. The others of the table take 5 to 40 seconds
for each root, blueprint and order of knowledge. --few has the roots that differ most.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import (
    GameTree,
    enumerate_game,
    expected_value,
    policy_of,
    strategy_of,
)
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.klss_rows import ROWS, floor_of, normalisation
from obscuro.research.games.root_rules import (
    LikeliestGroups,
    MaxmarginRoot,
    RootBudget,
    RootRule,
    SoftRoot,
    ValuePrior,
    belief_prior,
    even_prior,
    mixed_prior,
)
from obscuro.research.games.search_game import GameSolver
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.games.subgame_program import AsSolved, Margins
from obscuro.search.game import MIN
from tools.common import given, publish, table, tool_parser
from tools.proofs.klss_table import KINDS, number
from tools.results.manifest import Loaded

DEFAULT_GAMES: Final = ("dark_hex", "goofspiel_increasing", "kuhn", "kuhn_bet", "matching_pennies")
BLUEPRINTS: Final = ("floored", "early")
EARLY: Final = 8
"""Iterations of PCFR+ on the whole game whose average is the early blueprint."""
FLOOR_ONLY: Final = ("kuhn_bet", "leduc_fold", "leduc_bet")
"""Rows that differ from another one by the floor alone; the early blueprint has none."""
OPPONENTS: Final = ("blueprint", "uniform", "equilibrium")
WORSE: Final = 1e-6
"""A strategy that is more exploitable by less than this is as safe."""

EPSILONS: Final = (0.05, 0.1, 0.2, 0.5, 1.0)


class Variant(NamedTuple):
    """One root."""

    rule: RootRule
    budget: RootBudget | None = None


def _variants() -> dict[str, Variant]:
    """Return all roots by name, in the order of the tables."""
    found: dict[str, Variant] = {
        "Maxmargin": Variant(MaxmarginRoot(Margins())),
        "Resolve": Variant(SoftRoot(0.0)),
        "Resolve, as HiGHS returns it": Variant(SoftRoot(0.0, tie="as solved")),
        "Resolve, then expectation": Variant(SoftRoot(0.0, tie="expectation")),
    }
    for name, prior in (("paper", mixed_prior), ("even", even_prior), ("belief", belief_prior)):
        for epsilon in EPSILONS if prior is not belief_prior else (0.1, 0.2, 1.0):
            found[f"soft {epsilon:g}, {name}"] = Variant(SoftRoot(epsilon, prior))
    for temperature in (0.2, 1.0):
        by_value = ValuePrior(temperature)
        name = f"by value, T = {temperature:g}"
        found[f"Resolve, then expectation, {name}"] = Variant(
            SoftRoot(0.0, by_value, "expectation")
        )
        for epsilon in (0.1, 0.2, 1.0):
            found[f"soft {epsilon:g}, {name}"] = Variant(SoftRoot(epsilon, by_value))
    for most, text in ((1, "1"), (2, "2"), (4, "4"), (None, "half")):
        budget = LikeliestGroups(most)
        found[f"Maxmargin, likeliest {text}"] = Variant(MaxmarginRoot(Margins()), budget)
        found[f"Resolve, likeliest {text}"] = Variant(SoftRoot(0.0), budget)
    found["Maxmargin, capped"] = Variant(MaxmarginRoot(Margins(), "capped"))
    found["Resolve, capped"] = Variant(SoftRoot(0.0, alternates="capped"))
    found["soft 0.2, paper, capped"] = Variant(SoftRoot(0.2, alternates="capped"))
    found["Maxmargin, look"] = Variant(MaxmarginRoot(Margins(), "look"))
    for name, prior in (("paper", mixed_prior), ("by value, T = 0.2", ValuePrior(0.2))):
        for epsilon in (0.0, 0.2):
            title = f"soft {epsilon:g}" if epsilon else "Resolve"
            found[f"{title}, {name}, look"] = Variant(SoftRoot(epsilon, prior, alternates="look"))
    return found


VARIANTS: Final = _variants()


FEW: Final = (
    "Maxmargin",
    "Resolve",
    "soft 0.1, paper",
    "soft 0.2, paper",
    "soft 0.5, paper",
    "soft 1, paper",
    "soft 0.2, belief",
    "Resolve, then expectation, by value, T = 0.2",
    "soft 0.2, by value, T = 0.2",
    "soft 1, by value, T = 0.2",
    "Maxmargin, likeliest 4",
    "Resolve, likeliest 4",
    "Resolve, likeliest half",
    "Resolve, paper, look",
    "soft 0.2, paper, look",
    "soft 0.2, by value, T = 0.2, look",
)
"""The roots of `--few`."""


class Ground(NamedTuple):
    """A game with a blueprint, and what the roots are measured by."""

    tree: GameTree[Any]
    floor: NDArray[np.float64]  # [S]
    policy: NDArray[np.float64]  # [S] the blueprint, of both players
    opponents: dict[str, NDArray[np.float64]]  # [S] each, of which ▼'s part counts
    value: float  # of the game, in its units
    scale: float  # to payoffs in [-1, 1]

    def exploitability(self, policy: NDArray[np.float64]) -> float:
        """Return how much less than the game's value ▲ is guaranteed by `policy`, float64[S]."""
        return (self.value - guaranteed(self.tree, policy)) * self.scale

    def values(self, policy: NDArray[np.float64]) -> dict[str, float]:
        """Return ▲'s expected payoff against each opponent. policy: float64[S]."""
        infosets = self.tree.infosets
        theirs = np.repeat(infosets.player == MIN, np.diff(infosets.offsets))
        return {
            name: self.scale
            * expected_value(self.tree, strategy_of(self.tree, np.where(theirs, other, policy)))
            for name, other in self.opponents.items()
        }


def ground_of(game: str, blueprint: str) -> Ground:
    """Return a row of `ROWS` with one of `BLUEPRINTS`."""
    row = ROWS[game]
    tree = enumerate_game(row.make())
    floor = floor_of(tree, row)
    equilibrium = least_exploitable(tree, np.zeros_like(floor), AsSolved())
    if blueprint == "floored":
        policy = least_exploitable(tree, floor, AsSolved()).policy
    else:
        floor = np.zeros_like(floor)
        solver = GameSolver(tree, "whole")
        solver.run(EARLY)
        policy = policy_of(tree, solver.solution().average)
    opponents = {
        "blueprint": policy,
        "uniform": SequenceForm(tree).uniform(),
        "equilibrium": equilibrium.policy,
    }
    return Ground(tree, floor, policy, opponents, equilibrium.value, normalisation(tree))


def measure(
    game: str, blueprint: str, orders: Sequence[str], variants: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the figures of the blueprint, whose variant is "", and of each root."""
    ground = ground_of(game, blueprint)

    def figures(order: str, variant: str, policy: NDArray[np.float64]) -> dict[str, Any]:
        return {
            "game": game,
            "blueprint": blueprint,
            "order": order,
            "variant": variant,
            "exploitability": ground.exploitability(policy),
            "values": ground.values(policy),
        }

    yield figures("", "", ground.policy)
    for order in orders:
        for name in variants:
            rule, budget = VARIANTS[name]
            begin = time.monotonic()
            solver = SubgameSolver(ground.tree, ground.floor, KINDS[order], rule, budget)
            nested = solver.solve_everywhere(ground.policy)
            seconds = time.monotonic() - begin
            counts = {"infosets": nested.infosets, "programs": nested.programs}
            yield {**figures(order, name, nested.policy), **counts, "seconds": seconds}


# -- tables -------------------------------------------------------------------------------------

GAINS: Final = ("▼'s blueprint", "uniform ▼", "▼'s equilibrium")
"""The heads of the columns of `OPPONENTS`."""


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield two tables for each blueprint, means over the games and the main roots by game.

    Gains, and what is shown by game, are of 2-KLUSS, or of the last order where that is missing.
    """
    for number_of_table, blueprint in enumerate(_distinct(figures, "blueprint")):
        mine = [each for each in figures if each["blueprint"] == blueprint]
        start = {each["game"]: each for each in mine if not each["variant"]}
        orders = [order for order in _distinct(mine, "order") if order]
        shown = "2-KLUSS" if "2-KLUSS" in orders else orders[-1]
        if number_of_table:
            yield ""
        yield from textwrap.wrap(
            f"**Blueprint: {blueprint}.** {_names(start)}: exploitability, with the number of games "
            "in which it is above the blueprint's in brackets, and gains over the blueprint with "
            f"{shown}.",
            width=100,
        )
        yield ""
        head = ["root", *orders, *[f"gain: {name}" for name in GAINS]]
        yield from table(head, _means(start, mine, orders, shown), "l" + "r" * (len(head) - 1))
        if len(start) > 1:
            yield ""
            yield f"**Blueprint: {blueprint}.** Exploitability by game, {shown}, of the main roots."
            yield ""
            yield from table(["root", *start], _by_game(start, mine, shown), "l" + "r" * len(start))


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the tables of `render` for the games of several runs together."""
    runs = [each.raw.data for each in loaded]
    yield from render([each for data in runs for each in data])


def _distinct(figures: Sequence[dict[str, Any]], name: str) -> list[str]:
    return list(dict.fromkeys(each[name] for each in figures))


def _roots(figures: Sequence[dict[str, Any]]) -> list[str]:
    """Return the roots that were measured, in the order of `VARIANTS`."""
    measured = set(_distinct(figures, "variant"))
    return [name for name in VARIANTS if name in measured]


def _names(games: dict[str, Any]) -> str:
    named = ", ".join(f"`{game}`" for game in games)
    return f"Means over {named}" if len(games) > 1 else named


def _means(
    start: dict[str, Any], figures: Sequence[dict[str, Any]], orders: Sequence[str], shown: str
) -> Iterator[list[str]]:
    """Yield the rows of a table of means; `start` has the figures of each game's blueprint."""
    before = _mean([each["exploitability"] for each in start.values()])
    yield ["blueprint", *[before] * len(orders), *["0"] * len(OPPONENTS)]
    for variant in _roots(figures):
        cells, gains = [variant], []
        for order in orders:
            same = [e for e in figures if (e["order"], e["variant"]) == (order, variant)]
            lost = [(e["exploitability"], start[e["game"]]["exploitability"]) for e in same]
            worse = sum(after > was + WORSE for after, was in lost)
            cells.append(f"{_mean([after for after, _ in lost])} ({worse})")
            if order == shown:
                gains = [
                    _mean([e["values"][by] - start[e["game"]]["values"][by] for e in same])
                    for by in OPPONENTS
                ]
        yield [*cells, *gains]


def _by_game(
    start: dict[str, Any], figures: Sequence[dict[str, Any]], shown: str
) -> Iterator[list[str]]:
    """Yield the rows of a table of exploitabilities."""
    yield ["blueprint", *[number(each["exploitability"], 4) for each in start.values()]]
    for variant in [name for name in _roots(figures) if name in FEW]:
        same = [e for e in figures if (e["order"], e["variant"]) == (shown, variant)]
        found = {each["game"]: each["exploitability"] for each in same}
        yield [variant, *[number(found[game], 4) for game in start]]


def _mean(values: Sequence[float]) -> str:
    return number(float(np.mean(values)), 4)


# -- the command line ---------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.root_variants", __doc__)
    parser.add_argument(
        "--games", nargs="+", choices=ROWS, default=list(DEFAULT_GAMES), metavar="GAME"
    )
    parser.add_argument("--blueprints", nargs="+", choices=BLUEPRINTS, default=list(BLUEPRINTS))
    parser.add_argument("--orders", nargs="+", choices=KINDS, default=list(KINDS))
    roots = parser.add_mutually_exclusive_group()
    roots.add_argument(
        "--variants",
        nargs="+",
        choices=VARIANTS,
        default=list(VARIANTS),
        metavar="ROOT",
        help="roots by name; --list prints them",
    )
    roots.add_argument(
        "--few", dest="variants", action="store_const", const=list(FEW), help="the main roots"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the roots and end")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    words = given(words)
    options = make_parser().parse_args(words)
    if options.list:
        print("\n".join(VARIANTS))
        return 0
    figures: list[dict[str, Any]] = []
    for blueprint in options.blueprints:
        for game in options.games:
            if blueprint == "early" and game in FLOOR_ONLY:
                continue
            begin = time.monotonic()
            figures += measure(game, blueprint, options.orders, options.variants)
            print(f"{game}, {blueprint}: {time.monotonic() - begin:.0f} s", flush=True)
    print()
    publish(make_parser(), words, options.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
