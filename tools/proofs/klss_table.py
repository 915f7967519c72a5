"""Subgame solving at every infoset of small games, beside Tables 1 and 2 of Zhang and Sandholm (2021).

    python -m tools.proofs.klss_table
    python -m tools.proofs.klss_table --range 4
    python -m tools.proofs.klss_table --games kuhn kuhn_bet --epsilon 0.1
    python -m tools.proofs.klss_table --games liars_dice --epsilon 0 --range 0 --kinds 1-KLSS
    python -m tools.proofs.klss_table --games kuhn --kinds 1-KLSS "safe 1-KLSS"

For every game ▲ gets a weak blueprint, the least exploitable strategy that plays bad actions with a
probability of ε / (number of actions) at least. Then a maxmargin subgame is solved exactly, by a linear
program, at every infoset that ▲ can reach, nested, and what ▲ plays is measured exactly: how much less
it gets against a best response than the game's value, for payoffs in [-1, 1]. Four kinds of subgames:
1-KLSS (the paper's), 2-KLUSS (Obscuro's), 3-KLSS, and subgames with common knowledge. Only --kinds
asks for safe 1-KLSS (Obscuro, C.6.5), in which no strategy of ▼ may gain.

A maxmargin subgame mostly has many optimal strategies, and they differ much in the end. The figures are
for the one with the greatest sum of margins; --range also takes those that two methods of the solver
return, the best and the worst against ▼ playing an equilibrium, a best response to the blueprint and
uniformly, and N at random (each with a blueprint at random). All games take four minutes on one core,
with --range 4 half an hour. With another ε than the paper's, its figures are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import (
    GameTree,
    best_response,
    enumerate_game,
    policy_of,
    strategy_of,
)
from obscuro.research.games.infoset_hypergraph import (
    COMMON_KNOWLEDGE,
    KnowledgeSizes,
    knowledge_sizes,
)
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.klss_rows import (
    EPSILON,
    ROWS,
    KlssRow,
    TableTwo,
    floor_of,
    normalisation,
)
from obscuro.research.games.root_rules import MaxmarginRoot
from obscuro.research.games.subgame_program import Against, AsSolved, AtRandom, Choice, Margins
from obscuro.search.game import MIN
from tools.common import given, publish, table, tool_parser
from tools.results.manifest import Loaded

KINDS: Final[dict[str, int | None]] = {
    "1-KLSS": 1,
    "2-KLUSS": 2,
    "3-KLSS": 3,
    "common knowledge": COMMON_KNOWLEDGE,
    "safe 1-KLSS": 1,
}
KLSS, SAFE = "1-KLSS", "safe 1-KLSS"
NOTHING = 5e-7
"""A lesser exploitability is 0, but for what the linear programs leave."""


class Outcome(NamedTuple):
    """One kind of subgame solving in one game."""

    exploitability: float
    others: dict[str, float]  # by other choices among the optimal strategies
    infosets: int
    programs: int
    seconds: float

    @property
    def least(self) -> float:
        """The least exploitability of all choices."""
        return min([self.exploitability, *self.others.values()])

    @property
    def most(self) -> float:
        """The greatest exploitability of all choices."""
        return max([self.exploitability, *self.others.values()])


class Measured(NamedTuple):
    """One row of all tables."""

    row: KlssRow
    sizes: KnowledgeSizes
    blueprint: float
    outcomes: dict[str, Outcome]


def measure(row: KlssRow, epsilon: float, at_random: int | None, kinds: Sequence[str]) -> Measured:
    """Measure one row; with `at_random`, over more choices than one, of which so many at random.

    kinds: of `KINDS`.
    """
    tree = enumerate_game(row.make())
    floor, scale = floor_of(tree, row, epsilon), normalisation(tree)
    equilibrium = least_exploitable(tree, np.zeros_like(floor), AsSolved())
    blueprint = least_exploitable(tree, floor, AsSolved())

    def lost(policy: NDArray[np.float64]) -> float:
        return (equilibrium.value - guaranteed(tree, policy)) * scale

    more: list[tuple[str, Choice, NDArray[np.float64]]] = []
    if at_random is not None:
        more = list(more_choices(tree, floor, equilibrium.policy, blueprint.policy, at_random))
    outcomes = {}
    for name in kinds:
        order = KINDS[name]
        begin = time.monotonic()
        say = progress(f"{row.title}, {name}")
        solver = SubgameSolver(tree, floor, order, MaxmarginRoot(Margins(), safe=name == SAFE))
        nested = solver.solve_everywhere(blueprint.policy, say)
        seconds = time.monotonic() - begin
        others = {}
        for label, choice, policy in more:
            say = progress(f"{row.title}, {name}, {label}")
            solver = SubgameSolver(tree, floor, order, MaxmarginRoot(choice, safe=name == SAFE))
            others[label] = lost(solver.solve_everywhere(policy, say).policy)
        outcomes[name] = Outcome(
            lost(nested.policy), others, nested.infosets, nested.programs, seconds
        )
    progress("")(0, 0)
    return Measured(row, knowledge_sizes(tree), lost(blueprint.policy), outcomes)


def more_choices(
    tree: GameTree[Any],
    floor: NDArray[np.float64],
    equilibrium: NDArray[np.float64],
    blueprint: NDArray[np.float64],
    at_random: int,
) -> Iterator[tuple[str, Choice, NDArray[np.float64]]]:
    """Name choices among the optimal strategies, and the blueprint [S] to start from."""
    yield "as solved", AsSolved(), blueprint
    inner = AsSolved("highs-ipm")
    yield "interior point", inner, least_exploitable(tree, floor, inner).policy
    response = policy_of(tree, best_response(tree, strategy_of(tree, blueprint), MIN)[1])
    uniform = policy_of(tree, {})
    opponents = {"equilibrium": equilibrium, "best response": response, "uniform": uniform}
    for name, opponent in opponents.items():
        for worst in (False, True):
            label = f"{'worst' if worst else 'best'} against {name}"
            yield label, Against(opponent, worst=worst), blueprint
    for seed in range(1, at_random + 1):
        other = least_exploitable(tree, floor, AtRandom(seed)).policy
        yield f"random {seed}", AtRandom(seed), other


def progress(title: str) -> Callable[[int, int], None]:
    """Return what shows on a terminal how far a measurement has got."""

    def show(done: int, waiting: int) -> None:
        if sys.stderr.isatty():
            text = f"{title}: {done} infosets done, {waiting} waiting" if title else ""
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    return show


def agrees(value: float, printed: str) -> bool:
    """Whether a value is `printed` up to a unit of its last digit: the paper cuts some, rounds some."""
    if printed == "∞":
        return not np.isfinite(value)
    if float(printed) == 0.0:  # its ratio is printed as infinite
        return value < NOTHING
    digits = len(printed.partition(".")[2])
    return abs(value - float(printed)) < 10.0**-digits


def ratio(measured: Measured, kind: str) -> float:
    """By how much subgame solving has divided the blueprint's exploitability."""
    after = measured.outcomes[kind].exploitability
    return measured.blueprint / after if after > NOTHING else np.inf


def verdict(measured: Measured) -> str:
    """Say how a row's 1-KLSS compares with the paper's."""
    printed, outcome = measured.row.one.after, measured.outcomes[KLSS]
    if agrees(outcome.exploitability, printed):
        return "yes"
    unit = 10.0 ** -len(printed.partition(".")[2])
    if outcome.least - unit < float(printed) < outcome.most + unit:
        return "in the range"
    return "no"


def number(value: float, digits: int = 5) -> str:
    """Write a number; what the linear programs leave of 0 is 0."""
    if not np.isfinite(value):
        return "∞"
    return f"{0.0 if abs(value) < NOTHING else value:.{digits}f}"


def span(outcome: Outcome) -> str:
    """Write the range of an outcome."""
    return f"{number(outcome.least)} – {number(outcome.most)}"


def table_one(rows: Sequence[Measured], ranges: bool) -> Iterator[list[str]]:
    """Yield K's Table 1 beside ours."""
    head = ["game", "blueprint: K", "here", "1-KLSS: K", "here", "ratio: K", "here", "agrees"]
    yield head[:5] + ["all choices"] * ranges + head[5:]
    for measured in rows:
        one, outcome = measured.row.one, measured.outcomes[KLSS]
        cells = [measured.row.title, one.blueprint, number(measured.blueprint), one.after]
        cells += [number(outcome.exploitability), *[span(outcome)] * ranges]
        yield [*cells, one.ratio, number(ratio(measured, KLSS), 3), verdict(measured)]


def table_kinds(rows: Sequence[Measured], ranges: bool) -> Iterator[list[str]]:
    """Yield all kinds of subgame solving beside each other."""
    columns = ["subgames", "exploitability", *["all choices"] * ranges, "ratio"]
    yield ["game", *columns, "infosets", "programs", "seconds"]
    for measured in rows:
        yield [measured.row.title, "blueprint", number(measured.blueprint)] + [""] * (4 + ranges)
        for kind, outcome in measured.outcomes.items():
            cells = ["", kind, number(outcome.exploitability), *[span(outcome)] * ranges]
            cells += [number(ratio(measured, kind), 3), f"{outcome.infosets:,}"]
            yield [*cells, f"{outcome.programs:,}", f"{outcome.seconds:.0f}"]


def table_two(rows: Sequence[Measured]) -> Iterator[list[str]]:
    """Yield K's Table 2 beside ours, each game once."""
    yield ["game", "", "nodes", "infosets", "diameter", "k = 1", "2", "3", "4", "∞", "agrees"]
    seen: list[TableTwo] = []
    for measured in rows:
        two, sizes = measured.row.two, measured.sizes
        if two in seen:
            continue
        seen.append(two)
        printed = [*two.average, *[two.average[-1]] * (4 - len(two.average)), two.connected]
        ours = [*sizes.average, sizes.connected]
        same = (sizes[:3] == two[:3]) and all(
            f"{value:.2f}" == text for value, text in zip(ours, printed, strict=True)
        )
        counts = [f"{count:,}" for count in two[:3]]
        yield [measured.row.title, "K", *counts, *printed, ""]
        counts = [f"{count:,}" for count in sizes[:3]]
        yield ["", "here", *counts, *[f"{v:.2f}" for v in ours], "yes" if same else "no"]


def to_figures(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return measurements as they are stored; `of_figures` is the way back."""
    names = {row: name for name, row in ROWS.items()}
    return [
        {
            "game": names[each.row],
            "sizes": each.sizes._asdict(),
            "blueprint": each.blueprint,
            "outcomes": {kind: outcome._asdict() for kind, outcome in each.outcomes.items()},
        }
        for each in measured
    ]


def of_figures(figures: Sequence[dict[str, Any]]) -> list[Measured]:
    """Return measurements as they were before they were stored."""
    return [
        Measured(
            ROWS[each["game"]],
            KnowledgeSizes(**{**each["sizes"], "average": tuple(each["sizes"]["average"])}),
            each["blueprint"],
            {kind: Outcome(**outcome) for kind, outcome in each["outcomes"].items()},
        )
        for each in figures
    ]


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the three tables of the page, in Markdown."""
    measured = of_figures(figures)
    ranges = any(outcome.others for each in measured for outcome in each.outcomes.values())
    for number_of_table, made in enumerate(
        (table_one(measured, ranges), table_kinds(measured, ranges), table_two(measured))
    ):
        if number_of_table:
            yield ""
        head, *rows = made
        yield from table(head, rows, "l" + "r" * (len(head) - 1))


def render_kinds(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the table of kinds alone, of one run or several, in Markdown."""
    measured = [each for one in loaded for each in of_figures(one.raw.data)]
    head, *rows = table_kinds(measured, ranges=False)
    yield from table(head, rows, "l" + "r" * (len(head) - 1))


def render_other_epsilon(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield one table without the paper's figures, which are for its own ε."""
    measured = of_figures(figures)
    kinds = list(dict.fromkeys(kind for each in measured for kind in each.outcomes))
    named = dict.fromkeys(
        label for each in measured for outcome in each.outcomes.values() for label in outcome.others
    )
    weak = any(each.blueprint > NOTHING for each in measured)  # else no ratio says anything
    head = ["game", "blueprint", *kinds, *["ratio"] * weak]
    head += [f"{KLSS}, {label}" for label in named]
    rows = []
    for each in measured:
        cells = [each.row.title, number(each.blueprint)]
        cells += [number(each.outcomes[kind].exploitability) for kind in kinds]
        cells += [number(ratio(each, KLSS), 3)] * weak
        rows.append([*cells, *(number(each.outcomes[KLSS].others[label]) for label in named)])
    yield from table(head, rows, "l" + "r" * (len(head) - 1))


def render_rules(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield a table of one or several runs with 1-KLSS by every rule of choice, in Markdown."""
    yield from render_other_epsilon([each for one in loaded for each in one.raw.data])


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.klss_table", __doc__)
    parser.add_argument("--games", nargs="+", choices=ROWS, default=list(ROWS), metavar="GAME")
    parser.add_argument("--epsilon", type=float, default=EPSILON, help="the paper: 0.25")
    usual = [kind for kind in KINDS if kind != SAFE]
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=usual, metavar="KIND")
    parser.add_argument("--range", type=int, metavar="N", help="try other optimal strategies too")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store; returns 1 if a figure of the paper is missed."""
    words = given(words)
    options = make_parser().parse_args(words)
    if KLSS not in options.kinds:
        make_parser().error(f"--kinds: the tables need {KLSS}")

    measured: list[Measured] = []
    for name in options.games:
        measured.append(measure(ROWS[name], options.epsilon, options.range, options.kinds))
        result = measured[-1]
        after = ", ".join(
            f"{kind} {number(outcome.exploitability)} ({outcome.seconds:.0f} s)"
            for kind, outcome in result.outcomes.items()
        )
        print(f"{name}: blueprint {number(result.blueprint)}, {after}", flush=True)
        for kind, outcome in result.outcomes.items():
            for label, value in outcome.others.items():
                print(f"{name}: {kind}, {label}: {number(value)}", flush=True)

    ranges = options.range is not None
    print()
    shown = render if options.epsilon == EPSILON else render_other_epsilon
    publish(make_parser(), words, options.raw, to_figures(measured), shown)
    missed = [result for result in measured if verdict(result) == "no"]
    return 1 if missed and options.epsilon == EPSILON and ranges else 0


if __name__ == "__main__":
    sys.exit(main())
