"""Show how long the tests took: the totals of each folder, and the slowest fifty.

    python -m tools.results.test_times
    python -m tools.results.test_times --kernels cold

Reads the report that `make test` writes, `.test-durations.xml`. With --raw, the figures go to the page
docs/results/tests.md. A test's time includes the fixtures that it is the first to use.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tools.common import ROOT, given, publish, say, table, tool_parser
from tools.results.manifest import Loaded

REPORT = ROOT / ".test-durations.xml"
SLOWEST = 50


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.results.test_times", __doc__)
    parser.add_argument("--report", type=Path, default=REPORT, metavar="FILE", help="JUnit XML")
    parser.add_argument(
        "--kernels",
        choices=("warm", "cold"),
        default="warm",
        help="whether they were compiled before the tests",
    )
    return parser


def measure(report: Path, kernels: str) -> dict[str, Any]:
    """Return wall time, totals by folder and the slowest tests of pytest's report, in seconds.

    Raises OSError and ElementTree.ParseError.
    """
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    tests: list[tuple[float, str, str]] = []  # seconds, folder, name
    for case in suite.iter("testcase"):
        place = case.get("classname", "").split(".")
        inner = [each for each in place[1:2] if not each.startswith("test_")]
        folder = "/".join([place[0], *inner])
        tests.append((float(case.get("time", 0)), folder, f"{'.'.join(place)}::{case.get('name')}"))
    times: dict[str, list[float]] = defaultdict(list)
    for seconds, folder, _ in tests:
        times[folder].append(seconds)
    return {
        "kernels": kernels,
        "wall": float(suite.get("time", 0)),
        "folders": sorted(
            ([folder, len(each), round(sum(each), 1)] for folder, each in times.items()),
            key=lambda row: -row[2],
        ),
        "slowest": [[name, round(s, 1)] for s, _, name in sorted(tests, reverse=True)[:SLOWEST]],
    }


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence of totals and both tables."""
    tests = sum(count for _, count, _ in figures["folders"])
    seconds = sum(each for _, _, each in figures["folders"])
    yield (
        f"{tests:,} tests took {seconds:,.0f} s, summed over all workers, and "
        f"{figures['wall']:,.0f} s by the clock, with {figures['kernels']} kernels."
    )
    yield ""
    rows = [[f"`{folder}`", f"{count:,}", f"{s:,.1f}"] for folder, count, s in figures["folders"]]
    yield from table(["folder", "tests", "seconds"], rows, "lrr")
    yield ""
    rows = [[f"`{name}`", seconds] for name, seconds in figures["slowest"]]
    yield from table([f"the slowest {len(rows)}", "seconds"], rows, "lr")


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the tables of the last run, or that none was stored."""
    for each in loaded:
        yield from render(each.raw.data)
    if not loaded:
        yield "No run is stored yet."


def main(words: Sequence[str] | None = None) -> int:
    """Read the report and show it; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    try:
        figures = measure(arguments.report, arguments.kernels)
    except (OSError, ElementTree.ParseError) as error:
        say(f"test_times: {error}; `make test` writes this file")
        return 1
    publish(parser, words, arguments.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
