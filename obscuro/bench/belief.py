"""`obscuro bench belief`: how fast a belief takes in the other side's moves, on recorded games.

Each recorded update is made several times from the same state, with one thread and with two in
turn, and nothing but the update is timed. docs/benchmarks.md says what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Console

from obscuro.belief import Belief, warm_up
from obscuro.bench import memory, python_chess
from obscuro.bench.belief_results import Measured, Summary, print_report, summary
from obscuro.bench.common import machine, peak_memory, progress
from obscuro.bench.recorded import (
    RecordedGame,
    RecordedUpdate,
    all_updates,
    quick_games,
    read_games,
)
from obscuro.bench.replay import Step, check, copy_of, new_belief, steps, take_in

SAMPLE = 64  # positions of each belief that python-chess is given
REPEAT, QUICK_REPEAT = 3, 1


def run(
    arguments: argparse.Namespace,
    *,
    games: Sequence[RecordedGame] | None = None,
    console: Console | None = None,
) -> int:
    """Measure, and print the results; returns the exit code. Raises BenchmarkError.

    games: instead of the recorded ones, or of a part of them with `--quick`.
    """
    begin = time.monotonic()
    console = console or Console(highlight=False, markup=False)
    if games is None:
        games = quick_games(read_games()) if arguments.quick else read_games()
    repeat = arguments.repeat or (QUICK_REPEAT if arguments.quick else REPEAT)
    measured = measure(games, repeat)
    numbers = {
        **summary(measured),
        **measure_memory(games, (1,) if arguments.quick else (1, 2)),
        "peak_rss_mib": peak_memory() / 2**20,
        "seconds": time.monotonic() - begin,
        "repeat": repeat,
        "quick": arguments.quick,
        "machine": machine(),
    }
    if arguments.json:
        console.print(json.dumps(numbers), soft_wrap=True)
    else:
        print_report(console, measured, numbers)
    return 0


def measure(games: Sequence[RecordedGame], repeat: int) -> list[Measured]:
    """Measure all updates of the games, telling on stderr how far it is. Raises BenchmarkError."""
    measured: list[Measured] = []
    with progress(sum(update.candidates for update in all_updates(games))) as tell:
        tell("loading", 0)
        warm_up()
        for number, game in enumerate(games):
            tell(f"game {number + 1} of {len(games)}: {game.name}", 0)
            for one in measure_game(game, repeat):
                measured.append(one)
                tell(None, one.update.candidates)
    return measured


def measure_game(game: RecordedGame, repeat: int) -> Iterator[Measured]:
    """Yield one game's updates, measured. Raises BenchmarkError if one isn't what it must be."""
    beliefs = (new_belief(game, threads=1), new_belief(game, threads=2))
    recorded = {update.ply: update for update in game.updates}
    try:
        for step in steps(game):
            update = recorded.get(step.ply)
            if update is not None:
                yield measure_update(game, update, step, beliefs, repeat)
            else:
                for belief in beliefs:
                    take_in(belief, step)
    finally:
        for belief in beliefs:
            belief.close()


def measure_update(
    game: RecordedGame,
    update: RecordedUpdate,
    step: Step,
    beliefs: tuple[Belief, Belief],
    repeat: int,
) -> Measured:
    """Make an update so often in copies of both beliefs, the last time in themselves."""
    parents = beliefs[0].sample(SAMPLE, np.random.default_rng(step.ply))
    runs: tuple[list[float], list[float]] = ([], [])
    stages: Counter[str] = Counter()
    for left in reversed(range(repeat)):
        for number, belief in enumerate(beliefs):
            subject = copy_of(belief) if left else belief
            seconds, spent = timed(subject, step)
            check(game, update, subject)
            runs[number].append(seconds)
            if number == 0:
                stages.update(spent)
    plain = python_chess.candidates_per_second(parents, step.observation, game.side)
    return Measured(game.name, update, runs, dict(stages), plain)


def timed(belief: Belief, step: Step) -> tuple[float, dict[str, float]]:
    """Make one update; return the seconds that it took, and of those each stage's."""
    before = stage_seconds(belief)
    begin = time.perf_counter()
    take_in(belief, step)
    seconds = time.perf_counter() - begin
    after = stage_seconds(belief)
    return seconds, {stage: after[stage] - before.get(stage, 0.0) for stage in after}


def stage_seconds(belief: Belief) -> dict[str, float]:
    """The seconds that the belief's updates have spent in each stage so far, as it counts them."""
    return dict(getattr(belief, "stage_seconds", {}))


def measure_memory(games: Sequence[RecordedGame], threads: Sequence[int]) -> Summary:
    """Bytes a position of the largest update to a million, with one thread and with two."""
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
