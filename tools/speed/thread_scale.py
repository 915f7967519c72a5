"""How much faster a search is with more threads: iterations and expansions a second.

    python -m tools.speed.thread_scale --threads 1 2 4 8 16 --plot threads.png

For each number of threads it measures what searches from the positions of `obscuro bench search` do
on the clock. The machine needs as many free cores as there are threads.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from obscuro.cli.bench.following import POSITIONS, Follower
from obscuro.machine import usable_cores
from tools.common import add_evaluator, given, publish, say, table, tool_parser
from tools.results.manifest import Loaded

FIGURES = "iterations", "expansions"


def measure(told: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row of figures for each number of threads."""
    rows: list[dict[str, Any]] = []
    for threads in told.threads:
        say(f"{threads} threads")
        found = searches(threads, told.evaluator, told.movetime, told.searches)
        rows.append({"threads": threads, **found})
    return rows


def searches(threads: int, evaluator: str, movetime: int, count: int) -> dict[str, float]:
    """Return the medians over so many searches from each position; the first has no tree."""
    iterations, expansions = [], []
    for position in POSITIONS:
        follower = Follower(position, threads, evaluator)
        try:
            for number in range(count + 1):
                info = follower.think(movetime=movetime)
                if number:
                    iterations.append(1000 * info.iterations / movetime)
                    expansions.append(1000 * info.expansions / movetime)
                if number < count and not follower.play_on():
                    break
        finally:
            follower.close()
    return {"iterations": median(iterations), "expansions": median(expansions)}


def plot(file: Path, curves: Mapping[str, Sequence[dict[str, Any]]], mark: str = "") -> None:
    """Draw both figures of searches by threads.

    curves: rows by label. mark: what the PNG says of its origin.
    """
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(1, len(FIGURES), figsize=(10, 4), layout="constrained")
    for axis, key in zip(axes, FIGURES, strict=True):
        for label, rows in curves.items():
            axis.plot(
                [row["threads"] for row in rows], [row[key] for row in rows], "o-", label=label
            )
        threads = sorted({row["threads"] for rows in curves.values() for row in rows})
        axis.set(xlabel="threads", ylabel=f"{key} a second", xticks=threads, ylim=(0, None))
        if len(curves) > 1:
            axis.legend(fontsize="small")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)


def draw_runs(file: Path, loaded: Sequence[Loaded], mark: str) -> None:
    """Draw the runs of a page beside each other; see `plot`."""
    plot(file, {run.run.label: run.raw.data for run in loaded}, mark)


def render(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table in Markdown."""
    cells = [
        [
            row["threads"],
            f"{row['iterations']:,.0f}",
            f"{row['expansions']:,.0f}",
        ]
        for row in rows
    ]
    headings = [
        "threads",
        "iterations/s",
        "expansions/s",
    ]
    yield from table(headings, cells, "rrr")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.thread_scale", __doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16], metavar="N")
    parser.add_argument("--movetime", type=int, default=3000, help="milliseconds of a search")
    parser.add_argument("--searches", type=int, default=2, help="measured from each position")
    add_evaluator(parser)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="needs matplotlib")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print the table and draw the plot; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    if min(told.threads) < 1:
        parser.error("--threads: at least 1")
    if max(told.threads) > usable_cores():
        say(f"there are {usable_cores()} cores: more threads than that share them")
    rows = measure(told)
    publish(parser, words, told.raw, rows, render)
    if told.plot is not None:
        plot(told.plot, {"": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
