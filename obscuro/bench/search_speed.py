"""`obscuro bench search`: how fast the parts of a search are, and how large its trees become.

The solver is measured on a made-up tree of a million edges, and everything on trees that the engine
has made from fixed positions. docs/benchmarks.md says what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console

from obscuro.bench.common import BenchmarkError, Tell, machine, peak_memory, progress
from obscuro.bench.following import POSITIONS, Follower, StudyPosition
from obscuro.bench.search_results import Kept, SearchFigures, Synthetic, print_report, summary
from obscuro.bench.search_stages import Stopwatch, building, growth, solver_speed
from obscuro.bench.synthetic import mean_depth, play_dense, play_sparse, synthetic_tree
from obscuro.engine.report import SearchInfo
from obscuro.search.tree import NODES, ROOTS, check


class Plan(NamedTuple):
    """How much is measured."""

    positions: Sequence[StudyPosition] = POSITIONS
    edges: int = 1_000_000  # of the made-up tree
    slices: int = 40  # of solving it
    small: int = 100_000  # nodes of the first search from each position
    sizes: Sequence[int] = (100_000, 1_000_000)  # nodes added in the searches that are measured
    batches: int = 150  # on each of their trees
    subgames: int = 9  # times that each next subgame is built
    movetime: int = 5000  # milliseconds, of searches as in play
    searches: int = 3  # of these from each position; the first, of an empty tree, doesn't count


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
THREADS = 2  # in searches as in play


def run(
    arguments: argparse.Namespace, *, plan: Plan | None = None, console: Console | None = None
) -> int:
    """Measure, and print the results; returns the exit code. Raises BenchmarkError."""
    begin = time.monotonic()
    console = console or Console(highlight=False, markup=False)
    plan = plan or (QUICK if arguments.quick else Plan())
    measured = measure(plan)
    numbers = {
        **summary(measured),
        "movetime": plan.movetime,
        "threads": THREADS,
        "peak_rss_mib": peak_memory() / 2**20,
        "seconds": time.monotonic() - begin,
        "quick": arguments.quick,
        "machine": machine(),
    }
    if arguments.json:
        console.print(json.dumps(numbers), soft_wrap=True)
    else:
        print_report(console, measured, numbers)
    return 0


def measure(plan: Plan) -> SearchFigures:
    """Measure all of it, telling on stderr how far it is. Raises BenchmarkError."""
    watch = Stopwatch()
    steps = 2 + len(plan.positions) * (1 + len(plan.sizes) + plan.searches)
    with progress(steps) as tell:
        tell("a made-up tree", 0)
        synthetic = measure_synthetic(plan, watch)
        tell(None, 2)
        kept, played = [], []
        for position in plan.positions:
            kept += measure_kept(position, plan, watch, tell)
            played += measure_play(position, plan, tell)
    return SearchFigures(synthetic, kept, played, watch.cpu_share)


def measure_synthetic(plan: Plan, watch: Stopwatch) -> Synthetic:
    """The solver on a made-up tree, with dense strategies and with sparse ones."""
    tree, _ = synthetic_tree(plan.edges)
    speeds = []
    for play in (play_dense, play_sparse):
        gadget = play(tree)
        try:
            check(tree)
        except AssertionError as error:
            raise BenchmarkError(f"the made-up tree is broken: {error}") from None
        speeds.append(solver_speed(tree, gadget, plan.slices, watch))
    return Synthetic(tree.nodes, tree.infosets, mean_depth(tree), *speeds)


def measure_kept(position: StudyPosition, plan: Plan, watch: Stopwatch, tell: Tell) -> list[Kept]:
    """Turns with searches of these sizes, each from what the turn before has left."""
    found = []
    follower = Follower(position)
    try:
        tell(f"{position.name}: {plan.small:,} nodes", 0)
        follower.think(nodes=plan.small)
        tell(None, 1)
        for size in plan.sizes:
            if not follower.play_on():
                raise BenchmarkError(f"{position.name}: the game is over")
            tell(f"{position.name}: {size:,} nodes", 0)
            follower.think(nodes=size)
            tree = follower.search.tree
            nodes, infosets, depth = tree.nodes, tree.infosets, mean_depth(tree)
            roots, histories = int(tree.counts[ROOTS]), int(tree.counts[NODES])
            grown = growth(follower, plan.batches, watch)
            kept = Kept(position.name, size, nodes, infosets, depth, roots, histories, grown)
            found.append(kept)
            tell(None, 1)
        if follower.play_on():
            kept.building = building(follower, plan.subgames, watch)
    finally:
        follower.close()
    return found


def measure_play(position: StudyPosition, plan: Plan, tell: Tell) -> list[SearchInfo]:
    """Searches as in play, by the clock and with two threads; what they report of their trees."""
    found: list[SearchInfo] = []
    follower = Follower(position, threads=THREADS)
    try:
        for number in range(plan.searches):
            tell(f"{position.name}: {plan.movetime} ms, search {number + 1}", 0)
            info = follower.think(movetime=plan.movetime)
            tell(None, 1)
            if number:
                found.append(info)
            if number + 1 < plan.searches and not follower.play_on():
                break
    finally:
        follower.close()
    return found
