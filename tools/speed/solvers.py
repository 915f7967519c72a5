"""How long solvers of whole games take to the same exploitability: ours, OpenSpiel's and LiteEFG's.

    pip install LiteEFG
    python -m tools.speed.solvers --games kuhn leduc --goal 0.001 --rounds 3

How many iterations a solver needs is found first: the exploitability is measured whenever their
number has grown by a tenth. Then the solvers take turns. In each round each of them makes so many
iterations at once, anew and on one thread. What counts is the processor's time in iterations alone:
making the game, compiling, and measuring do not count. The exploitability is half of the Nash gap of
the average strategy, in the game's own units. A solver that needs more than `--most` seconds is
stopped.

All update one player after the other. In the average our PCFR+ weighs the t-th strategy by t², all others
by t; LiteEFG has no t².
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pyspiel

from obscuro.research.games.game_tree import enumerate_game, exploitability, strategy_of
from obscuro.research.games.openspiel import OpenSpielGame
from obscuro.research.games.search_game import GameSolver
from obscuro.research.value_functions.limited_trunk import RegionCfr
from tools.common import given, publish, say, table, tool_parser

GAMES = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "liars_dice": "liars_dice(numdice=1,dice_sides=5)",
    "goofspiel": "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=4,"
    "points_order=descending,returns_type=win_loss))",
}
GROWTH = 1.1  # of the iterations, between two looks


class Solver(NamedTuple):
    """A game that is being solved. run: makes iterations. measure: the average's exploitability."""

    run: Callable[[int], object]
    measure: Callable[[], float]


def our_pcfr_plus(game: str) -> Solver:
    """The solver of the search, on the whole tree."""
    tree = enumerate_game(OpenSpielGame(game))
    solver = GameSolver(tree, "whole")
    return Solver(solver.run, lambda: exploitability(tree, solver.solution().average))


def our_cfr_plus(game: str) -> Solver:
    """The solver of the trunks, on the whole tree."""
    tree = enumerate_game(OpenSpielGame(game))
    cfr = RegionCfr(tree, (0, len(tree.levels) - 1))
    return Solver(
        lambda iterations: cfr.iterate(None, iterations),
        lambda: exploitability(tree, strategy_of(tree, cfr.average())),
    )


def openspiel_cfr_plus(game: str) -> Solver:
    """OpenSpiel's solver in C++."""
    spiel = pyspiel.load_game(game)
    solver = pyspiel.CFRPlusSolver(spiel)

    def run(iterations: int) -> None:
        for _ in range(iterations):
            solver.evaluate_and_update_policy()

    return Solver(run, lambda: pyspiel.nash_conv(spiel, solver.average_policy()) / 2)


def _liteefg(game: str, algorithm: str, average: str) -> Solver:
    liteefg = importlib.import_module("LiteEFG")
    with contextlib.redirect_stdout(io.StringIO()):  # it says what it does
        graph = importlib.import_module(f"LiteEFG.baselines.{algorithm}").graph()
        env = liteefg.OpenSpielEnv(pyspiel.load_game(game), traverse_type="Enumerate")
    liteefg.set_threads(1)
    env.set_graph(graph)

    def run(iterations: int) -> None:
        for _ in range(iterations):
            graph.update_graph(env)
            env.update_strategy(graph.current_strategy())

    return Solver(run, lambda: sum(env.exploitability(graph.current_strategy(), average)) / 2)


SOLVERS: dict[str, Callable[[str], Solver]] = {
    "Obscuro PCFR+": our_pcfr_plus,
    "Obscuro CFR+": our_cfr_plus,
    "LiteEFG PCFR+": lambda game: _liteefg(game, "PCFR", "linear-avg-iterate"),
    "LiteEFG CFR+": lambda game: _liteefg(game, "CFRplus", "linear-avg-iterate"),
    "OpenSpiel CFR+": openspiel_cfr_plus,
}


def solve(solver: Solver, goal: float, most: float) -> dict[str, Any]:
    """Iterate until the exploitability is `goal`, or for `most` seconds of the processor."""
    iterations, seconds, left = 0, 0.0, math.inf
    while left > goal and seconds < most:
        step = max(1, int((GROWTH - 1) * iterations))
        begun = time.process_time()
        solver.run(step)
        seconds += time.process_time() - begun
        iterations += step
        left = solver.measure()
    return {"iterations": iterations, "seconds": seconds, "exploitability": left}


def solve_at_once(solver: Solver, iterations: int) -> dict[str, Any]:
    """Make so many iterations, without a look between them."""
    begun = time.process_time()
    solver.run(iterations)
    seconds = time.process_time() - begun
    return {"iterations": iterations, "seconds": seconds, "exploitability": solver.measure()}


def measure(games: Sequence[str], goal: float, rounds: int, most: float) -> list[dict[str, Any]]:
    """Return a row for each game and solver, with the figures of each round."""
    for make in SOLVERS.values():
        make(GAMES["kuhn"]).run(3)  # compiles
    rows = []
    for game in games:
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in SOLVERS}
        needed: dict[str, int] = {}
        for name, make in SOLVERS.items():
            looked = solve(make(GAMES[game]), goal, most)
            if looked["exploitability"] <= goal:
                needed[name] = looked["iterations"]
            else:
                found[name] = [looked]
        for _ in range(rounds):
            for name, iterations in needed.items():
                found[name].append(solve_at_once(SOLVERS[name](GAMES[game]), iterations))
                say(f"{game}, {name}: {found[name][-1]}")
        rows += [
            {"game": game, "solver": name, "goal": goal, "rounds": figures}
            for name, figures in found.items()
        ]
    return rows


def render(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table by game and solver, with medians of the rounds."""
    cells = []
    for row in rows:
        seconds, first = _median(row), _median(next(r for r in rows if r["game"] == row["game"]))
        iterations = row["rounds"][0]["iterations"]
        reached = all(each["exploitability"] <= row["goal"] for each in row["rounds"])
        cells.append(
            [
                f"`{row['game']}`",
                row["solver"],
                f"{iterations:,}" if reached else f"more than {iterations:,}",
                f"{seconds:.3f}" if reached else f"more than {seconds:.0f}",
                f"{1e6 * seconds / iterations:,.0f}",
                f"{seconds / first:.2f}" if reached else "",
            ]
        )
    headings = ["game", "solver", "iterations", "seconds", "µs an iteration", "of our PCFR+"]
    yield from table(headings, cells, "llrrrr")


def _median(row: dict[str, Any]) -> float:
    return float(statistics.median(each["seconds"] for each in row["rounds"]))


def make_parser() -> ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.speed.solvers", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME")
    parser.add_argument("--goal", type=float, default=1e-3, help="default: 0.001")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--most", type=float, default=120.0, metavar="SECONDS", help="default: 120")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    try:
        importlib.import_module("LiteEFG")
    except ImportError:
        parser.error("LiteEFG is missing: pip install LiteEFG")
    rows = measure(told.games, told.goal, told.rounds, told.most)
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
