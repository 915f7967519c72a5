"""`obscuro bench eval`: the speed of the evaluators, and how far they agree.

All measurements use the same 400 positions, which come from searches in self-play
(`eval_positions.txt`). docs/benchmarks.md explains the numbers.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
from rich.console import Console

from obscuro.cli.bench.common import (
    BenchmarkError,
    ReportProgress,
    digits,
    figure,
    median,
    note_if_busy,
    progress,
    publish,
)
from obscuro.cli.bench.eval_nnue import agreement, bench_positions, measure_nnue, nnue_values
from obscuro.cli.bench.eval_stockfish import (
    KILO,
    StockfishSpeed,
    measure_stockfish,
    stockfish_values,
)
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.search.parameters import BATCH

QUICK_POSITIONS = 100
REPEAT, QUICK_REPEAT = 15, 5

Words = npt.NDArray[np.uint64]


@dataclass
class EvaluatorFigures:
    """All results. A figure is None if it could not be measured; `reasons` says why."""

    positions: int
    stockfish: StockfishSpeed | None = None
    material_kcps: float | None = None
    nnue_searched_kcps: float | None = None
    nnue_static_kcps: float | None = None
    rank_correlation: float | None = None
    regret: float | None = None
    slope: float | None = None
    reasons: list[str] = field(default_factory=list)

    def numbers(self) -> dict[str, object]:
        """Return the results for the JSON."""
        speed = self.stockfish
        return {
            "stockfish_efficiency": speed.efficiency if speed else None,
            "stockfish_kcps": speed.whole_kcps if speed else None,
            "stockfish_alone_kcps": speed.alone_kcps if speed else None,
            "stockfish_batch_efficiency": speed.batched_efficiency if speed else None,
            "stockfish_batch_kcps": speed.batched_kcps if speed else None,
            "stockfish_version": speed.name if speed else None,
            "stockfish_positions": speed.positions if speed else None,
            "stockfish_children": speed.children if speed else None,
            "nnue_searched_kcps": self.nnue_searched_kcps,
            "nnue_static_kcps": self.nnue_static_kcps,
            "rank_correlation": self.rank_correlation,
            "regret": self.regret,
            "slope": self.slope,
            "material_kcps": self.material_kcps,
            "batch": BATCH,
            "positions": self.positions,
            "cpu_share": speed.cpu_share if speed else None,
            "missing": self.reasons,
        }


def run(
    arguments: argparse.Namespace,
    *,
    positions: Words | None = None,
    stockfish: str | None = None,
    console: Console | None = None,
) -> int:
    """Measure and print the results; return the exit code. Raises BenchmarkError.

    positions: uint64[n, 8], replaces the recorded ones. stockfish: the path of the program,
    replaces the one that the search for Stockfish finds.
    """
    begin = time.monotonic()
    console = console or Console(highlight=False, markup=False)
    if positions is None:
        positions = bench_positions()[: QUICK_POSITIONS if arguments.quick else None]
    repeat = arguments.repeat or (QUICK_REPEAT if arguments.quick else REPEAT)
    measured = measure(positions, repeat, stockfish)
    numbers = {**measured.numbers(), "repeat": repeat}
    return publish(numbers, arguments, begin, console, partial(print_report, console, measured))


def measure(positions: Words, repeat: int, stockfish: str | None = None) -> EvaluatorFigures:
    """Measure all evaluators of this machine on uint64[n, 8] and show progress on stderr."""
    measured = EvaluatorFigures(len(positions))
    with progress(repeat + 2) as report:
        report("Stockfish", 0)
        try:
            measured.stockfish = measure_stockfish(positions, repeat, report, stockfish)
        except BenchmarkError as error:
            measured.reasons.append(f"no numbers of Stockfish: {error}")
        measured.material_kcps = measure_material(positions, repeat, report)
        try:
            measure_network(positions, repeat, stockfish, measured, report)
        except BenchmarkError as error:
            measured.reasons.append(f"no numbers of the network: {error}")
    return measured


def measure_material(positions: Words, repeat: int, report: ReportProgress) -> float | None:
    """Measure `material` on uint64[n, 8] in batches of a search's size: thousand children/s."""
    report("material", 0)
    evaluator = MaterialEvaluator()
    children = len(evaluator.evaluate(positions).values)
    speeds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        for start in range(0, len(positions), BATCH):
            evaluator.evaluate(positions[start : start + BATCH])
        speeds.append(children / (time.perf_counter() - begin) / KILO)
    report(None, 1)
    return median(speeds)


def measure_network(
    positions: Words,
    repeat: int,
    stockfish: str | None,
    measured: EvaluatorFigures,
    report: ReportProgress,
) -> None:
    """Measure Stockfish's network in this process and its agreement with Stockfish.

    positions: uint64[n, 8]. measured: receives the results, also those before an error. Raises
    BenchmarkError without a network or without Stockfish.
    """
    report("the network", 0)
    speed = measure_nnue(positions, repeat, stockfish)
    measured.nnue_searched_kcps = speed.searched_kcps
    measured.nnue_static_kcps = speed.static_kcps
    found = agreement(
        positions, stockfish_values(positions, stockfish), nnue_values(positions, stockfish)
    )
    measured.rank_correlation, measured.regret, measured.slope = found
    report(None, 1)


def print_report(console: Console, measured: EvaluatorFigures, numbers: dict[str, object]) -> None:
    """Print a line for each number and a line for each reason why numbers are missing."""

    def line(what: str, value: float | None, places: int, after: str) -> None:
        if value is not None:
            console.print(f"{what:<34}{digits(value, places):>9} {after}".rstrip(), soft_wrap=True)

    speed = measured.stockfish
    per_second = "thousand children/s"
    if speed is not None:
        console.print(
            f"{speed.name}, MultiPV at depth 1: {speed.positions} of {measured.positions} "
            f"positions, {speed.children:,} children",
            soft_wrap=True,
        )
        line("the process, answers discarded", speed.alone_kcps, 1, per_second)
        line("with values", speed.whole_kcps, 1, per_second)
        line("efficiency", speed.efficiency, 3, "")
        line(f"with values, batches of {BATCH}", speed.batched_kcps, 1, per_second)
        line("efficiency", speed.batched_efficiency, 3, "")
        console.print()
    line("material", measured.material_kcps, 1, per_second)
    line("network, with a search", measured.nnue_searched_kcps, 1, per_second)
    line("network, static", measured.nnue_static_kcps, 1, per_second)
    line("rank correlation with Stockfish", measured.rank_correlation, 3, "")
    line("regret by Stockfish's values", measured.regret, 4, "")
    line("slope of Stockfish's values", measured.slope, 3, "")
    for reason in measured.reasons:
        console.print(reason, soft_wrap=True)
    console.print(f"{'this run':<34}{figure(numbers, 'seconds', 1):>9} s", soft_wrap=True)
    if speed is not None:
        note_if_busy(console, speed.cpu_share, "Stockfish alone")
