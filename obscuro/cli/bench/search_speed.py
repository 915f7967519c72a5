"""`obscuro bench search`: the speed of the parts of a search, and the size of its trees.

The benchmark measures the solver on a synthetic tree of a million edges, and all parts on trees
that the engine grows from fixed positions. docs/benchmarks.md explains the numbers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from rich.console import Console

from obscuro.cli.bench.common import (
    BenchmarkError,
    ReportProgress,
    peak_memory,
    progress,
    publish,
)
from obscuro.cli.bench.following import POSITIONS, Follower, StudyPosition
from obscuro.cli.bench.search_results import Kept, SearchFigures, Synthetic, print_report, summary
from obscuro.cli.bench.search_stages import Speed, Stopwatch, building, growth, solver_speed
from obscuro.cli.bench.synthetic import mean_depth, play_dense, play_sparse, synthetic_tree
from obscuro.cli.bench.thread_speed import threads_together
from obscuro.engine.report import SearchInfo
from obscuro.search.tree import NODES, ROOTS


class Plan(NamedTuple):
    """The amount of work of the benchmark."""

    positions: Sequence[StudyPosition] = POSITIONS
    edges: int = 1_000_000  # edges of the synthetic tree
    slices: int = 40  # timed slices of solving it
    small: int = 100_000  # nodes of the first search from each position
    sizes: Sequence[int] = (100_000, 1_000_000)  # nodes that the measured searches add
    batches: int = 150  # batches of leaves on each of their trees
    subgames: int = 9  # how often to build each next subgame
    movetime: int = 5000  # milliseconds of a search as in play
    searches: int = 3  # such searches from each position; the first has no tree and does not count


QUICK = Plan(
    positions=POSITIONS[-1:],
    slices=8,
    small=20_000,
    sizes=(100_000,),
    batches=30,
    subgames=3,
    movetime=1000,
    searches=2,
)
THREADS = 2  # threads of a search as in play


def run(
    arguments: argparse.Namespace, *, plan: Plan | None = None, console: Console | None = None
) -> int:
    """Measure and print the results; return the exit code. Raises BenchmarkError.

    plan: replaces the full plan, or the one that `--quick` takes.
    """
    begin = time.monotonic()
    console = console or Console(highlight=False, markup=False)
    plan = plan or (QUICK if arguments.quick else Plan())
    measured = measure(plan)
    numbers = {
        **summary(measured),
        "movetime": plan.movetime,
        "threads": THREADS,
        "peak_rss_mib": peak_memory() / 2**20,
    }
    return publish(numbers, arguments, begin, console, partial(print_report, console, measured))


def measure(plan: Plan) -> SearchFigures:
    """Carry out the plan and show progress on stderr. Raises BenchmarkError."""
    watch = Stopwatch()
    steps = 2 + len(plan.positions) * (1 + len(plan.sizes) + plan.searches)
    with progress(steps) as report:
        report("a synthetic tree", 0)
        synthetic = measure_synthetic(plan, watch)
        report(None, 2)
        kept, played = [], []
        for position in plan.positions:
            kept += measure_kept(position, plan, watch, report)
            played += measure_play(position, plan, report)
    return SearchFigures(synthetic, kept, played, watch.cpu_share)


def measure_synthetic(plan: Plan, watch: Stopwatch) -> Synthetic:
    """Measure the solver on a synthetic tree: dense strategies, sparse ones, and two threads."""
    tree, _ = synthetic_tree(plan.edges)
    speeds: list[Speed] = []
    for play in (play_dense, play_sparse):
        gadget = play(tree)
        speeds.append(solver_speed(tree, gadget, plan.slices, watch))
    together = threads_together(tree, THREADS, plan.slices)
    full, sparse = speeds
    return Synthetic(tree.nodes, tree.infosets, mean_depth(tree), full, sparse, together)


def measure_kept(
    position: StudyPosition, plan: Plan, watch: Stopwatch, report: ReportProgress
) -> list[Kept]:
    """Search one turn for each of the plan's sizes, from the kept tree of the last turn.

    Raises BenchmarkError if the game ends before the last turn.
    """
    found = []
    follower = Follower(position)
    try:
        report(f"{position.name}: {plan.small:,} nodes", 0)
        follower.think(nodes=plan.small)
        report(None, 1)
        for size in plan.sizes:
            if not follower.play_on():
                raise BenchmarkError(f"{position.name}: the game is over")
            report(f"{position.name}: {size:,} nodes", 0)
            follower.think(nodes=size)
            tree = follower.search.tree
            nodes, infosets, depth = tree.nodes, tree.infosets, mean_depth(tree)
            roots, histories = int(tree.counts[ROOTS]), int(tree.counts[NODES])
            grown = growth(follower, plan.batches, watch)
            kept = Kept(position.name, size, nodes, infosets, depth, roots, histories, grown)
            found.append(kept)
            report(None, 1)
        if follower.play_on():
            kept.building = building(follower, plan.subgames, watch)
    finally:
        follower.close()
    return found


def measure_play(position: StudyPosition, plan: Plan, report: ReportProgress) -> list[SearchInfo]:
    """Search as in play, by the clock and with two threads; return the searches' reports."""
    found: list[SearchInfo] = []
    follower = Follower(position, threads=THREADS)
    try:
        for number in range(plan.searches):
            report(f"{position.name}: {plan.movetime} ms, search {number + 1}", 0)
            info = follower.think(movetime=plan.movetime)
            report(None, 1)
            if number:
                found.append(info)
            if number + 1 < plan.searches and not follower.play_on():
                break
    finally:
        follower.close()
    return found
