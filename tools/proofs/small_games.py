"""Solve small games by the search that plays chess, and measure how exploitable its strategies are.

    python -m tools.proofs.small_games leduc --method two-sided
    python -m tools.proofs.small_games --all

Methods: PCFR+ on the whole tree, and on a tree that one-sided or two-sided GT-CFR grows from the root.
The tree does not grow in the last quarter of the iterations. Exploitability is exact, in the whole
game and its own units: half of what both players together could gain by best responses. "average" is
the average strategy, which converges to an equilibrium; "last" is the last iterate, which the engine
plays.

Ends with 1 if an average strategy is left more exploitable than by 0.001.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obscuro.research.games.catalog import CATALOG, KnownGame
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, enumerate_game, exploitability
from obscuro.research.games.search_game import (
    LEAST_VARIANCE,
    METHODS,
    PARAMETERS,
    GameSolver,
    Method,
    SearchGame,
    growing_iterations,
    solve,
)
from obscuro.search.parameters import PUCT_LEAST_VARIANCE, SearchParameters
from tools.common import given, publish, table, tool_parser
from tools.results.manifest import Loaded

GOAL = 1e-3
ROWS_PER_DOUBLING = 2
CHUNK = 250  # iterations between two signs of life
COLOURS: dict[Method, str] = {"whole": "C7", "one-sided": "C0", "two-sided": "C1"}
HEADER = (
    f"{'iterations':>10} {'expansions':>10} {'histories':>9} {'infosets':>8} {'average':>9}"
    f" {'last':>9} {'value':>11} {'seconds':>8}"
)


class Row(NamedTuple):
    """One measurement."""

    game: str
    method: Method
    iterations: int
    expansions: int
    share: float  # of the expansions that write out the whole game
    histories: int  # in the tree
    infosets: int
    average: float  # exploitability
    last: float
    value: float  # ▲'s, in the tree
    seconds: float  # of growing and solving

    def __str__(self) -> str:
        """Return the line under `HEADER`."""
        return (
            f"{self.iterations:>10} {self.expansions:>10} {self.histories:>9} {self.infosets:>8}"
            f" {self.average:>9.2e} {self.last:>9.2e} {self.value:>11.6f} {self.seconds:>8.1f}"
        )


def checkpoints(iterations: int) -> list[int]:
    """The iterations after which to measure: growing by √2, the last one, and where growth ends."""
    rows = {growing_iterations(iterations), iterations}
    row = 1.0
    while row < iterations:
        rows.add(round(row))
        row *= 2 ** (1 / ROWS_PER_DOUBLING)
    return sorted(rows)


def advance(solver: GameSolver[Any], iterations: int, grow: bool) -> None:
    """Iterate up to `iterations` in all, with signs of life on a terminal."""
    while solver.iterations < iterations:
        solver.run(min(CHUNK, iterations - solver.iterations), grow=grow)
        if sys.stderr.isatty():
            print(f"\r{solver.iterations:>10}", end="\r", file=sys.stderr, flush=True)


def measure(
    name: str,
    tree: GameTree[Any],
    method: Method,
    iterations: int,
    seed: int,
    parameters: SearchParameters,
) -> Iterator[Row]:
    """Solve one game by one method, measuring as it goes."""
    solver = GameSolver(tree, method, seed=seed, parameters=parameters)
    roots = int(SearchGame(tree).roots().states[0, 0])
    whole = np.count_nonzero(tree.player[roots:] != TERMINAL)
    seconds = 0.0
    for row in checkpoints(iterations):
        begin = time.monotonic()
        advance(solver, row, grow=row <= growing_iterations(iterations))
        seconds += time.monotonic() - begin  # without the exact measurement
        found = solver.solution()
        yield Row(
            name,
            method,
            found.iterations,
            found.expansions,
            found.expansions / whole,
            found.tree.nodes,
            found.tree.infosets,
            exploitability(tree, found.average),
            exploitability(tree, found.last),
            found.value,
            seconds,
        )


def runs(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each game and method."""
    return [list(run) for _, run in groupby(rows, lambda row: (row.game, row.method))]


def good_from(run: Sequence[Row]) -> Row | None:
    """The measurement from which on the average strategy keeps to the goal."""
    good = None
    for row in reversed(run):
        if row.average > GOAL:
            break
        good = row
    return good


def render(figures: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield both tables of the page, in Markdown; *figures*: rows, as lists."""
    measured = runs([Row(*row) for row in figures])
    yield from render_ends(measured)
    yield ""
    yield "Exploitability of the average strategy / the last iterate, by iterations:"
    yield ""
    yield from render_course(measured)


def render_ends(measured: Sequence[Sequence[Row]]) -> Iterator[str]:
    """Yield a table of where each run ended."""
    headings = ["game", "method", "iterations", "expansions"]
    headings += ["average ≤ 10⁻³ from (iterations / expansions)", "average", "last iterate"]
    headings += ["value", "off by", "seconds"]
    rows = []
    for run in measured:
        end, good = run[-1], good_from(run)
        off = abs(end.value - CATALOG[end.game].value)
        since = f"{good.iterations:,} / {good.expansions:,}" if good else "not reached"
        cells = [end.game, end.method, f"{end.iterations:,}"]
        cells += [f"{end.expansions:,} ({end.share:.0%})", since, f"{end.average:.1e}"]
        cells += [f"{end.last:.1e}", f"{end.value:.6f}", f"{off:.0e}", f"{end.seconds:.1f}"]
        rows.append(cells)
    yield from table(headings, rows, "ll" + "r" * 8)


def render_course(measured: Sequence[Sequence[Row]]) -> Iterator[str]:
    """Yield a table of exploitability by iterations."""
    marks = [2**power for power in range(4, 15, 2)]
    rows = []
    for run in measured:
        by_iterations = {row.iterations: row for row in run}
        cells = [
            f"{row.average:.0e} / {row.last:.0e}" if (row := by_iterations.get(mark)) else ""
            for mark in marks
        ]
        rows.append([run[0].game, run[0].method, *cells])
    headings = ["game", "method", *(f"{mark:,}" for mark in marks)]
    yield from table(headings, rows, "ll" + "r" * len(marks))


def plot(file: Path, figures: Sequence[Sequence[Any]], mark: str = "") -> None:
    """Draw exploitability against iterations and against expansions, two panels for each game.

    mark: what the PNG says of its origin.
    """
    rows = [Row(*row) for row in figures]
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    by_game = [list(run) for _, run in groupby(rows, lambda row: row.game)]
    figure, axes = pyplot.subplots(
        len(by_game), 2, figsize=(10, 2.8 * len(by_game)), squeeze=False, layout="constrained"
    )
    for (left, right), of_game in zip(axes, by_game, strict=True):
        for run in runs(of_game):
            method = run[0].method
            averages, lasts = [row.average for row in run], [row.last for row in run]
            across = {left: [float(row.iterations) for row in run]}
            if method != "whole":
                across[right] = [row.share for row in run]
            for axis, positions in across.items():
                colour = COLOURS[method]
                axis.plot(positions, averages, color=colour, label=f"{method}, average")
                axis.plot(positions, lasts, ":", color=colour, label=f"{method}, last iterate")
        for axis in (left, right):
            axis.axhline(GOAL, color="black", linewidth=0.5)
            axis.set(yscale="log", title=of_game[0].game)
        left.set(xscale="log", xlabel="iterations", ylabel="exploitability")
        right.set(xlim=(0, 1), xlabel="expansions as a share of the whole game's")
    axes[0][0].legend(fontsize="small")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw the picture of the page from its raw file."""
    plot(file, loaded.raw.data, mark)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.small_games", __doc__)
    parser.add_argument("games", nargs="*", metavar="game", help=", ".join(CATALOG))
    parser.add_argument("--all", action="store_true", help="every game by every method")
    parser.add_argument("--method", choices=METHODS, action="append", help="default: one-sided")
    parser.add_argument("--iterations", type=int, help="default: enough for the goal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--least-variance",
        type=float,
        default=PARAMETERS.puct_least_variance,
        help=f"how much to explore; {PUCT_LEAST_VARIANCE} in chess, {LEAST_VARIANCE} by default",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="needs matplotlib")
    return parser


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line; leaves the program where it is wrong."""
    parser = make_parser()
    arguments = parser.parse_args(words)
    unknown = set(arguments.games) - set(CATALOG)
    if unknown or not (arguments.games or arguments.all):
        parser.error(f"games are {', '.join(CATALOG)}; or --all")
    if arguments.all:
        arguments.games = arguments.games or list(CATALOG)
        arguments.method = arguments.method or list(METHODS)
    arguments.method = arguments.method or ["one-sided"]
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    """Solve, print, and store; returns the exit code."""
    words = given(words)
    arguments = parse_arguments(words)
    parameters = replace(PARAMETERS, puct_least_variance=arguments.least_variance)
    for method in METHODS:
        solve(enumerate_game(CATALOG["kuhn"].make()), 8, method)  # compiles, before time is taken
    rows: list[Row] = []
    missed = []
    for name in arguments.games:
        known: KnownGame = CATALOG[name]
        tree = enumerate_game(known.make())
        for method in arguments.method:
            print(
                f"\n{name}, {method}: {len(tree.states)} histories, {len(tree.infosets.key)} infosets,"
                f" value {known.value:.6f}\n{HEADER}",
                flush=True,
            )
            iterations = arguments.iterations or known.iterations
            for row in measure(name, tree, method, iterations, arguments.seed, parameters):
                print(row, flush=True)
                rows.append(row)
            if rows[-1].average > GOAL:
                missed.append(f"{name} {method}")
    figures = [list(row) for row in rows]
    print()
    publish(make_parser(), words, arguments.raw, figures, render)
    if arguments.plot:
        plot(arguments.plot, figures)
    if missed:
        print(f"\nstill more exploitable than by {GOAL}: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
