"""`obscuro bench eval`: the speed of the evaluators, and how far they agree.

All measurements use the same 400 positions, which come from searches in self-play
(`eval_positions.txt`). docs/benchmarks.md explains the numbers.

Stockfish's process gets the same requests from two clients, and forgets all searches before each
round. Alone: a client sends all requests in one stream, reads the answers in large pieces and
discards them. With the evaluator: all positions in a single batch, and in batches of a search's
size.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console

from obscuro.child_process import ChildProcess, vitals
from obscuro.cli.bench.common import (
    BenchmarkError,
    ReportProgress,
    Summary,
    figure,
    median,
    note_if_busy,
    progress,
    publish,
)
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator
from obscuro.evaluation.stockfish.process import (
    HASH_MEGABYTES,
    READ_BYTES,
    enlarge_pipe,
)
from obscuro.evaluation.stockfish.requests import REQUEST_BYTES, write_lists
from obscuro.evaluation.stockfish.stockfish_evaluator import ALL_MOVES, StockfishEvaluator
from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.rules.position import from_fen
from obscuro.rules.tables import TABLES
from obscuro.search.parameters import BATCH

POSITIONS_FILE = Path(__file__).with_name("eval_positions.txt")
QUICK_POSITIONS = 100
REPEAT, QUICK_REPEAT = 15, 5
KILO = 1e3
FEWEST = 4  # the least number of undecided children for a correlation
INNER = 0.9  # the slope leaves out larger values, which the scale to [-1, 1] flattens

_ANSWER = b"\nbestmove"
_READ_INTERVAL = 0.001  # seconds between two reads: few reads, and the pipe never fills
_FORGET = b"ucinewgame\nposition startpos\ngo depth 1\n"

Words = npt.NDArray[np.uint64]

_STOCKFISH = (
    *("stockfish_efficiency", "stockfish_kcps", "stockfish_alone_kcps"),
    *("stockfish_batch_efficiency", "stockfish_batch_kcps", "stockfish_version"),
    *("stockfish_positions", "stockfish_children", "cpu_share"),
)
_NETWORK = ("nnue_searched_kcps", "nnue_static_kcps", "rank_correlation", "regret", "slope")


def run(
    arguments: argparse.Namespace,
    *,
    positions: Words | None = None,
    stockfish: str | None = None,
    console: Console | None = None,
) -> int:
    """Measure and print the results; return the exit code. Raises BenchmarkError.

    positions: uint64[n, 8], replace the recorded ones. stockfish: the program's path.
    """
    begin = time.monotonic()
    if positions is None:
        positions = bench_positions()[: QUICK_POSITIONS if arguments.quick else None]
    repeat = arguments.repeat or (QUICK_REPEAT if arguments.quick else REPEAT)
    numbers = {**measure(positions, repeat, stockfish), "repeat": repeat}
    return publish(numbers, arguments, begin, console, print_report)


def measure(positions: Words, repeat: int, stockfish: str | None = None) -> Summary:
    """Measure all evaluators of this machine on uint64[n, 8] and show progress on stderr.

    A number that could not be measured is None, and `missing` says why.
    """
    reasons: list[str] = []
    numbers: Summary = dict.fromkeys((*_STOCKFISH, *_NETWORK))
    with progress(repeat + 2) as report:
        report("Stockfish", 0)
        try:
            numbers |= measure_stockfish(positions, repeat, report, stockfish)
        except BenchmarkError as error:
            reasons.append(f"no numbers of Stockfish: {error}")
        report("material", 0)
        material = MaterialEvaluator()
        children = len(material.evaluate(positions).values)
        seconds = [_seconds(material.evaluate, positions, BATCH) for _ in range(repeat)]
        numbers["material_kcps"] = _thousands(children, seconds)
        report("the network", 1)
        try:
            numbers |= measure_network(positions, repeat, stockfish)
            numbers |= agreement(
                positions,
                stockfish_values(positions, stockfish),
                nnue_values(positions, stockfish),
            )
        except BenchmarkError as error:
            reasons.append(f"no numbers of the network: {error}")
        report(None, 1)
    return {**numbers, "batch": BATCH, "positions": len(positions), "missing": reasons}


def bench_positions(path: Path = POSITIONS_FILE) -> Words:
    """Read the recorded positions, uint64[n, 8], from a file of FENs without counters."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return np.array([from_fen(f"{line} 0 1") for line in lines], dtype=np.uint64)


def _seconds(evaluate: Callable[[Words], object], positions: Words, batch: int) -> float:
    """Measure the seconds to evaluate uint64[n, 8] in batches, one after the other."""
    begin = time.perf_counter()
    for start in range(0, len(positions), batch):
        evaluate(positions[start : start + batch])
    return time.perf_counter() - begin


def _thousands(children: int, seconds: list[float]) -> float | None:
    """Return the median of thousand children a second, over rounds of `seconds`."""
    return median(children / one / KILO for one in seconds)


# -- Stockfish --------------------------------------------------------------------------------


class BareStockfish:
    """A client that sends requests in a stream, counts the answers and discards them."""

    def __init__(self, path: str) -> None:
        self._child = ChildProcess(path)
        enlarge_pipe(self._child.output)
        self._write(
            b"setoption name Threads value 1\nsetoption name Hash value %d\n"
            b"setoption name MultiPV value %d\n" % (HASH_MEGABYTES, ALL_MOVES)
        )
        self.forget()

    @property
    def cpu_seconds(self) -> float:
        """The CPU seconds that the process has had so far."""
        found = vitals(self._child.pid)
        return found.cpu_seconds if found else 0.0

    def forget(self) -> None:
        """Make the process forget all searches."""
        self.run(_FORGET, 1)

    def run(self, requests: bytes, answers: int) -> None:
        """Send requests and wait for all answers.

        Raises BenchmarkError if the process exits first.
        """
        writer = threading.Thread(target=self._write, args=(requests,))
        writer.start()
        tail = b""
        while answers:
            time.sleep(_READ_INTERVAL)
            text = os.read(self._child.output, READ_BYTES)
            if not text:
                raise BenchmarkError("Stockfish exited before its last answer")
            answers -= (tail + text).count(_ANSWER)
            tail = text[1 - len(_ANSWER) :]
        writer.join()

    def _write(self, requests: bytes) -> None:
        rest = memoryview(requests)
        with contextlib.suppress(BrokenPipeError):  # the reader of the answers reports it
            while rest:
                rest = rest[os.write(self._child.input, rest) :]

    def close(self) -> None:
        """End the process."""
        self._child.close()


def measure_stockfish(
    positions: Words, repeat: int, report: ReportProgress, path: str | None = None
) -> Summary:
    """Measure the process alone and with the evaluator, alternately, in `repeat` rounds.

    positions: uint64[n, 8]; the measurement skips those that Stockfish cannot take. report: called
    after each round. Raises BenchmarkError if Stockfish is not installed or fails.
    """
    program = stockfish_path(path)
    if program is None:
        raise BenchmarkError("Stockfish is not installed")
    positions, requests = _requests(positions)
    evaluator = StockfishEvaluator(program, search_dominated=False)
    alone: list[float] = []
    batched: list[float] = []
    whole: list[float] = []
    worked = 0.0
    try:
        evaluator.start()
        with contextlib.closing(BareStockfish(program)) as bare:
            children = len(evaluator.evaluate(positions).values)
            for _ in range(repeat):
                bare.forget()
                before, begin = bare.cpu_seconds, time.perf_counter()
                bare.run(requests, len(positions))
                alone.append(time.perf_counter() - begin)
                worked += bare.cpu_seconds - before
                for seconds, batch in ((batched, BATCH), (whole, len(positions))):
                    evaluator.forget()
                    evaluator.evaluate(positions[:1])
                    seconds.append(_seconds(evaluator.evaluate, positions, batch))
                report(None, 1)
        name = evaluator.engine_name or "?"
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None
    finally:
        evaluator.close()
    return {
        **efficiencies(children, alone, batched, whole),
        "stockfish_version": name,
        "stockfish_positions": len(positions),
        "stockfish_children": children,
        "cpu_share": min(1.0, worked / sum(alone)),
    }


def efficiencies(
    children: int, alone: list[float], batched: list[float], whole: list[float]
) -> dict[str, float | None]:
    """Return the speeds, and the evaluator's shares of the process's own speed.

    alone, batched, whole: the seconds of each round; the last two with the evaluator.
    """
    return {
        "stockfish_efficiency": median(a / b for a, b in zip(alone, whole, strict=True)),
        "stockfish_kcps": _thousands(children, whole),
        "stockfish_alone_kcps": _thousands(children, alone),
        "stockfish_batch_efficiency": median(a / b for a, b in zip(alone, batched, strict=True)),
        "stockfish_batch_kcps": _thousands(children, batched),
    }


def stockfish_values(positions: Words, path: str | None = None) -> ChildValues:
    """Let Stockfish search each of uint64[n, 8] independently; return the values of all children.

    Raises BenchmarkError if Stockfish fails.
    """
    try:
        with StockfishEvaluator(path, reproducible=True) as evaluator:
            return evaluator.evaluate(positions)
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None


def _requests(positions: Words) -> tuple[Words, bytes]:
    """Return the positions that Stockfish can take, uint64[k, 8], and the text of the requests."""
    out = np.empty(len(positions) * REQUEST_BYTES, dtype=np.uint8)
    taken = np.empty(len(positions), dtype=np.int64)
    size, count = write_lists(TABLES, positions, False, out, taken)
    return np.ascontiguousarray(positions[taken[:count]]), out[:size].tobytes()


# -- the network ------------------------------------------------------------------------------


def measure_network(
    positions: Words, repeat: int, stockfish: str | None = None, batch: int = BATCH
) -> dict[str, float | None]:
    """Measure Stockfish's network in this process, with a search of captures and without.

    positions: uint64[n, 8]. Raises BenchmarkError without a network.
    """
    evaluators = [NnueEvaluator(stockfish), NnueEvaluator(stockfish, searched=False)]
    children = 0
    for evaluator in evaluators:
        children = len(_evaluate(evaluator, positions).values)
    rounds: list[list[float]] = [[], []]
    for _ in range(repeat):
        for evaluator, seconds in zip(evaluators, rounds, strict=True):
            seconds.append(_seconds(evaluator.evaluate, positions, batch))
    searched, static = (_thousands(children, seconds) for seconds in rounds)
    return {"nnue_searched_kcps": searched, "nnue_static_kcps": static}


def nnue_values(positions: Words, stockfish: str | None = None) -> ChildValues:
    """Return the searched values of all children of uint64[n, 8].

    Raises BenchmarkError without a network.
    """
    return _evaluate(NnueEvaluator(stockfish), positions)


def _evaluate(evaluator: NnueEvaluator, positions: Words) -> ChildValues:
    try:
        evaluator.start()
        return evaluator.evaluate(positions)
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None


def agreement(
    positions: Words, stockfish_values: ChildValues, nnue_values: ChildValues
) -> dict[str, float | None]:
    """Compare two evaluators' values of all children of uint64[n, 8] that the rules don't decide.

    rank_correlation: Spearman's, median over positions. regret: by Stockfish's values, its best
    child minus the network's best, mean over positions. slope: of Stockfish's values over the
    network's.
    """
    offsets = nnue_values.offsets
    undecided = np.isnan(expand(positions, find_mates=True).values)
    correlations, regrets = [], []
    for index in range(len(positions)):
        part = np.flatnonzero(undecided[offsets[index] : offsets[index + 1]]) + offsets[index]
        if len(part) < FEWEST:
            continue
        theirs, ours = stockfish_values.values[part], nnue_values.values[part]
        regrets.append(float(theirs.max() - theirs[ours.argmax()]))
        correlation = rank_correlation(theirs, ours)
        if correlation is not None:
            correlations.append(correlation)
    inner = undecided & (np.abs(stockfish_values.values) < INNER)
    theirs, ours = stockfish_values.values[inner], nnue_values.values[inner]
    return {
        "rank_correlation": median(correlations),
        "regret": float(np.mean(regrets)) if regrets else None,
        "slope": float(theirs @ ours / (ours @ ours)) if ours.any() else None,
    }


def rank_correlation(
    one: npt.NDArray[np.floating], other: npt.NDArray[np.floating]
) -> float | None:
    """Return Spearman's rank correlation of two float[n]; None if one has equal values only."""
    ranks = [_ranks(values) for values in (one, other)]
    ranks = [values - values.mean() for values in ranks]
    scale = float(np.sqrt((ranks[0] @ ranks[0]) * (ranks[1] @ ranks[1])))
    return float(ranks[0] @ ranks[1]) / scale if scale else None


def _ranks(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the rank of each value in ascending order, from 0; equal values share a mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: npt.NDArray[np.float64] = ends - (counts + 1) / 2
    return means[place]


# -- what is printed --------------------------------------------------------------------------

_KCPS = "thousand children/s"
_LINES = (  # the text, the number's key, its decimal places, its unit
    ("the process, answers discarded", "stockfish_alone_kcps", 1, _KCPS),
    ("with values", "stockfish_kcps", 1, _KCPS),
    ("efficiency", "stockfish_efficiency", 3, ""),
    (f"with values, batches of {BATCH}", "stockfish_batch_kcps", 1, _KCPS),
    ("efficiency", "stockfish_batch_efficiency", 3, ""),
    ("material", "material_kcps", 1, _KCPS),
    ("network, with a search", "nnue_searched_kcps", 1, _KCPS),
    ("network, static", "nnue_static_kcps", 1, _KCPS),
    ("rank correlation with Stockfish", "rank_correlation", 3, ""),
    ("regret by Stockfish's values", "regret", 4, ""),
    ("slope of Stockfish's values", "slope", 3, ""),
)


def print_report(console: Console, numbers: Summary) -> None:
    """Print a line for each number and a line for each reason why numbers are missing."""
    if numbers["stockfish_version"] is not None:
        console.print(
            f"{numbers['stockfish_version']}, MultiPV at depth 1: "
            f"{numbers['stockfish_positions']} of {numbers['positions']} positions, "
            f"{numbers['stockfish_children']:,} children",
            soft_wrap=True,
        )
    for text, key, places, unit in _LINES:
        if numbers[key] is not None:
            value = figure(numbers, key, places)
            console.print(f"{text:<34}{value:>9} {unit}".rstrip(), soft_wrap=True)
    reasons = numbers["missing"]
    assert isinstance(reasons, list)
    for reason in reasons:
        console.print(reason, soft_wrap=True)
    console.print(f"{'this run':<34}{figure(numbers, 'seconds', 1):>9} s", soft_wrap=True)
    note_if_busy(console, numbers, "Stockfish alone")
