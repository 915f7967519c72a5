"""`obscuro bench eval`: how fast the evaluators are, and how far they agree.

All on the same 400 positions, which self-play has asked about (`eval_positions.txt`).
docs/benchmarks.md says what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from rich.console import Console

from obscuro.bench.common import BenchmarkError, Tell, digits, machine, median, progress
from obscuro.bench.eval_nnue import agreement, bench_positions, measure_nnue, nnue_values
from obscuro.bench.eval_stockfish import (
    KILO,
    StockfishSpeed,
    measure_stockfish,
    stockfish_values,
)
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.search.parameters import BATCH

QUICK_POSITIONS = 100
REPEAT, QUICK_REPEAT = 15, 5
LEAST_CPU_SHARE = 0.95  # with less, the machine was busy with something else

Words = npt.NDArray[np.uint64]


@dataclass
class EvaluatorFigures:
    """Everything; None where it could not be measured, for one of the reasons."""

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
        """What the JSON says of it."""
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
    """Measure, and print the results; returns the exit code. Raises BenchmarkError.

    positions, stockfish: instead of the recorded ones, and of the Stockfish that is found.
    """
    begin = time.monotonic()
    console = console or Console(highlight=False, markup=False)
    if positions is None:
        positions = bench_positions()[: QUICK_POSITIONS if arguments.quick else None]
    repeat = arguments.repeat or (QUICK_REPEAT if arguments.quick else REPEAT)
    measured = measure(positions, repeat, stockfish)
    numbers = {
        **measured.numbers(),
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


def measure(positions: Words, repeat: int, stockfish: str | None = None) -> EvaluatorFigures:
    """Measure all that there is on this machine, telling on stderr how far it is."""
    measured = EvaluatorFigures(len(positions))
    with progress(repeat + 2) as tell:
        tell("Stockfish", 0)
        try:
            measured.stockfish = measure_stockfish(positions, repeat, tell, stockfish)
        except BenchmarkError as error:
            measured.reasons.append(f"no numbers of Stockfish: {error}")
        measured.material_kcps = measure_material(positions, repeat, tell)
        try:
            measure_network(positions, repeat, stockfish, measured, tell)
        except BenchmarkError as error:
            measured.reasons.append(f"no numbers of the network: {error}")
    return measured


def measure_material(positions: Words, repeat: int, tell: Tell) -> float | None:
    """Thousand children a second of `material`, in batches as in a search."""
    tell("material", 0)
    evaluator = MaterialEvaluator()
    children = len(evaluator.evaluate(positions).values)
    speeds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        for start in range(0, len(positions), BATCH):
            evaluator.evaluate(positions[start : start + BATCH])
        speeds.append(children / (time.perf_counter() - begin) / KILO)
    tell(None, 1)
    return median(speeds)


def measure_network(
    positions: Words, repeat: int, stockfish: str | None, measured: EvaluatorFigures, tell: Tell
) -> None:
    """Measure Stockfish's network in this process, and how far it agrees with Stockfish.

    Raises BenchmarkError where there is none; what could be measured is in `measured`.
    """
    tell("the network", 0)
    speed = measure_nnue(positions, repeat, stockfish)
    measured.nnue_searched_kcps = speed.searched_kcps
    measured.nnue_static_kcps = speed.static_kcps
    found = agreement(
        positions, stockfish_values(positions, stockfish), nnue_values(positions, stockfish)
    )
    measured.rank_correlation, measured.regret, measured.slope = found
    tell(None, 1)


def print_report(console: Console, measured: EvaluatorFigures, numbers: dict[str, object]) -> None:
    """Print a line for each number, and what is missing."""

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
        line("the process, answers thrown away", speed.alone_kcps, 1, per_second)
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
    console.print(f"{'this run':<34}{digits(_number(numbers['seconds']), 1):>9} s", soft_wrap=True)
    if speed is not None and speed.cpu_share < LEAST_CPU_SHARE:
        console.print(
            f"\nThe machine was busy: Stockfish alone had {speed.cpu_share:.0%} of a core. "
            "On an idle one the numbers are better.",
            soft_wrap=True,
        )


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
