"""Play the matches of the Obscuro paper, in blocks of games, for as long as there is time.

    python -m tools.play.paper_matches --list
    python -m tools.play.paper_matches ablation-purification-paper --games 40
    python -m tools.play.paper_matches --hours 2
    python -m tools.play.paper_matches "ablation-*" "scaling-0.*" --hours 1 --movetime 50
    python -m tools.play.paper_matches ablation-klss-paper --movetime 5000 --threads 5

The experiments are those of `tools/play/paper_experiments.py`; names may be patterns, and without
any all are meant. Each block is one `obscuro match` with a seed of its own, the number of its first
game. The block comes next after which its experiment has taken the least time of all. So all tables
grow evenly, and slow experiments do not keep the others waiting. When a block is over, its games
join docs/results/raw/paper/NAME.pgn.gz, and NAME.json says what made them. With another --movetime
or --threads than usual the files have that in their names; they are on the page when the manifest
names them. The searches of first moves and the games of Appendix D take their turns as well, by the
tools that measure them.

The same command goes on where the last one ended. Ctrl-C and TERM leave a begun block in --folder;
it is resumed by the next command there. With --hours a block is begun only if it will probably end
in time. --list shows the result of each match so far and the command of the paper's size; with names,
the `obscuro match` as well.
"""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from obscuro.machine import usable_cores
from tools.common import INTERRUPTED, ROOT, given, say, tool_parser
from tools.play.paper_experiments import EXPERIMENTS, MEASUREMENTS
from tools.play.paper_series import AnyBlock, MatchSeries, Series, ToolSeries
from tools.results.manifest import RESULTS

STORE = RESULTS / "raw" / "paper"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.paper_matches", __doc__, stores=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments; default: all")
    parser.add_argument("--list", action="store_true", help="play nothing, show the experiments")
    parser.add_argument("--hours", type=float, metavar="H", help="stop after so long")
    parser.add_argument("--games", type=int, metavar="N", help="of each; default: as in the paper")
    parser.add_argument(
        "--movetime", type=int, metavar="MS", help="in place of the experiments' own cut times"
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="times the usual ones")
    parser.add_argument(
        "--block", type=int, metavar="N", help="games at a stretch; default: by time"
    )
    parser.add_argument("--concurrency", type=int, metavar="N", help="games at a time")
    parser.add_argument("--raw", type=Path, metavar="FILE", help="of one experiment: its raw file")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "paper", help="default: build/paper"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play blocks until all games are there or the time is over; returns the exit code."""
    parser = make_parser()
    told = parser.parse_args(given(words))
    series = chosen(told)
    if not series:
        parser.error(f"no experiment is called {' or '.join(told.names)}; see --list")
    if told.block is not None and (told.block < 2 or told.block % 2):
        parser.error("--block must be an even number: games are played in pairs")
    if told.raw is not None:
        if len(series) != 1:
            parser.error("--raw is for one experiment")
        series = [series[0]._replace(file=told.raw)]
    if told.list:
        for each in series:
            print("\n".join(each.about(whole=bool(told.names))))
        return 0
    deadline = None if told.hours is None else time.monotonic() + 3600 * told.hours
    # Where Ctrl-C is ignored, as by `nohup … &`, the matches would ignore it too, and could not be
    # interrupted when TERM comes.
    ends = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, signal.default_int_handler) for number in ends]
    try:
        return play(able(series), told, deadline)
    except KeyboardInterrupt:
        say("broken off; the same command goes on")
        return INTERRUPTED
    finally:
        for number, handler in zip(ends, before, strict=True):
            signal.signal(number, handler)


def chosen(told: argparse.Namespace) -> list[MatchSeries | ToolSeries]:
    """Return what fits a name or a pattern of the command line; all if it has none."""

    def is_meant(name: str) -> bool:
        return not told.names or any(fnmatch.fnmatchcase(name, each) for each in told.names)

    matches = [
        MatchSeries.of(experiment, told.movetime, told.threads, STORE)
        for experiment in EXPERIMENTS.values()
        if is_meant(experiment.name)
    ]
    tools = [
        ToolSeries.of(measurement, STORE)
        for measurement in MEASUREMENTS.values()
        if is_meant(measurement.name)
    ]
    return [*matches, *tools]


def able(series: Sequence[Series]) -> list[Series]:
    """Return the series for which this machine has the cores; say which are left out."""
    lacking = [each for each in series if each.cores > usable_cores()]
    for each in lacking:
        say(f"{each.name} is left out: it needs {each.cores} cores, and here are {usable_cores()}")
    return [each for each in series if each not in lacking]


def play(series: Sequence[Series], told: argparse.Namespace, deadline: float | None) -> int:
    """Play block after block; returns 0, or 1 if one failed."""
    failed: list[Series] = []
    seconds: dict[str, float] = {}  # of one game or search, by the stem
    while True:
        left = [each for each in series if each not in failed]
        block, late = next_block(left, told, seconds, deadline)
        if block is None:
            if late:
                say(f"no time is left for a block of {', '.join(late)}")
            break
        each, begin = block.series, time.monotonic()
        played = each.played()
        say(f"=== {each.name}: {played + 1} to {played + block.size}")
        if block.play(told.concurrency):
            seconds[each.stem] = (time.monotonic() - begin) / block.size
            say(f"=== {each.name}: {each.result()}")
        else:
            failed.append(each)
    for each in failed:
        say(f"failed: {each.name}")
    return int(bool(failed))


def next_block(
    series: Sequence[Series],
    told: argparse.Namespace,
    seconds: dict[str, float],
    deadline: float | None,
) -> tuple[AnyBlock | None, list[str]]:
    """Return the next block, and the series for whose blocks the time is too short.

    A block that was begun goes on first, else that of the series which has taken the least time after
    it. seconds: of one of each series, as far as they were timed.
    """
    late: list[str] = []
    found: list[tuple[bool, float, AnyBlock]] = []
    for each in series:
        played, wanted = each.played(), each.wanted(told.games)
        if played >= wanted:
            continue
        block = each.next_block(told.block, wanted - played, told.folder)
        one = seconds.get(each.stem) or each.seconds(told.concurrency)
        if deadline is not None and time.monotonic() + one * block.size > deadline:
            late.append(each.name)
        else:
            spent = (played + block.size) * each.seconds(told.concurrency)
            found.append((not block.is_begun, spent, block))
    best = min(found, key=lambda entry: entry[:2], default=None)
    return (None if best is None else best[2]), late


if __name__ == "__main__":
    sys.exit(main())
