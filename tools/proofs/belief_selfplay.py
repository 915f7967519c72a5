"""Self-play games in which the true position is looked for in the beliefs of both sides.

    python -m tools.proofs.belief_selfplay --games 1000 --report docs/results/belief_selfplay.md

The engine plays itself, by its `material` evaluator, both sides in one process and each in one
thread; several processes play at a time. At each turn of a side, after the belief has been brought up
to date on the clock, the true position is looked for in it. If the belief says that it is exact and
the true position is missing, that is a failure: the exit status is 1, and the report shows the game.
With --patient the belief is brought up to date beside the clock, however long it takes, so that it
stays exact up to --max-positions.

Writes a report in Markdown: how large beliefs became, how long they took, and how much memory. Ctrl-C
writes what there is.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import os
import resource
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import NamedTuple

import chess
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from obscuro import __version__
from obscuro.arena.game_record import Turn
from obscuro.arena.referee import play_game
from obscuro.arena.time_control import Allowance
from obscuro.board.position import from_board
from obscuro.engine.constants import BELIEF_SHARE
from obscuro.engine.options import OPTIONS, Options
from obscuro.engine.player import Player
from obscuro.engine.turn_time import turn_time
from obscuro.fog.account import last_ply
from obscuro.fog.board import FogOfWarBoard
from tools.play.first_light import machine, table_head

BOUNDS = (10**4, 10**5, 10**6)
QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)
BAR = 50  # characters of the longest bar
BARS_A_DECADE = 2


class Settings(NamedTuple):
    """How games are played."""

    movetime: int  # milliseconds
    overhead: int  # milliseconds
    max_positions: int
    max_plies: int
    seed: int
    patient: bool


class Look(NamedTuple):
    """One turn of one side, when its belief has been brought up to date."""

    before: int  # |P| at the turn before
    size: int
    exact: bool
    there: bool  # whether the true position was in P
    update_seconds: float
    move_seconds: float


class Played(NamedTuple):
    """What came of a game."""

    number: int
    plies: int
    ending: str
    winner: chess.Color | None
    looks: list[Look]
    rebuilds: int
    failures: list[str]
    peak: int  # bytes of memory that its process had at most


# -- playing --------------------------------------------------------------------------------


class WatchedPlayer:
    """The engine as a contestant, whose belief is looked at in each of its turns."""

    def __init__(self, settings: Settings) -> None:
        self.name = "obscuro"
        self.looks: list[Look] = []
        self.failures: list[str] = []
        self._settings = settings
        self._color = chess.WHITE
        self._options = Options()
        for name, value in (
            ("Evaluator", "material"),
            ("Threads", 1),
            ("Move Overhead", settings.overhead),
            ("Max Positions", settings.max_positions),
        ):
            self._options.set(name, str(value))
        self._player = Player(self._options, lambda text: None)
        self._player.prepare()

    @property
    def rebuilds(self) -> int:
        """How often the belief was rebuilt in this game."""
        return self._player.belief_rebuilds

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start afresh."""
        self.looks, self.failures = [], []
        self._color = color
        self._options.set("Seed", str(seed + 1))
        self._player.set_options(self._options)
        self._player.new_game(0 if color == chess.WHITE else 1, from_board(board))

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Update and search as the engine does, on one clock; then look."""
        player, patient = self._player, self._settings.patient
        before = player.belief_size
        begin = time.monotonic()
        limits = allowance.limits(begin)
        side = 0 if self._color == chess.WHITE else 1
        turn = turn_time(limits, side, self._settings.overhead)
        assert turn is not None
        player.update(None if patient else begin + BELIEF_SHARE * (turn.deadline - begin))
        updated = time.monotonic()
        choice = player.search(replace(limits, received=updated) if patient else limits, Event())
        done = time.monotonic()
        seconds = done - (updated if patient else begin)
        look = Look(
            before,
            player.belief_size,
            player.belief_exact,
            player.belief_contains(from_board(board)),
            updated - begin,
            seconds,
        )
        self.looks.append(look)
        if look.exact and not look.there:
            moves = " ".join(move.uci() for move in board.move_stack)
            self.failures.append(
                f"{chess.COLOR_NAMES[self._color]} has lost {board.epd(en_passant='legal')} among "
                f"{look.size:,} positions: position startpos moves {moves}"
            )
        return Turn(choice.move or "(none)", seconds)

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Pass on what this side sees."""
        last_ply(board, self._color).tell(self._player)

    def close(self) -> None:
        """Close the engine."""
        self._player.close()


@functools.cache
def players(settings: Settings) -> tuple[WatchedPlayer, WatchedPlayer]:
    """Two players, made once in a process."""
    return WatchedPlayer(settings), WatchedPlayer(settings)


def play(number: int, settings: Settings) -> Played:
    """Play one game; an error in it is a failure."""
    both = players(settings)
    board = FogOfWarBoard()
    ending, winner, errors = "error", None, []
    try:
        record = play_game(
            *both,
            movetime=settings.movetime,
            seed=settings.seed + number,
            max_plies=settings.max_plies,
            board=board,
        )
        ending, winner = record.ending, record.winner
    except Exception:
        errors.append(f"{traceback.format_exc()} after {board.epd()}")
    failures = [failure for player in both for failure in player.failures[:1]]
    return Played(
        number,
        len(board.move_stack),
        ending,
        winner,
        [look for player in both for look in player.looks],
        sum(player.rebuilds for player in both),
        [f"game {number + 1}: {failure}" for failure in failures + errors],
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def play_all(games: int, processes: int, settings: Settings) -> Iterator[Played]:
    """Yield the games as they end."""
    if processes == 1:
        for number in range(games):
            yield play(number, settings)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as executor:
        futures = [executor.submit(play, number, settings) for number in range(games)]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            executor.shutdown(cancel_futures=True)


# -- the report -----------------------------------------------------------------------------


def report(games: list[Played], settings: Settings, wanted: int) -> Iterator[str]:
    """Yield the lines of the report, in Markdown."""
    yield from ("# The belief in self-play", "")
    hurry = "beside the clock" if settings.patient else "on the clock"
    yield (
        f"Obscuro {__version__} against itself: {len(games):,} games at {settings.movetime} ms a "
        f"move, values by `material`, one thread, at most {settings.max_positions:,} positions, "
        f"the belief brought up to date {hurry}."
    )
    if len(games) < wanted:
        yield from ("", f"Broken off: {len(games):,} of {wanted:,} games were played.")
    yield from ("", "Made by", "", "```")
    yield " ".join(["python -m tools.proofs.belief_selfplay", *sys.argv[1:]])
    yield from ("```", "")
    yield from (f"- {fact}" for fact in machine())
    looks = [look for game in games for look in game.looks]
    failures = [failure for game in games for failure in game.failures]
    if failures:
        yield from ("", "## Failures", "")
        yield from (f"- {failure}" for failure in failures)
    if looks:
        yield from ("", "## Summary", "", *summary(games, looks))
        yield from ("", "## Size", "", *sizes(games), "")
        yield from ("Turns by \\|P\\|:", "", "```", *histogram([look.size for look in looks]))
        yield from ("```", "", "## Time", "", *times(looks, settings.movetime))


def summary(games: list[Played], looks: list[Look]) -> Iterator[str]:
    """Yield a table of everything together."""
    exact = [look for look in looks if look.exact]
    inexact = [look for look in looks if not look.exact]
    score = sum(0.5 if game.winner is None else float(game.winner) for game in games)
    slowest = max(looks, key=lambda look: look.update_seconds)
    found = sum(look.there for look in exact)
    kept = sum(look.there for look in inexact)
    all_sizes = [look.size for look in looks]
    rows = {
        "games": f"{len(games):,}",
        "plies a game": f"{sum(game.plies for game in games) / len(games):.1f}",
        "White's score": f"{100 * score / len(games):.1f} %",
        "looks (turns of either side)": f"{len(looks):,}",
        "exact": f"{len(exact):,} ({percent(len(exact), len(looks))})",
        "true position in P while exact": f"{found:,} of {len(exact):,}",
        "true position in P while not exact": f"{kept:,} of {len(inexact):,}",
        "rebuilds": f"{sum(game.rebuilds for game in games):,}, in "
        f"{sum(game.rebuilds > 0 for game in games):,} games",
        "mean / median / largest \\|P\\|": f"{np.mean(all_sizes):,.0f} / "
        f"{np.median(all_sizes):,.0f} / {max(all_sizes):,}",
        "longest update": f"{1000 * slowest.update_seconds:,.1f} ms, \\|P\\| from "
        f"{slowest.before:,} to {slowest.size:,}",
        "largest memory of a process (two engines)": f"{max(game.peak for game in games) / 2**20:,.0f} MiB",
    }
    yield from table_head(["", ""])
    yield from (f"| {name} | {value} |" for name, value in rows.items())


def sizes(games: list[Played]) -> Iterator[str]:
    """Yield a table of how often P passed certain sizes."""
    count = sum(len(game.looks) for game in games)
    yield from table_head(["|P| above", "turns", "games"])
    for bound in BOUNDS:
        turns = sum(look.size > bound for game in games for look in game.looks)
        within = sum(any(look.size > bound for look in game.looks) for game in games)
        yield (
            f"| {bound:,} | {turns:,} ({percent(turns, count)}) "
            f"| {within:,} ({percent(within, len(games))}) |"
        )


def histogram(numbers: list[int]) -> Iterator[str]:
    """Yield bars of how many numbers lie in each part of a decade."""
    bins = np.floor(np.log10(np.maximum(numbers, 1)) * BARS_A_DECADE).astype(int)
    counts = np.bincount(bins)
    for part, count in enumerate(counts.tolist()):
        bar = "█" * round(BAR * count / int(counts.max())) or ("▏" if count else "")
        yield f"{10 ** (part / BARS_A_DECADE):>11,.0f} {count:>8,} {bar}"


def times(looks: list[Look], movetime: int) -> Iterator[str]:
    """Yield tables of how long updates took, and by how much moves overran their time."""
    yield "What was worked off at a turn: our own move, the other side's, and what we saw."
    yield ""
    headings = [f"{100 * quantile:g} %" for quantile in QUANTILES[:-1]]
    yield from table_head(["larger |P|, before or after", "turns", *headings, "longest, ms"])
    lowest = 0
    for bound in (*BOUNDS, sys.maxsize):
        group = [look for look in looks if lowest <= max(look.before, look.size) < bound]
        if group:
            values = [1000 * look.update_seconds for look in group]
            cells = " | ".join(f"{value:,.1f}" for value in np.quantile(values, QUANTILES))
            yield f"| from {lowest:,} | {len(group):,} | {cells} |"
        lowest = bound
    overruns = [1000 * look.move_seconds - movetime for look in looks]
    late = sum(overrun > 0 for overrun in overruns)
    yield from ("", f"Overrun of the {movetime} ms of a move (negative: early):", "")
    yield from table_head(["late", *headings, "most, ms"])
    cells = " | ".join(f"{value:,.1f}" for value in np.quantile(overruns, QUANTILES))
    yield f"| {late:,} ({percent(late, len(looks))}) | {cells} |"


def percent(part: int, whole: int) -> str:
    """A share for a table."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


# -- running --------------------------------------------------------------------------------


def main() -> int:
    """Play, and write the report; returns the exit status."""
    options = parse_arguments()
    settings = Settings(
        options.movetime,
        options.overhead,
        options.max_positions,
        options.max_plies,
        options.seed,
        options.patient,
    )
    console = Console(highlight=False, markup=False)
    games: list[Played] = []
    options.report.parent.mkdir(parents=True, exist_ok=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("games"), TimeRemainingColumn())
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=options.games)
            for game in play_all(options.games, options.processes, settings):
                games.append(game)
                progress.update(task, advance=1)
                for failure in game.failures:
                    console.print(failure, soft_wrap=True)
                if not console.is_terminal and len(games) % 50 == 0:
                    console.print(f"{len(games)} of {options.games} games")
    except KeyboardInterrupt:
        console.print("broken off")
    games.sort()
    options.report.write_text(
        "\n".join(report(games, settings, options.games)) + "\n", encoding="utf-8"
    )
    console.print(f"{options.report} is written.", soft_wrap=True)
    if any(game.failures for game in games):
        return 1
    return 0 if len(games) == options.games else 130


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    positions = next(option for option in OPTIONS if option.name == "Max Positions")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--movetime", type=int, default=20, help="milliseconds a move")
    parser.add_argument("--overhead", type=int, default=0, help="milliseconds kept back of these")
    parser.add_argument("--max-positions", type=int, default=positions.default)
    parser.add_argument("--max-plies", type=int, default=600, help="longest game")
    parser.add_argument("--patient", action="store_true", help="update beside the clock")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--report", type=Path, default=Path("belief_selfplay.md"), metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
