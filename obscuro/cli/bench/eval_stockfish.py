"""The speed of Stockfish's process alone, and the share of it that `StockfishEvaluator` keeps.

The process gets the same requests in both cases and forgets all searches before each round. Alone:
a client sends all requests in one stream, reads the answers in large pieces and discards them. With
the evaluator: all positions in a single batch, and in batches of a search's size.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from obscuro.child_process import ChildProcess, vitals
from obscuro.cli.bench.common import BenchmarkError, ReportProgress, median
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.stockfish.process import HASH_MEGABYTES, PIPE_BYTES, READ_BYTES
from obscuro.evaluation.stockfish.requests import REQUEST_BYTES, write_lists
from obscuro.evaluation.stockfish.stockfish_evaluator import ALL_MOVES, StockfishEvaluator
from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.rules.tables import TABLES
from obscuro.search.parameters import BATCH

KILO = 1e3
_ANSWER = b"\nbestmove"
_READ_INTERVAL = 0.001  # seconds between two reads: few reads, and the pipe never fills
_FORGET = b"ucinewgame\nposition startpos\ngo depth 1\n"


@dataclass
class StockfishSpeed:
    """The seconds for all requests in each round."""

    name: str  # the program's name for itself
    positions: int  # number of positions in the requests
    children: int  # number of their children
    alone: list[float] = field(default_factory=list)
    batched: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    cpu_share: float = 0.0  # the share of a core that the process had while alone

    @property
    def alone_kcps(self) -> float | None:
        """Thousand children a second that the process lists alone."""
        return median(self.children / seconds / KILO for seconds in self.alone)

    @property
    def whole_kcps(self) -> float | None:
        """Thousand children a second that the evaluator reads and converts, in a single batch."""
        return median(self.children / seconds / KILO for seconds in self.whole)

    @property
    def batched_kcps(self) -> float | None:
        """Thousand children a second in batches of a search's size, one after the other."""
        return median(self.children / seconds / KILO for seconds in self.batched)

    @property
    def efficiency(self) -> float | None:
        """The evaluator's share of the process's own speed, in a single batch."""
        return _ratio(self.alone, self.whole)

    @property
    def batched_efficiency(self) -> float | None:
        """The same share in batches. Between batches the process waits, unlike when alone."""
        return _ratio(self.alone, self.batched)


def _ratio(alone: list[float], ours: list[float]) -> float | None:
    return median(a / b for a, b in zip(alone, ours, strict=True))


class BareStockfish:
    """A client that sends requests in a stream, counts the answers and discards them."""

    def __init__(self, path: str) -> None:
        self._child = ChildProcess(path)
        fcntl.fcntl(self._child.output, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._write(
            b"setoption name Threads value 1\nsetoption name Hash value %d\n"
            b"setoption name MultiPV value %d\n" % (HASH_MEGABYTES, ALL_MOVES)
        )
        self.forget()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._child.pid

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
    positions: npt.NDArray[np.uint64],
    repeat: int,
    report: ReportProgress,
    path: str | None = None,
) -> StockfishSpeed:
    """Measure the process alone and with the evaluator, alternately, in `repeat` rounds.

    positions: uint64[n, 8]; the measurement skips those that Stockfish cannot take. report: called
    after each round. Raises BenchmarkError if Stockfish is not installed or fails.
    """
    program = stockfish_path(path)
    if program is None:
        raise BenchmarkError("Stockfish is not installed")
    positions, requests = _requests(positions)
    evaluator = StockfishEvaluator(program, search_dominated=False)
    bare: BareStockfish | None = None
    try:
        evaluator.start()
        bare = BareStockfish(program)
        children = len(evaluator.evaluate(positions).values)
        speed = StockfishSpeed(evaluator.engine_name or "?", len(positions), children)
        used = worked = 0.0
        for _ in range(repeat):
            bare.forget()
            before, begin = _cpu_seconds(bare.pid), time.perf_counter()
            bare.run(requests, len(positions))
            speed.alone.append(time.perf_counter() - begin)
            worked += _cpu_seconds(bare.pid) - before
            used += speed.alone[-1]
            speed.batched.append(_seconds(evaluator, positions, BATCH))
            speed.whole.append(_seconds(evaluator, positions, len(positions)))
            report(None, 1)
        speed.cpu_share = min(1.0, worked / used)
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None
    finally:
        evaluator.close()
        if bare is not None:
            bare.close()
    return speed


def stockfish_values(positions: npt.NDArray[np.uint64], path: str | None = None) -> ChildValues:
    """Let Stockfish search each of uint64[n, 8] independently; return the values of all children.

    Raises BenchmarkError if Stockfish fails.
    """
    try:
        with StockfishEvaluator(path, reproducible=True) as evaluator:
            return evaluator.evaluate(positions)
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None


def _requests(positions: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], bytes]:
    """Return the positions that Stockfish can take, uint64[k, 8], and the text of the requests."""
    out = np.empty(len(positions) * REQUEST_BYTES, dtype=np.uint8)
    taken = np.empty(len(positions), dtype=np.int64)
    size, count = write_lists(TABLES, positions, False, out, taken)
    return np.ascontiguousarray(positions[taken[:count]]), out[:size].tobytes()


def _seconds(evaluator: StockfishEvaluator, positions: npt.NDArray[np.uint64], batch: int) -> float:
    """Measure the seconds to evaluate all positions in batches, after forgetting all searches."""
    evaluator.forget()
    evaluator.evaluate(positions[:1])
    begin = time.perf_counter()
    for start in range(0, len(positions), batch):
        evaluator.evaluate(positions[start : start + batch])
    return time.perf_counter() - begin


def _cpu_seconds(pid: int) -> float:
    found = vitals(pid)
    return found.cpu_seconds if found else 0.0
