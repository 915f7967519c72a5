"""`obscuro bench search`: the speed of the parts of a search, and the size of its trees.

The benchmark measures the solver on a synthetic tree of a million edges, and all parts on trees
that the engine grows from fixed positions. docs/benchmarks.md explains the numbers.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from obscuro.cli.bench.common import (
    BenchmarkError,
    ReportProgress,
    Summary,
    figure,
    median,
    note_if_busy,
    peak_memory,
    print_lines,
    progress,
    publish,
)
from obscuro.cli.bench.following import POSITIONS, Follower, StudyPosition
from obscuro.cli.bench.synthetic import mean_depth, play_dense, play_sparse, synthetic_tree
from obscuro.engine.report import SearchInfo
from obscuro.evaluation.evaluator import ChildValues
from obscuro.search.gadget import Gadget
from obscuro.search.game import MAX, MIN
from obscuro.search.keeping import keep_roots
from obscuro.search.parameters import MAX_ACTIONS, SLICE_EDGES, SLICE_ITERATIONS
from obscuro.search.solver import iterate
from obscuro.search.subgame import NewRoots, build_subgame
from obscuro.search.tree import NODES, ROOTS, Tree

T = TypeVar("T")
Samples = defaultdict[str, list[float]]  # by the name of the number

SLICE_SIZE = 4 * SLICE_EDGES  # some whole iterations of the largest trees
THREADS = 2  # of a search as in play
MICRO, MILLI, MEGA = 1e6, 1e3, 1e6

# The numbers of one of the engine's trees.
GROWTH = (
    *("kept_ips", "kept_meps", "kept_edges"),
    *("select_us", "attach_us", "expand_us", "store_us", "children"),
)
BUILDING = ("subgame_ms", "keep_ms", "build_ms", "subgame_nodes", "subgame_carried")
PLAYED: dict[str, Callable[[SearchInfo], float]] = {
    "tree_nodes": lambda info: info.carried + info.sampled + info.nodes,
    "tree_added": lambda info: info.nodes,
    "tree_carried": lambda info: info.carried,
    "tree_infosets": lambda info: info.infosets,
    "tree_depth": lambda info: info.depth,
    "tree_iterations": lambda info: info.iterations,
    "tree_expansions": lambda info: info.expansions,
}
COLUMNS = {
    "nodes": ("nodes", 0),
    "infosets": ("infosets", 0),
    "depth": ("depth", 1),
    "iter/s": ("kept_ips", 0),
    "M/s": ("kept_meps", 0),
    "select": ("select_us", 1),
    "attach": ("attach_us", 1),
    "subgame": ("subgame_ms", 0),
}


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


def run(
    arguments: argparse.Namespace, *, plan: Plan | None = None, console: Console | None = None
) -> int:
    """Measure and print the results; return the exit code. Raises BenchmarkError.

    plan: replaces the full plan, or the one that `--quick` takes.
    """
    begin = time.monotonic()
    plan = plan or (QUICK if arguments.quick else Plan())
    numbers = {
        **measure(plan),
        "movetime": plan.movetime,
        "threads": THREADS,
        "peak_rss_mib": peak_memory() / 2**20,
    }
    return publish(numbers, arguments, begin, console, print_report)


def measure(plan: Plan) -> Summary:
    """Carry out the plan and show progress on stderr. Raises BenchmarkError."""
    watch = Stopwatch()
    trees: list[Summary] = []
    played: list[SearchInfo] = []
    with progress(2 + len(plan.positions) * (1 + len(plan.sizes) + plan.searches)) as report:
        report("a synthetic tree", 0)
        numbers = measure_synthetic(plan, watch)
        report(None, 2)
        for position in plan.positions:
            trees += measure_trees(position, plan, watch, report)
            played += measure_play(position, plan, report)
    return {**numbers, **summary(trees, played), "cpu_share": watch.cpu_share, "trees": trees}


def summary(trees: Sequence[Summary], played: Sequence[SearchInfo]) -> Summary:
    """Return medians over the trees of the largest size, and over searches as in play.

    trees: as `measure_trees` returns them. A number is None if nothing was measured for it.
    """
    most = max((int(str(tree["size"])) for tree in trees), default=0)
    largest = [tree for tree in trees if tree["size"] == most]

    def over(key: str) -> float | None:
        found = (tree[key] for tree in largest)
        return median(value for value in found if isinstance(value, int | float))

    return {
        **{key: over(key) for key in (*GROWTH, *BUILDING)},
        **{key: median(map(value, played)) for key, value in PLAYED.items()},
    }


def medians(samples: Samples, names: Iterable[str]) -> Summary:
    """Return the median of each kind of sample; None where there is none."""
    return {name: median(samples[name]) for name in names}


class Stopwatch:
    """Times work in CPU seconds of this thread, so that other programs hardly matter."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.worked = 0.0

    def time(self, work: Callable[[], T]) -> tuple[T, float]:
        """Call `work`; return its result and its CPU seconds."""
        begin, before = time.perf_counter(), time.thread_time()
        result = work()
        worked = time.thread_time() - before
        self.seconds += time.perf_counter() - begin
        self.worked += worked
        return result, worked

    @property
    def cpu_share(self) -> float | None:
        """The CPU seconds as a share of the seconds on the clock; None before the first timing."""
        return min(1.0, self.worked / self.seconds) if self.seconds else None


# -- the synthetic tree -----------------------------------------------------------------------


def measure_synthetic(plan: Plan, watch: Stopwatch) -> Summary:
    """Measure the solver on a synthetic tree, with dense strategies and with sparse ones."""
    tree, _ = synthetic_tree(plan.edges)
    samples: Samples = defaultdict(list)
    for name, play in (("full", play_dense), ("sparse", play_sparse)):
        gadget = play(tree)
        time_solver(samples, f"solver_{name}", tree, gadget, plan.slices, watch)
    return {
        **medians(samples, list(samples)),
        "synthetic": {"edges": tree.nodes, "infosets": tree.infosets, "depth": mean_depth(tree)},
    }


def time_solver(
    samples: Samples, name: str, tree: Tree, gadget: Gadget, slices: int, watch: Stopwatch
) -> None:
    """Solve in slices of at least SLICE_SIZE edge visits; the first slice is not timed."""
    absent = np.zeros(MAX_ACTIONS, dtype=np.int64)

    def work() -> tuple[int, int]:
        done, edges = iterate(tree, gadget, SLICE_ITERATIONS, SLICE_SIZE, -1, 0, absent)
        return int(done), int(edges)

    work()
    for _ in range(slices):
        (iterations, edges), seconds = watch.time(work)
        add_speed(samples, name, iterations, edges, seconds)


def add_speed(samples: Samples, name: str, iterations: int, edges: int, seconds: float) -> None:
    """Add a slice: iterations a second, million edge visits a second, and edges an iteration."""
    samples[f"{name}_ips"].append(iterations / seconds)
    samples[f"{name}_meps"].append(edges / seconds / MEGA)
    samples[f"{name}_edges"].append(edges / iterations)


# -- the engine's trees -----------------------------------------------------------------------


def measure_trees(
    position: StudyPosition, plan: Plan, watch: Stopwatch, report: ReportProgress
) -> list[Summary]:
    """Search one turn for each of the plan's sizes, from the kept tree of the last turn.

    Returns the facts and numbers of each tree. Raises BenchmarkError if the game ends too early.
    """
    found: list[Summary] = []
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
            facts: Summary = {
                "position": position.name,
                "size": size,
                "nodes": tree.nodes,
                "infosets": tree.infosets,
                "depth": mean_depth(tree),
                "roots": int(tree.counts[ROOTS]),
                "interior": int(tree.counts[NODES]),
            }
            grown = medians(growth(follower, plan.batches, watch), GROWTH)
            found.append({**facts, **grown, **dict.fromkeys(BUILDING)})
            report(None, 1)
        if follower.play_on():
            found[-1] |= medians(building(follower, plan.subgames, watch), BUILDING)
    finally:
        follower.close()
    return found


class Given:
    """An evaluator that returns prepared values, so that it takes no time."""

    name = "given"

    def __init__(self, values: ChildValues) -> None:
        self._values = values

    def start(self) -> None:
        """Do nothing."""

    def evaluate(self, positions: object) -> ChildValues:
        """Return the prepared values."""
        return self._values

    def forget(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def growth(follower: Follower, batches: int, watch: Stopwatch) -> Samples:
    """Grow the search's tree by `batches` batches and time each stage.

    For each batch: solve a slice, select leaves, evaluate them (not timed), expand and attach them.
    """
    search, samples = follower.search, Samples(list)
    game = follower.games[0]
    evaluator = game.evaluator
    random = np.array([1], dtype=np.uint64)
    explorer = MAX
    for _ in range(batches):
        before = search.progress.iterations
        edges, seconds = watch.time(partial(search.solve, SLICE_EDGES))
        add_speed(samples, "kept", search.progress.iterations - before, edges, seconds)
        batch, seconds = watch.time(partial(search.select, explorer, random))
        explorer = MAX + MIN - explorer
        if batch is None:
            continue
        leaves = len(batch.edges)
        samples["select_us"].append(seconds / leaves * MICRO)
        positions = np.ascontiguousarray(batch.states[:, :-1])
        game.evaluator = Given(evaluator.evaluate(positions))
        try:
            expansion, expanding = watch.time(partial(game.expand, batch.states, batch.keys))
        finally:
            game.evaluator = evaluator
        _, storing = watch.time(partial(search.attach, batch.edges, batch.nodes, expansion))
        samples["expand_us"].append(expanding / leaves * MICRO)
        samples["store_us"].append(storing / leaves * MICRO)
        samples["attach_us"].append((expanding + storing) / leaves * MICRO)
        samples["children"].append(len(expansion.values) / leaves)
    return samples


def building(follower: Follower, times: int, watch: Stopwatch) -> Samples:
    """Build the next subgame `times` times after both sides' moves, and discard it each time.

    It gets no new positions: their time depends on the evaluator. The first build allocates memory
    and is not timed.
    """
    search, samples = follower.search, Samples(list)
    nodes = search.tree.nodes
    nothing_new = _nothing_new(search.tree)
    for number in range(times + 1):
        kept, keeping = watch.time(
            partial(keep_roots, search.tree, search.gadget, follower.key, follower.depth)
        )
        if not len(kept.edges):
            return samples
        rest = (kept, nothing_new, follower.key, search.parameters)
        _, seconds = watch.time(partial(build_subgame, search.tree, search.spare, *rest))
        if number:
            samples["keep_ms"].append(keeping * MILLI)
            samples["build_ms"].append(seconds * MILLI)
            samples["subgame_ms"].append((keeping + seconds) * MILLI)
    samples["subgame_nodes"].append(nodes)
    samples["subgame_carried"].append(search.spare.nodes)
    return samples


def _nothing_new(tree: Tree) -> NewRoots:
    none = np.zeros(0, dtype=np.float32)
    words = tree.edge_state.shape[1]
    return NewRoots(
        np.zeros(1, dtype=np.int64),
        np.zeros((0, words), dtype=np.uint64),
        np.zeros((0, 2), dtype=np.uint64),
        none,
        none,
        none,
    )


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


# -- what is printed --------------------------------------------------------------------------


def print_report(console: Console, numbers: Summary) -> None:
    """Print a table of the engine's trees and lines with all other numbers."""
    text = partial(figure, numbers)
    for name, what in (("full", "dense"), ("sparse", "sparse")):
        console.print(
            f"solver, {what:<7}{text(f'solver_{name}_ips'):>7} iterations/s, "
            f"{text(f'solver_{name}_meps'):>5} M edges/s, "
            f"{text(f'solver_{name}_edges')} edge visits an iteration",
            soft_wrap=True,
        )
    console.print()
    table = Table(
        title="the engine's own trees, medians: iterations/s, million edges/s, us, us, ms",
        title_justify="left",
        box=None,
    )
    table.add_column("position")
    for heading in COLUMNS:
        table.add_column(heading, justify="right")
    trees = numbers["trees"]
    assert isinstance(trees, list)
    for tree in trees:
        cells = (figure(tree, key, places) for key, places in COLUMNS.values())
        table.add_row(tree["position"], *cells)
    console.print(table)
    console.print()
    lines = (
        ("select a leaf", f"{text('select_us', 1)} us"),
        (
            "attach an expansion",
            f"{text('attach_us', 1)} us with {text('children')} children: {text('expand_us', 1)} "
            f"for states, sights and keys, {text('store_us', 1)} for the tree",
        ),
        (
            "next subgame",
            f"{text('subgame_ms')} ms from {text('subgame_nodes')} nodes, of which "
            f"{text('subgame_carried')} are carried over",
        ),
        (
            f"{text('movetime')} ms, {text('threads')} threads",
            f"{text('tree_nodes')} nodes ({text('tree_carried')} carried over), "
            f"{text('tree_infosets')} infosets, depth {text('tree_depth', 1)}, "
            f"{text('tree_iterations')} iterations, {text('tree_expansions')} expansions",
        ),
        ("peak memory of this run", f"{text('peak_rss_mib')} MiB"),
        ("this run", f"{text('seconds')} s"),
    )
    print_lines(console, lines, 26)
    effect = "the numbers are better, and searches by the clock get further"
    note_if_busy(console, numbers, "the timed work", effect)
