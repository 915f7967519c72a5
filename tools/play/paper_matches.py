"""Play the matches of the Obscuro paper, in blocks of games, for as long as there is time.

    python -m tools.play.paper_matches --list
    python -m tools.play.paper_matches ablation-purification-paper --games 40
    python -m tools.play.paper_matches --hours 2
    python -m tools.play.paper_matches "ablation-*" "scaling-0.*" --hours 1 --movetime 50
    python -m tools.play.paper_matches ablation-klss-paper --movetime 5000 --threads 5

The experiments are those of `tools/play/paper_experiments.py`; names may be patterns, and without
any all are meant. Each block is one `obscuro match` with a seed of its own, the number of its first
game. The experiment with the fewest games comes next, so that all tables grow evenly. When a block
is over, its games join docs/results/raw/paper/NAME.pgn.gz, and NAME.json says what made them. With
another --movetime or --threads than usual the files have that in their names.

The same command goes on where the last one ended. Ctrl-C and TERM leave a begun block in --folder;
it is resumed by the next command there. With --hours a block is begun only if it will probably end
in time. --list shows the result of each match so far and the command of the paper's size; with names,
the `obscuro match` as well.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from obscuro.engine.machine import usable_cores
from tools.common import INTERRUPTED, ROOT, given, say, tool_parser
from tools.play.paper_experiments import (
    EXPERIMENTS,
    OLD_COMMIT,
    OLD_ENGINE,
    PAPER_THREADS,
    Experiment,
    percent,
)
from tools.results import raw
from tools.results.manifest import RESULTS
from tools.results.matches import match_of_games

ENGINE = ROOT / "engine_bin" / "obscuro"
STORE = RESULTS / "raw" / "paper"
PLIES = 120
"""Of a game: for the time that a block will take before one of its kind was played."""
START_SECONDS = 15.0
"""For the start of both engines."""
ROUND = re.compile(r'^\[Round "(\d+)"\]$', re.MULTILINE)
POLICY = re.compile(r" \[%policy [^]]*\]")
"""The strategies: two thirds of a PGN file, and the only part of a comment that is left out."""


class Series(NamedTuple):
    """An experiment at one time and with one number of threads: one raw file and its games.

    milliseconds, threads: None and 1 are the experiment's own. file: the raw file.
    """

    experiment: Experiment
    milliseconds: int | None
    threads: int
    file: Path

    @property
    def stem(self) -> str:
        """The name of its files, without an ending."""
        return self.file.name.partition(".json")[0]

    @property
    def games_file(self) -> Path:
        """The games, as compressed PGN."""
        return self.file.parent / f"{self.stem}.pgn.gz"

    @property
    def command(self) -> str:
        """The command that the raw file names."""
        words = [self.experiment.name]
        if self.milliseconds is not None:
            words += ["--movetime", str(self.milliseconds)]
        if self.threads != 1:
            words += ["--threads", str(self.threads)]
        return f"python -m tools.play.paper_matches {shlex.join(words)}"

    @property
    def match(self) -> str:
        """The `obscuro match` of all its games, were they played at a stretch."""
        words = self.experiment.command(
            self.experiment.games, milliseconds=self.milliseconds, threads=self.threads
        )
        return shlex.join(words)

    def blocks(self) -> list[dict[str, Any]]:
        """Return what is known of each block that is in the files."""
        return list(raw.load(self.file).data["blocks"]) if self.file.exists() else []

    def played(self) -> int:
        """Return how many games there are."""
        return sum(block["games"] for block in self.blocks())


class Block(NamedTuple):
    """Some games of a series, one `obscuro match`. first: the number of the first game, from 1."""

    series: Series
    first: int
    games: int
    journal: Path


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
    experiments = chosen(told.names)
    if not experiments:
        parser.error(f"no experiment is called {' or '.join(told.names)}; see --list")
    if told.raw is not None and len(experiments) != 1:
        parser.error("--raw is for one experiment")
    if told.block is not None and (told.block < 2 or told.block % 2):
        parser.error("--block must be an even number: games are played in pairs")
    series = [series_of(each, told.movetime, told.threads, told.raw) for each in experiments]
    if told.list:
        for each in series:
            show(each, whole=bool(told.names))
        return 0
    deadline = None if told.hours is None else time.monotonic() + 3600 * told.hours
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return play(series, told, deadline)
    except KeyboardInterrupt:
        say("broken off; the same command goes on")
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments that fit a name or a pattern; all of them if there is none."""
    return [
        experiment
        for experiment in EXPERIMENTS.values()
        if not names or any(fnmatch.fnmatchcase(experiment.name, name) for name in names)
    ]


def series_of(
    experiment: Experiment, milliseconds: int | None, threads: int, file: Path | None = None
) -> Series:
    """Return an experiment's series. milliseconds: the usual ones for what has times of its own."""
    if milliseconds == experiment.milliseconds or experiment.first.milliseconds is not None:
        milliseconds = None
    stem = experiment.name.replace("-", "_").replace(".", "")
    stem += "" if milliseconds is None else f"_{milliseconds}ms"
    stem += "" if threads == 1 else f"_{threads}t"
    return Series(experiment, milliseconds, threads, file or STORE / f"{stem}.json")


def show(series: Series, whole: bool) -> None:
    """Print a series: what is played here, the paper's size, and what there is of it.

    whole: print the `obscuro match` too.
    """
    experiment = series.experiment
    full = series_of(experiment, experiment.full_milliseconds, PAPER_THREADS)
    print(f"{experiment.name}: {experiment.label}")
    print(f"  {result(series)}")
    print(f"  here  {series.command}")
    print(f"  full  {full.command} --games {experiment.games}")
    if whole:
        print(f"  {series.match}")


def result(series: Series) -> str:
    """Describe the games of a series, beside the paper's."""
    paper = series.experiment.paper
    beside = "" if paper is None else f"; the paper: {percent(paper)}"
    if not series.file.exists():
        return f"not yet played{beside}"
    row = match_of_games(series.games_file)
    games = f"{row.tally.games} of {series.experiment.games} games"
    return f"{row.tally} = {percent(row.tally)}, {row.elo} Elo, {games}{beside}"


# -- playing ------------------------------------------------------------------------------------


def play(series: Sequence[Series], told: argparse.Namespace, deadline: float | None) -> int:
    """Play block after block; returns 0, or 1 if a match failed."""
    failed: set[str] = set()
    seconds: dict[str, float] = {}  # of a game, by the stem of its series
    while True:
        block, skipped = next_block(series, told, failed, seconds, deadline)
        if block is None:
            if skipped:
                say(f"no time is left for a block of {', '.join(skipped)}")
            break
        each, begin = block.series, time.monotonic()
        say(f"=== {each.stem}: games {block.first} to {block.first + block.games - 1}")
        if play_block(block, games_at_once(each, told.concurrency)):
            seconds[each.stem] = (time.monotonic() - begin) / block.games
            say(f"=== {each.stem}: {result(each)}")
        else:
            failed.add(each.stem)
    for stem in sorted(failed):
        say(f"failed: {stem}")
    return int(bool(failed))


def next_block(
    series: Sequence[Series],
    told: argparse.Namespace,
    failed: set[str],
    seconds: dict[str, float],
    deadline: float | None,
) -> tuple[Block | None, list[str]]:
    """Return the next block, of the series with the fewest games, and whom the time is too short for.

    A block that was begun goes on first. Series that failed, or whose threads this machine has not,
    are left out. seconds: of a game of each series, as far as they were measured.
    """
    skipped: list[str] = []
    found: list[tuple[tuple[bool, int], Block]] = []
    for each in series:
        played, wanted = each.played(), told.games or each.experiment.games
        if each.stem in failed or played >= wanted:
            continue
        if each.experiment.threads * each.threads > usable_cores():
            if told.names:
                say(f"{each.stem} needs {each.experiment.threads * each.threads} cores")
            failed.add(each.stem)
            continue
        size = min(told.block or each.experiment.block(each.milliseconds), wanted - played)
        block = begun(each, told.folder) or Block(
            each, played + 1, size, journal_of(each, told.folder, played + 1, size)
        )
        game = seconds.get(each.stem) or expected_seconds(each, told.concurrency)
        if deadline is not None and time.monotonic() + game * block.games > deadline:
            skipped.append(each.stem)
            continue
        found.append(((not block.journal.exists(), played), block))
    best = min(found, key=lambda pair: pair[0], default=None)
    return (None if best is None else best[1]), skipped


def expected_seconds(series: Series, concurrency: int | None) -> float:
    """Return how long a game of a series takes, before one was timed."""
    move = series.experiment.mean_milliseconds(series.milliseconds) / 1000
    return (PLIES * move + START_SECONDS / 10) / games_at_once(series, concurrency)


def games_at_once(series: Series, concurrency: int | None) -> int:
    """Return how many games are played at a time: as many as the cores bear, or as was said."""
    return concurrency or max(1, usable_cores() // (series.experiment.threads * series.threads))


def journal_of(series: Series, folder: Path, first: int, games: int) -> Path:
    """Return the journal of a block while it is played."""
    return folder / f"{series.stem}-{first}-{games}.jsonl"


def begun(series: Series, folder: Path) -> Block | None:
    """Return the block that was broken off, if there is one; delete journals that are done with."""
    first = series.played() + 1
    for journal in sorted(folder.glob(f"{series.stem}-*.jsonl")):
        start, games = (int(number) for number in journal.stem.split("-")[-2:])
        if start == first:
            return Block(series, first, games, journal)
        if start < first:
            journal.unlink()
    return None


def play_block(block: Block, concurrency: int) -> bool:
    """Play a block, or the rest of it, and put its games into the files; returns whether it ended.

    Raises KeyboardInterrupt when Ctrl-C or TERM breaks it off; the journal stays.
    """
    series, experiment = block.series, block.series.experiment
    if OLD_ENGINE in (experiment.first.player, experiment.second.player):
        build_engine(OLD_COMMIT)
    block.journal.parent.mkdir(parents=True, exist_ok=True)
    command = experiment.command(
        block.games,
        milliseconds=series.milliseconds,
        threads=series.threads,
        seed=block.first,
        concurrency=concurrency,
    )
    pgn = block.journal.with_suffix(".pgn")
    pgn.unlink(missing_ok=True)
    files = ["--log", str(block.journal), "--pgn", str(pgn)]
    if run([str(ENGINE), *command[1:], *files]) != 0:
        return False
    add_games(block, pgn.read_text(encoding="utf-8"), concurrency)
    pgn.unlink()
    block.journal.unlink()
    return True


def run(command: Sequence[str]) -> int:
    """Run a match in a session of its own, so that only we interrupt it; returns its exit code.

    `python` in a player's command line is the Python that runs this.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PATH": path}, start_new_session=True
    )
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def add_games(block: Block, text: str, concurrency: int) -> None:
    """Add a block's games to those of its series; both files are replaced at the end.

    The rounds of *text* begin with 1, those of the file go on.
    """
    series = block.series
    numbers = sorted(int(number) for number in ROUND.findall(text))
    if numbers != list(range(1, block.games + 1)):
        raise raw.RawFileError(f"{block.journal}: rounds {numbers} of {block.games} games")
    text = ROUND.sub(lambda found: f'[Round "{int(found[1]) + block.first - 1}"]', text)
    older = ""
    if series.games_file.exists():
        with raw.open_text(series.games_file) as stream:
            older = stream.read()
    machine = raw.machine()
    data = {
        "match": series.match,
        "blocks": [
            *series.blocks(),
            {
                "first": block.first,
                "games": block.games,
                "concurrency": concurrency,
                "commit": raw.commit(),
                "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
                "cpu": machine["cpu"],
            },
        ],
    }
    series.file.parent.mkdir(parents=True, exist_ok=True)
    fresh_games = series.games_file.with_name(f"new_{series.games_file.name}")
    fresh = series.file.with_name(f"new_{series.file.name}")
    raw.write_bytes(fresh_games, (older + POLICY.sub("", text)).encode())
    raw.save(fresh, series.command, data, games=series.games_file.name)
    fresh_games.replace(series.games_file)
    fresh.replace(series.file)


def build_engine(commit: str) -> None:
    """Make the engine of a commit under build/engines, as a git worktree with this one's packages.

    The worktree's own code comes first on its path, so the packages are all that it shares.
    """
    folder = ROOT / "build" / "engines" / commit
    if (folder / ".venv").exists():
        return
    say(f"the engine of {commit} is made in {folder}")
    subprocess.run(
        ["git", "-C", str(ROOT), "worktree", "add", "--force", "--detach", str(folder), commit],
        check=True,
    )
    (folder / ".venv").symlink_to(Path(sys.prefix))


if __name__ == "__main__":
    sys.exit(main())
