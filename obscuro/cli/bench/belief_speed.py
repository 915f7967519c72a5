"""`obscuro bench belief`: the speed of belief updates after the other side's moves.

The benchmark follows each recorded game several times with three beliefs: one with one thread, one
with two, and one with one thread that also weighs its positions. Like the engine, they keep their
memory from update to update. The benchmark times the updates that the file of games lists.
docs/benchmarks.md explains the numbers.

    python -m obscuro.cli.bench.belief_speed THREADS

measures memory in a process that does nothing else: it reads one recorded game on stdin, follows it
to its last update, and prints the bytes by which that update's peak exceeds the memory of the
process after loading all code.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from obscuro.belief import Belief, warm_up
from obscuro.belief.buffers import Buffers
from obscuro.belief.update import reserve
from obscuro.cli.bench.common import (
    KIBIBYTE,
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
from obscuro.cli.bench.recorded import (
    LARGEST,
    RecordedGame,
    RecordedUpdate,
    Step,
    all_updates,
    check,
    new_belief,
    parse_game,
    quick_games,
    read_games,
    steps,
    take_in,
)
from obscuro.engine.options import MOST_POSITIONS
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, to_fen

SAMPLE = 64  # python-chess gets this many positions of each belief
REPEAT, QUICK_REPEAT = 3, 1
WARMING = parse_game("warming up | white | startpos | e2e4 d7d6 | 1:1>13/20")

THREADS = (1, 2)
CLASSES = {  # |P| before the update, half-open intervals
    "1 k - 10 k": (1_000, 10_000),
    "10 k - 100 k": (10_000, 100_000),
    "100 k - 2 M": (100_000, LARGEST + 1),
}
COLUMNS = {  # of the table of classes: the number's key and its decimal places
    "updates": 0,
    "mcps": 1,
    "mcps_2": 1,
    "threads2_ratio": 2,
    "python_chess_mcps": 3,
    "times_python_chess": 0,
}
TWO_THREADS_FROM = 10_000  # |P| before; smaller updates end before a thread has started
MEGA = 1e6

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_CLEAR_PEAK = "5"  # see proc(5)

Words = npt.NDArray[np.uint64]


# -- measuring ----------------------------------------------------------------------------------


def run(
    arguments: argparse.Namespace,
    *,
    games: Sequence[RecordedGame] | None = None,
    console: Console | None = None,
) -> int:
    """Measure and print the results; return the exit code. Raises BenchmarkError.

    games: replace the recorded games, all of them or the part that `--quick` takes.
    """
    begin = time.monotonic()
    if games is None:
        games = quick_games(read_games()) if arguments.quick else read_games()
    repeat = arguments.repeat or (QUICK_REPEAT if arguments.quick else REPEAT)
    measured = measure(games, repeat)
    numbers = {
        **summary(measured),
        **measure_memory(games, THREADS[:1] if arguments.quick else THREADS),
        "threads2_arithmetic": two_thread_arithmetic(),
        "peak_rss_mib": peak_memory() / 2**20,
        "repeat": repeat,
    }
    return publish(numbers, arguments, begin, console, print_report)


def measure(games: Sequence[RecordedGame], repeat: int) -> list[MeasuredUpdate]:
    """Measure all updates of the games and show progress on stderr. Raises BenchmarkError."""
    buffers = [Buffers() for _ in THREADS] + [Buffers()]
    total = repeat * sum(update.candidates for update in all_updates(games))
    measured: list[MeasuredUpdate] = []
    with progress(total) as report:
        report("loading", 0)
        warm_up()
        for kept, threads in zip(buffers, (*THREADS, 1), strict=True):
            reserve(kept, MOST_POSITIONS, threads)
        measure_game(WARMING, 1, buffers, lambda what, done: None)
        for number, game in enumerate(games):
            report(f"game {number + 1} of {len(games)}: {game.name}", 0)
            measured += measure_game(game, repeat, buffers, report)
    return measured


def measure_game(
    game: RecordedGame, repeat: int, buffers: Sequence[Buffers], report: ReportProgress
) -> list[MeasuredUpdate]:
    """Follow a game `repeat` times. Raises BenchmarkError if an update has a wrong result.

    buffers: the memory for the belief of each number of threads, and for the weighted one.
    """
    measured = {update.ply: MeasuredUpdate(game.name, update) for update in game.updates}
    for _ in range(repeat):
        *plain, last = buffers
        beliefs = [
            new_belief(game, threads, kept) for threads, kept in zip(THREADS, plain, strict=True)
        ]
        beliefs.append(new_belief(game, 1, last, weighted=True))
        try:
            for step in steps(game):
                if step.ply in measured:
                    measure_update(game, measured[step.ply], step, beliefs)
                    report(None, measured[step.ply].update.candidates)
                else:
                    for belief in beliefs:
                        take_in(belief, step)
        finally:
            for belief in beliefs:
                belief.release()
                belief.close()
    return list(measured.values())


def measure_update(
    game: RecordedGame, measured: MeasuredUpdate, step: Step, beliefs: Sequence[Belief]
) -> None:
    """Make an update in all beliefs and record its times. The last one is weighted."""
    if not measured.python_chess:
        parents = beliefs[0].sample(SAMPLE, np.random.default_rng(step.ply))
        boards = [FogOfWarBoard(f"{to_fen(words)} 0 1") for words in parents]
        begin = time.perf_counter()
        candidates, _ = python_chess_update(boards, step.observation, game.side)
        speed = candidates / (time.perf_counter() - begin) / MEGA
        measured.python_chess.append(speed)
    for belief, runs in zip(beliefs, (*measured.runs, measured.weighted), strict=True):
        begin, worked = time.perf_counter(), time.process_time()
        take_in(belief, step)
        runs.append(time.perf_counter() - begin)
        if belief is beliefs[0]:
            measured.worked.append(time.process_time() - worked)
        check(game, measured.update, belief)


def measure_memory(games: Sequence[RecordedGame], threads: Sequence[int]) -> Summary:
    """Measure the bytes a position of the largest update to a million, for each of `threads`."""
    ways = [
        (update.positions, game.with_updates([update]))
        for game in games
        for update in game.updates
        if update.leads_to_a_million
    ]
    found: Summary = {"bytes_per_position": None, "bytes_per_position_2": None}
    if not ways:
        return found
    _, game = max(ways, key=lambda way: way[0])
    for number in threads:
        name = "bytes_per_position" if number == 1 else f"bytes_per_position_{number}"
        found[name] = bytes_per_position(game, number)
    return found


def python_chess_update(
    boards: Sequence[FogOfWarBoard], observation: Observation, side: int
) -> tuple[int, set[bytes]]:
    """Do a belief's update with python-chess, as fast as plain Python allows.

    It makes each candidate move on a board, rejects most by the pieces on the seen squares, and
    computes what is seen only for the rest. observation: of `side` after the move. Returns the
    number of candidates, and the bytes of each position that fits. The boards stay as they are.
    """
    seen, pieces = observation.seen, observation.boards
    color = side == 0
    candidates = 0
    found = set()
    for board in boards:
        for move in list(board.generate_pseudo_legal_moves()):
            candidates += 1
            board.push(move)
            if (
                board.occupied_co[chess.WHITE] & seen == pieces[-1]
                and board.pawns & seen == pieces[0]
                and board.knights & seen == pieces[1]
                and board.bishops & seen == pieces[2]
                and board.rooks & seen == pieces[3]
                and board.queens & seen == pieces[4]
                and board.kings & seen == pieces[5]
                and board.vision_mask(color) == seen
                and board.ep_target(color) == observation.en_passant
            ):
                found.add(from_board(board).tobytes())
            board.pop()
    return candidates, found


def two_thread_arithmetic() -> float:
    """Return two threads' speed over one's at work without memory: 1 if they share a core."""
    block = bytes(1 << 16)

    def work() -> None:
        digest = hashlib.blake2b()
        for _ in range(1500):
            digest.update(block)  # releases Python's lock

    def seconds(count: int) -> float:
        threads = [threading.Thread(target=work) for _ in range(count)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - begin

    pairs = [(seconds(1), seconds(2)) for _ in range(5)]
    return statistics.median(2 * one / two for one, two in pairs)


# -- memory -------------------------------------------------------------------------------------


def bytes_per_position(game: RecordedGame, threads: int) -> float:
    """Measure the peak memory of a game's last update, in bytes for each resulting position.

    It includes all memory above that of the loaded program. Raises BenchmarkError if the measuring
    process fails.
    """
    command = [sys.executable, "-P", "-m", "obscuro.cli.bench.belief_speed", str(threads)]
    result = subprocess.run(command, input=str(game), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise BenchmarkError(f"the process that measures memory failed: {lines[-1]}")
    return int(result.stdout) / game.updates[-1].positions


def peak_growth(game: RecordedGame, threads: int) -> int:
    """Follow a game to its last update in this process; return the growth at its peak in bytes.

    Raises BenchmarkError if the update has a wrong result.
    """
    warm_up()
    gc.collect()
    loaded = resident()
    last = game.updates[-1]
    belief = new_belief(game, threads)
    for step in steps(game):
        if step.ply == last.ply:
            forget_peak()
        take_in(belief, step)
    highest = peak()
    check(game, last, belief)
    belief.close()
    return highest - loaded


def resident() -> int:
    """Return the bytes of memory that this process holds now; its peak, if that is not known."""
    return _field("VmRSS") or peak_memory()


def peak() -> int:
    """Return the most bytes that this process has held, since `forget_peak` if that works."""
    return _field("VmHWM") or peak_memory()


def forget_peak() -> None:
    """Reset the process's peak. On a system that cannot, the peak covers the whole lifetime."""
    try:
        _CLEAR.write_text(_CLEAR_PEAK)
    except OSError:
        return


def _field(name: str) -> int | None:
    """Read one field of /proc/self/status in bytes; None if it does not exist."""
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * KIBIBYTE if match else None


# -- results ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasuredUpdate:
    """One update and its measurements."""

    game: str
    update: RecordedUpdate
    runs: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    """Seconds of each run, with one thread and with two."""
    worked: list[float] = field(default_factory=list)
    """CPU seconds of each run with one thread."""
    weighted: list[float] = field(default_factory=list)
    """Seconds of each run of the weighted belief."""
    python_chess: list[float] = field(default_factory=list)
    """python-chess's million candidates a second; one number."""

    def mcps(self, threads: int) -> float:
        """Return the speed in million candidates a second."""
        return self.update.candidates / self.seconds(threads) / MEGA

    def seconds(self, threads: int) -> float:
        """Return the median seconds of the update, with one thread or two."""
        return statistics.median(self.runs[threads - 1])

    @property
    def ratio(self) -> float:
        """The speed of two threads divided by the speed of one."""
        return self.seconds(1) / self.seconds(2)

    @property
    def weighted_times(self) -> float:
        """The time of the weighted update, in times of the plain one."""
        return statistics.median(self.weighted) / self.seconds(1)

    def million_seconds(self, threads: int) -> float:
        """Return the seconds for each million resulting positions."""
        return self.seconds(threads) * MEGA / self.update.positions


def class_numbers(grows: bool, name: str, measured: Sequence[MeasuredUpdate]) -> Summary:
    """Return the medians of one of CLASSES, of the updates in which P grows or those others."""
    least, below = CLASSES[name]
    members = [m for m in measured if m.update.grows == grows and least <= m.update.parents < below]
    return {
        "kind": "growing" if grows else "filtering",
        "least_parents": least,
        "below_parents": below,
        "updates": len(members),
        "mcps": median(m.mcps(1) for m in members),
        "mcps_2": median(m.mcps(2) for m in members),
        "threads2_ratio": median(m.ratio for m in members),
        "milliseconds": median(m.seconds(1) * 1000 for m in members),
        "python_chess_mcps": median(m.python_chess[0] for m in members),
        "times_python_chess": median(m.mcps(1) / m.python_chess[0] for m in members),
        "weighted_times": median(m.weighted_times for m in members),
    }


def summary(measured: Sequence[MeasuredUpdate]) -> Summary:
    """Return all numbers that follow from the times; None if nothing was measured for a number."""
    growing = [m for m in measured if m.update.grows]
    filtering = [m for m in measured if not m.update.grows]
    large = [m for m in growing if m.update.parents >= TWO_THREADS_FROM]
    million = [m for m in growing if m.update.leads_to_a_million]
    seconds = sum(sum(m.runs[0]) for m in measured)
    return {
        "growing_mcps": median(m.mcps(1) for m in growing),
        "filtering_mcps": median(m.mcps(1) for m in filtering),
        "threads2_ratio": median(m.ratio for m in large),
        "threads2_ratio_all": median(m.ratio for m in growing),
        "million_s": median(m.million_seconds(1) for m in million),
        "million_s_2": median(m.million_seconds(2) for m in million),
        "python_chess_mcps": median(m.python_chess[0] for m in measured),
        "weighted_times": median(m.weighted_times for m in growing),
        "cpu_share": sum(sum(m.worked) for m in measured) / seconds if seconds else None,
        "updates": {
            "growing": len(growing),
            "filtering": len(filtering),
            "threads2": len(large),
            "million": len(million),
        },
        "classes": [
            class_numbers(grows, name, measured) for grows in (True, False) for name in CLASSES
        ],
    }


def print_report(console: Console, numbers: Summary) -> None:
    """Print the table of classes, and lines with all other numbers below it."""
    table = Table(title="million candidates/s, medians", title_justify="left", box=None)
    table.add_column("|P| before")
    for heading in (
        "updates",
        "1 thread",
        "2 threads",
        "ratio",
        "python-chess",
        "times faster",
    ):
        table.add_column(heading, justify="right")
    classes = numbers["classes"]
    assert isinstance(classes, list)
    for row, found in enumerate(classes):
        if row % len(CLASSES) == 0:
            heading = "P grows" if found["kind"] == "growing" else "P shrinks"
            table.add_row(heading, style="bold")
        cells = (figure(found, key, places) for key, places in COLUMNS.items())
        table.add_row(list(CLASSES)[row % len(CLASSES)], *cells)
    console.print(table)
    console.print()
    text = partial(figure, numbers)
    bytes_2 = text("bytes_per_position_2")
    lines = (
        ("growing", text("growing_mcps", 1, " million candidates/s")),
        ("filtering", text("filtering_mcps", 1, " million candidates/s")),
        ("two threads", text("threads2_ratio", 2, f" x one, from {TWO_THREADS_FROM:,} positions")),
        ("(two at pure arithmetic)", text("threads2_arithmetic", 2, " x one on this machine")),
        (
            "a million positions",
            f"{text('million_s', 2)} s, with two threads {text('million_s_2', 2)} s",
        ),
        (
            "weighing the positions",
            text("weighted_times", 2, " x the time of an update that grows"),
        ),
        ("bytes a position", f"{text('bytes_per_position')}, with two threads {bytes_2}"),
        ("python-chess", text("python_chess_mcps", 3, " million candidates/s")),
        ("peak memory of this run", text("peak_rss_mib", 0, " MiB")),
        ("this run", text("seconds", 0, " s")),
    )
    print_lines(console, lines, 28)
    note_if_busy(console, numbers, "the runs with one thread")


if __name__ == "__main__":
    print(peak_growth(parse_game(sys.stdin.read().strip()), int(sys.argv[1])))
