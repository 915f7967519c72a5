"""The network's part of `obscuro bench eval`: its speed and its agreement with Stockfish."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.cli.bench.common import BenchmarkError, median
from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator
from obscuro.rules.position import from_fen
from obscuro.search.parameters import BATCH

POSITIONS_FILE = Path(__file__).with_name("eval_positions.txt")
KILO = 1e3
FEWEST = 4  # the least number of undecided children for a correlation
INNER = 0.9  # the slope leaves out larger values, which the scale to [-1, 1] flattens

Words = npt.NDArray[np.uint64]


class NnueSpeed(NamedTuple):
    """Thousand children a second in one thread, in batches of a search's size."""

    searched_kcps: float
    static_kcps: float


class Agreement(NamedTuple):
    """The agreement of two evaluators on the children that the rules leave undecided."""

    rank_correlation: float | None  # Spearman's, median over positions
    regret: (
        float | None
    )  # by the first: its best child minus the second's best; mean over positions
    slope: float | None  # of the first's values over the second's


def bench_positions(path: Path = POSITIONS_FILE) -> Words:
    """Read the recorded positions, uint64[n, 8], from a file of FENs without counters."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return np.array([from_fen(f"{line} 0 1") for line in lines], dtype=np.uint64)


def measure_nnue(
    positions: Words, repeats: int, stockfish: str | None = None, batch: int = BATCH
) -> NnueSpeed:
    """Measure the network with a search and without one, alternately.

    positions: uint64[n, 8]. Raises BenchmarkError without a network.
    """
    evaluators = [NnueEvaluator(stockfish), NnueEvaluator(stockfish, searched=False)]
    for evaluator in evaluators:
        _evaluate(evaluator, positions[:batch])
    rounds = []
    for _ in range(repeats):
        rounds.append(
            [_thousands_a_second(evaluator, positions, batch) for evaluator in evaluators]
        )
    searched, static = np.median(np.array(rounds), axis=0).tolist()
    return NnueSpeed(searched, static)


def _thousands_a_second(evaluator: NnueEvaluator, positions: Words, batch: int) -> float:
    """Evaluate uint64[n, 8] in batches, and return how many thousand children a second that was."""
    children = 0
    begin = time.perf_counter()
    for start in range(0, len(positions), batch):
        children += len(evaluator.evaluate(positions[start : start + batch]).values)
    return children / (time.perf_counter() - begin) / KILO


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
) -> Agreement:
    """Compare two evaluators' values of all children of uint64[n, 8].

    The comparison leaves out children that the rules decide, as both give them the same values.
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
    slope = float(theirs @ ours / (ours @ ours)) if ours.any() else None
    return Agreement(median(correlations), float(np.mean(regrets)) if regrets else None, slope)


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
