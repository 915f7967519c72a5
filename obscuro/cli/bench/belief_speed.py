"""`obscuro bench belief`: the speed of belief updates after the other side's moves.

The benchmark follows each recorded game several times with two beliefs, one with one thread and one
with two. Like the engine, they keep their memory from update to update. The benchmark times the
updates that the file of games lists. docs/benchmarks.md explains the numbers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from rich.console import Console

from obscuro.belief import Belief, warm_up
from obscuro.belief.buffers import Buffers
from obscuro.belief.update import reserve
from obscuro.cli.bench import peak_memory as memory
from obscuro.cli.bench import python_chess
from obscuro.cli.bench.belief_results import THREADS, MeasuredUpdate, Summary, print_report, summary
from obscuro.cli.bench.belief_stages import stage_seconds, test_seconds
from obscuro.cli.bench.belief_steps import Step, check, new_belief, steps, take_in
from obscuro.cli.bench.common import (
    ReportProgress,
    peak_memory,
    progress,
    publish,
    two_thread_arithmetic,
)
from obscuro.cli.bench.recorded import (
    RecordedGame,
    all_updates,
    parse_game,
    quick_games,
    read_games,
)
from obscuro.engine.options import MOST_POSITIONS

SAMPLE = 64  # python-chess gets this many positions of each belief
REPEAT, QUICK_REPEAT = 3, 1
WARMING = parse_game("warming up | white | startpos | e2e4 d7d6 | 1:1>13/20")


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
    console = console or Console(highlight=False, markup=False)
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
    return publish(numbers, arguments, begin, console, partial(print_report, console, measured))


def measure(games: Sequence[RecordedGame], repeat: int) -> list[MeasuredUpdate]:
    """Measure all updates of the games and show progress on stderr. Raises BenchmarkError."""
    buffers = [Buffers() for _ in THREADS]
    total = repeat * sum(update.candidates for update in all_updates(games))
    measured: list[MeasuredUpdate] = []
    with progress(total) as report:
        report("loading", 0)
        warm_up()
        for kept, threads in zip(buffers, THREADS, strict=True):
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

    buffers: the memory for the belief of each number of threads.
    """
    measured = {update.ply: MeasuredUpdate(game.name, update) for update in game.updates}
    for _ in range(repeat):
        beliefs = [
            new_belief(game, threads, kept) for threads, kept in zip(THREADS, buffers, strict=True)
        ]
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
    """Make an update in all beliefs and record its times."""
    if not measured.python_chess:
        parents = beliefs[0].sample(SAMPLE, np.random.default_rng(step.ply))
        speed = python_chess.candidates_per_second(parents, step.observation, game.side)
        measured.python_chess.append(speed)
    measured.stages["test"] += test_seconds(beliefs[0], step.observation)
    before = stage_seconds(beliefs[0])
    for belief, runs in zip(beliefs, measured.runs, strict=True):
        begin, worked = time.perf_counter(), time.process_time()
        take_in(belief, step)
        runs.append(time.perf_counter() - begin)
        if belief is beliefs[0]:
            measured.worked.append(time.process_time() - worked)
        check(game, measured.update, belief)
    for stage, seconds in stage_seconds(beliefs[0]).items():
        measured.stages[stage] += seconds - before.get(stage, 0.0)


def measure_memory(games: Sequence[RecordedGame], threads: Sequence[int]) -> Summary:
    """Measure the bytes for each position of the largest update to about a million positions.

    threads: the numbers of threads to measure with.
    """
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
        found[name] = memory.bytes_per_position(game, number)
    return found
