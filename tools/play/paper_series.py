"""What `paper_matches` makes grow, block by block: the games of a match, or a tool's measurements.

A block of a match is one `obscuro match` with a seed of its own, the number of its first game. Its
journal lies in a folder until all its games have joined those of the series.
"""

from __future__ import annotations

import datetime
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from obscuro.machine import usable_cores
from tools.common import INTERRUPTED, ROOT, say
from tools.play.paper_experiments import (
    OLD_COMMIT,
    OLD_ENGINE,
    PAPER_THREADS,
    Experiment,
    Measurement,
    percent,
)
from tools.results import raw
from tools.results.matches import match_of_games

ENGINE = ROOT / "engine_bin" / "obscuro"
PLIES = 120
"""Of a game: for the time that a block will take before one of its kind was played."""
START_SECONDS = 1.5
"""For the start of both engines, as a share of each game."""
ROUND = re.compile(r'^\[Round "(\d+)"\]$', re.MULTILINE)
POLICY = re.compile(r" \[%policy [^]]*\]")
"""The strategies: two thirds of a PGN file, and the only part of a comment that is left out."""


# -- matches ------------------------------------------------------------------------------------


class MatchSeries(NamedTuple):
    """An experiment at one time and with one number of threads: one raw file and its games.

    milliseconds, threads: None and 1 are the experiment's own. file: the raw file.
    """

    experiment: Experiment
    milliseconds: int | None
    threads: int
    file: Path

    @classmethod
    def of(
        cls, experiment: Experiment, milliseconds: int | None, threads: int, store: Path
    ) -> MatchSeries:
        """Return the series with its usual file in *store*. milliseconds: None is the usual.

        An experiment that has times of its own keeps them.
        """
        if milliseconds == experiment.milliseconds or experiment.first.milliseconds is not None:
            milliseconds = None
        stem = experiment.name.replace("-", "_").replace(".", "")
        stem += "" if milliseconds is None else f"_{milliseconds}ms"
        stem += "" if threads == 1 else f"_{threads}t"
        return cls(experiment, milliseconds, threads, store / f"{stem}.json")

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.experiment.name

    @property
    def stem(self) -> str:
        """The name of its files, without an ending."""
        return self.file.name.partition(".json")[0]

    @property
    def games_file(self) -> Path:
        """The games, as compressed PGN."""
        return self.file.parent / f"{self.stem}.pgn.gz"

    @property
    def cores(self) -> int:
        """How many cores one game keeps busy."""
        return self.experiment.threads * self.threads

    @property
    def command(self) -> str:
        """The command that the raw file names."""
        words = [self.name]
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

    def wanted(self, games: int | None) -> int:
        """Return how many games there shall be."""
        return games or self.experiment.games

    def at_once(self, concurrency: int | None) -> int:
        """Return how many games are played at a time: as many as the cores bear, or as was said."""
        return concurrency or max(1, usable_cores() // self.cores)

    def seconds(self, concurrency: int | None) -> float:
        """Return how long a game takes, before one was timed."""
        move = self.experiment.mean_milliseconds(self.milliseconds) / 1000
        return (PLIES * move + START_SECONDS) / self.at_once(concurrency)

    def next_block(self, size: int | None, most: int, folder: Path) -> MatchBlock:
        """Return the block that was broken off, or a new one; delete journals that are done with."""
        first = self.played() + 1
        for journal in sorted(folder.glob(f"{self.stem}-*.jsonl")):
            start, games = (int(number) for number in journal.stem.split("-")[-2:])
            if start == first:
                return MatchBlock(self, first, games, journal)
            if start < first:
                journal.unlink()
        games = min(size or self.experiment.block(self.milliseconds), most)
        return MatchBlock(self, first, games, folder / f"{self.stem}-{first}-{games}.jsonl")

    def result(self) -> str:
        """Describe the games, beside the paper's."""
        paper = self.experiment.paper
        beside = "" if paper is None else f"; the paper: {percent(paper)}"
        if not self.file.exists():
            return f"not yet played{beside}"
        row = match_of_games(self.games_file)
        games = f"{row.tally.games} of {self.experiment.games} games"
        return f"{row.tally} = {percent(row.tally)}, {row.elo} Elo, {games}{beside}"

    def about(self, whole: bool) -> list[str]:
        """Return its label, its result, its command and that of the paper's size."""
        experiment = self.experiment
        full = self.of(experiment, experiment.full_milliseconds, PAPER_THREADS, self.file.parent)
        return [
            f"{self.name}: {experiment.label}",
            f"  {self.result()}",
            f"  here  {self.command}",
            f"  full  {full.command} --games {experiment.games}",
            *([f"  {self.match}"] if whole else []),
        ]


class MatchBlock(NamedTuple):
    """Some games of a series, one `obscuro match`. first: the number of the first game, from 1."""

    series: MatchSeries
    first: int
    size: int
    journal: Path

    @property
    def is_begun(self) -> bool:
        """Whether there is a journal of some of its games."""
        return self.journal.exists()

    def play(self, concurrency: int | None) -> bool:
        """Play the games that are missing, and put all into the files; tell whether that went well.

        The journal stays if the block does not end. Raises KeyboardInterrupt after Ctrl-C or TERM.
        """
        series, experiment = self.series, self.series.experiment
        if OLD_ENGINE in (experiment.first.player, experiment.second.player):
            build_engine(OLD_COMMIT)
        self.journal.parent.mkdir(parents=True, exist_ok=True)
        at_once = series.at_once(concurrency)
        command = experiment.command(
            self.size,
            milliseconds=series.milliseconds,
            threads=series.threads,
            seed=self.first,
            concurrency=at_once,
        )
        pgn = self.journal.with_suffix(".pgn")
        pgn.unlink(missing_ok=True)
        files = ["--log", str(self.journal), "--pgn", str(pgn)]
        if run([str(ENGINE), *command[1:], *files]) != 0:
            return False
        self.add(pgn.read_text(encoding="utf-8"), at_once)
        pgn.unlink()
        self.journal.unlink()
        return True

    def add(self, text: str, at_once: int) -> None:
        """Add the games to those of the series; both files are replaced at the end.

        The rounds of *text* begin with 1, those of the file go on. Raises RawFileError if games are
        missing.
        """
        series = self.series
        numbers = sorted(int(number) for number in ROUND.findall(text))
        if numbers != list(range(1, self.size + 1)):
            raise raw.RawFileError(f"{self.journal}: rounds {numbers} of {self.size} games")
        text = ROUND.sub(lambda found: f'[Round "{int(found[1]) + self.first - 1}"]', text)
        older = ""
        if series.games_file.exists():
            with raw.open_text(series.games_file) as stream:
                older = stream.read()
        block = {
            "first": self.first,
            "games": self.size,
            "concurrency": at_once,
            "commit": raw.commit(),
            "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            "cpu": raw.machine()["cpu"],
        }
        data = {"match": series.match, "blocks": [*series.blocks(), block]}
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
    if not folder.exists():
        say(f"the engine of {commit} is made in {folder}")
        command = ["git", "-C", str(ROOT), "worktree", "add", "--force", "--detach"]
        subprocess.run([*command, str(folder), commit], check=True)
    if not (folder / ".venv").exists():
        (folder / ".venv").symlink_to(Path(sys.prefix))


# -- measurements -------------------------------------------------------------------------------


class ToolSeries(NamedTuple):
    """A measurement and its raw file, which the tool itself writes and goes on from."""

    measurement: Measurement
    file: Path

    @classmethod
    def of(cls, measurement: Measurement, store: Path) -> ToolSeries:
        """Return the series with its usual file in *store*."""
        return cls(measurement, store / f"{measurement.name.replace('-', '_')}.json")

    @property
    def name(self) -> str:
        """The measurement's name."""
        return self.measurement.name

    @property
    def stem(self) -> str:
        """The name of its file, without an ending."""
        return self.file.name.partition(".json")[0]

    @property
    def cores(self) -> int:
        """How many threads search."""
        return self.measurement.cores

    @property
    def command(self) -> str:
        """The command that the raw file names."""
        return f"python -m {shlex.join(self.measurement.words)}"

    def played(self) -> int:
        """Return how much there is: searches, or games that were played to their end."""
        if not self.file.exists():
            return 0
        data = raw.load(self.file).data
        return len(data["games"] if isinstance(data, dict) else data)

    def wanted(self, games: int | None) -> int:
        """Return how much there shall be, whatever is said of matches."""
        return self.measurement.wanted

    def seconds(self, concurrency: int | None) -> float:
        """Return how long one takes, before it was timed."""
        return self.measurement.seconds

    def next_block(self, size: int | None, most: int, folder: Path) -> ToolBlock:
        """Return the next block."""
        return ToolBlock(self, min(self.measurement.block, most))

    def result(self) -> str:
        """Say how much there is."""
        return f"{self.played()} of {self.measurement.wanted}"

    def about(self, whole: bool) -> list[str]:
        """Return its label, how much there is, and its command."""
        label = f"{self.name}: {self.measurement.label}"
        return [label, f"  {self.result()}", f"  here  {self.command}"]


class ToolBlock(NamedTuple):
    """A part of a measurement."""

    series: ToolSeries
    size: int

    @property
    def is_begun(self) -> bool:
        """The tool stores what it has; nothing is lost between two blocks."""
        return False

    def play(self, concurrency: int | None) -> bool:
        """Let the tool measure some more; tell whether that went well."""
        words = [*self.series.measurement.words, "--raw", str(self.series.file)]
        return run([sys.executable, "-m", *words, "--at-most", str(self.size)], quiet=True) == 0


Series: TypeAlias = MatchSeries | ToolSeries
"""Something of which there is more after each block."""
AnyBlock: TypeAlias = MatchBlock | ToolBlock
"""The next part of a series."""


# -- processes ----------------------------------------------------------------------------------


def run(command: Sequence[str], *, quiet: bool = False) -> int:
    """Run a program in a session of its own, so that only we interrupt it; returns its exit code.

    `python` in a player's command line is the Python that runs this. quiet: drop what it prints.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        start_new_session=True,
        stdout=subprocess.DEVNULL if quiet else None,
    )
    try:
        code = process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code
