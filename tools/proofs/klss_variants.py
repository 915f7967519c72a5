"""Roots, safe sets of infosets and merged transpositions in the small games of Zhang and Sandholm (2021).

    python -m tools.proofs.klss_variants
    python -m tools.proofs.klss_variants --games kuhn leduc --seeds 10

The blueprints, the floor and the measure are those of `klss_table`. Three questions:

    roots           Maxmargin or Resolve, each with or without the gifts of Reach, at every infoset
                    that ▲ can reach, nested, by 1-KLSS and with common knowledge
    safety          1-KLSS at all infosets, or at an independent set of them that is drawn before the
                    game (Theorem 5, Algorithm 14): the mean and the most over the draws, and the
                    strategy that draws one of them for each game
    transpositions  1-KLSS with all of the opponent's infosets, or with one for each future, drawn

All games take about a quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.infoset_hypergraph import (
    COMMON_KNOWLEDGE,
    DeviationGraph,
    independent_set,
    mixture,
)
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.klss_rows import EPSILON, ROWS, KlssRow, floor_of, normalisation
from obscuro.research.games.root_rules import (
    MaxmarginRoot,
    MergedTranspositions,
    RootRule,
    SoftRoot,
    even_prior,
    transpositions,
)
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.games.subgame_program import AsSolved, Margins
from obscuro.search.game import MAX
from tools.common import given, publish, say, table, tool_parser
from tools.results.manifest import Loaded

SEEDS: Final = 5
MAXMARGIN: Final = "Maxmargin"
ROOTS: Final[dict[str, RootRule]] = {
    MAXMARGIN: MaxmarginRoot(Margins()),
    "Resolve": SoftRoot(0.0, even_prior),
    "Reach-Maxmargin": MaxmarginRoot(Margins(), reach=True),
    "Reach-Resolve": SoftRoot(0.0, even_prior, reach=True),
}
ORDERS: Final[dict[str, int | None]] = {"1-KLSS": 1, "common knowledge": COMMON_KNOWLEDGE}
WORSE: Final = 1e-6
"""By how much a figure has to exceed the blueprint's to be more than the solver's noise."""


class Game:
    """A row's tree and blueprint, and how exploitable a policy is."""

    def __init__(self, row: KlssRow, epsilon: float) -> None:
        """Solve for the game's value and for the blueprint."""
        self.tree = enumerate_game(row.make())
        self.floor, self._scale = floor_of(self.tree, row, epsilon), normalisation(self.tree)
        self._value = least_exploitable(self.tree, np.zeros_like(self.floor), AsSolved()).value
        self.blueprint = least_exploitable(self.tree, self.floor, AsSolved()).policy

    def lost(self, policy: NDArray[np.float64]) -> float:
        """Return the exploitability of a policy, float64[S], for payoffs in [-1, 1]."""
        return (self._value - guaranteed(self.tree, policy)) * self._scale


def measure_roots(game: Game) -> dict[str, dict[str, float]]:
    """Return the exploitability by order and root."""
    return {
        order_name: {
            name: game.lost(
                SubgameSolver(game.tree, game.floor, order, rule)
                .solve_everywhere(game.blueprint)
                .policy
            )
            for name, rule in ROOTS.items()
        }
        for order_name, order in ORDERS.items()
    }


def measure_safety(game: Game, seeds: int) -> dict[str, Any]:
    """Return the exploitability after 1-KLSS at sets drawn with these many seeds."""
    graph = DeviationGraph(game.tree)
    solver = SubgameSolver(game.tree, game.floor, 1, Margins())
    policies, solved = [], []
    for seed in range(1, seeds + 1):
        where = independent_set(graph, np.random.default_rng(seed))
        nested = solver.solve_everywhere(game.blueprint, where=where)
        policies.append(nested.policy)
        solved.append(nested.infosets)
    return {
        "drawn": [game.lost(policy) for policy in policies],
        "mixture": game.lost(mixture(SequenceForm(game.tree), policies)),
        "solved": solved,
        "infosets": int(np.count_nonzero(game.tree.infosets.player == MAX)),
    }


def measure_transpositions(game: Game, seeds: int) -> dict[str, Any]:
    """Return how many nodes of ▲'s infosets are merged, and the exploitability with these seeds."""
    found = merged_nodes(game.tree)
    after = []
    for seed in range(1, seeds + 1 if found["merged"] else 1):
        budget = MergedTranspositions(seed)
        solver = SubgameSolver(game.tree, game.floor, 1, Margins(), budget)
        after.append(game.lost(solver.solve_everywhere(game.blueprint).policy))
    return {**found, "after": after}


def merged_nodes(tree: GameTree[Any]) -> dict[str, int]:
    """Count the nodes of ▲'s infosets, and those that another one of the same future stands for."""
    moves = np.flatnonzero(tree.player == MAX)
    moves = moves[np.argsort(tree.infoset[moves], kind="stable")]
    cuts = np.flatnonzero(np.diff(tree.infoset[moves])) + 1
    merged = sum(
        len(nodes) - len(np.unique(transpositions(tree, nodes))) for nodes in np.split(moves, cuts)
    )
    return {"nodes": len(moves), "merged": int(merged)}


def measure(name: str, epsilon: float, seeds: int) -> dict[str, Any]:
    """Return all figures of one row."""
    begin = time.monotonic()
    game = Game(ROWS[name], epsilon)
    figures = {"game": name, "blueprint": game.lost(game.blueprint), "roots": measure_roots(game)}
    figures["safety"] = measure_safety(game, seeds)
    figures["transpositions"] = measure_transpositions(game, seeds)
    say(f"{name}: {time.monotonic() - begin:.0f} s")
    return figures


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the three tables of the page, in Markdown."""
    yield from render_roots(figures)
    yield ""
    yield from render_safety(figures)
    yield ""
    yield from render_transpositions(figures)


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the three tables over the rows of several runs, in the order of Table 1."""
    figures = [each for run in loaded for each in run.raw.data]
    yield from render(sorted(figures, key=lambda each: list(ROWS).index(each["game"])))


def render_roots(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of the roots; bold where a root is more exploitable than the blueprint."""
    columns = [(order, root) for order in ORDERS for root in ROOTS]
    head = [
        "game",
        "blueprint",
        *(f"{order}: {root}" if root == MAXMARGIN else root for order, root in columns),
    ]
    rows = []
    for each in figures:
        cell = _cell(each["blueprint"])
        cells = [cell(each["roots"][order][root]) for order, root in columns]
        rows.append([ROWS[each["game"]].title, cell(each["blueprint"]), *cells])
    yield from table(head, rows, "l" + "r" * (len(head) - 1))


def render_safety(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of Theorem 5."""
    head = [
        "game",
        "blueprint",
        "1-KLSS everywhere",
        "Algorithm 14: mean",
        "most",
        "drawn each game",
    ]
    head += ["▲'s infosets", "solved"]
    rows = []
    for each in figures:
        cell, safety = _cell(each["blueprint"]), each["safety"]
        cells = [cell(each["blueprint"]), cell(each["roots"]["1-KLSS"][MAXMARGIN])]
        cells += [cell(float(np.mean(safety["drawn"]))), cell(max(safety["drawn"]))]
        cells += [cell(safety["mixture"]), f"{safety['infosets']:,}"]
        rows.append([ROWS[each["game"]].title, *cells, f"{np.mean(safety['solved']):.1f}"])
    yield from table(head, rows, "l" + "r" * (len(head) - 1))


def render_transpositions(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of merged transpositions."""
    head = ["game", "nodes of ▲'s infosets", "merged", "blueprint", "1-KLSS", "merged: mean"]
    head += ["least", "most"]
    rows = []
    for each in figures:
        cell, found = _cell(each["blueprint"]), each["transpositions"]
        after = found["after"]
        cells = [f"{found['nodes']:,}", f"{found['merged']:,}", cell(each["blueprint"])]
        cells.append(cell(each["roots"]["1-KLSS"][MAXMARGIN]))
        spread = [float(np.mean(after)), min(after), max(after)] if after else []
        cells += [cell(value) for value in spread] or [""] * 3
        rows.append([ROWS[each["game"]].title, *cells])
    yield from table(head, rows, "l" + "r" * (len(head) - 1))


def _cell(blueprint: float) -> Callable[[float], str]:
    """Return what writes an exploitability, bold where it is above the blueprint's."""

    def write(value: float) -> str:
        text = f"{max(value, 0.0):.5f}"
        return f"**{text}**" if value > blueprint + WORSE else text

    return write


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.klss_variants", __doc__)
    parser.add_argument("--games", nargs="+", choices=ROWS, default=list(ROWS), metavar="GAME")
    parser.add_argument("--epsilon", type=float, default=EPSILON, help="the paper: 0.25")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of the sets and of the merging")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, and store; returns 1 if a drawn set or common knowledge was not safe."""
    words = given(words)
    options = make_parser().parse_args(words)
    if options.seeds < 1:
        make_parser().error("--seeds: at least 1")
    figures = [measure(name, options.epsilon, options.seeds) for name in options.games]
    publish(make_parser(), words, options.raw, figures, render)
    return 0 if all(is_safe(each) for each in figures) else 1


def is_safe(figures: dict[str, Any]) -> bool:
    """Whether nothing that is safe by a theorem is more exploitable than the blueprint."""
    safe = [*figures["roots"]["common knowledge"].values(), *figures["safety"]["drawn"]]
    return bool(max([*safe, figures["safety"]["mixture"]]) <= figures["blueprint"] + WORSE)


if __name__ == "__main__":
    sys.exit(main())
