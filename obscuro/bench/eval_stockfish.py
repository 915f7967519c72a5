"""What Stockfish's process can do by itself, and what is left of it with us around it.

The process is given the same requests in both cases, and has forgotten all searches before each round.
By itself: all requests in one stream, and answers that are read in large pieces and thrown away.
With us: `StockfishEvaluator`, in a single batch, and in batches as a search asks for.
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

from obscuro.bench.common import BenchmarkError, Tell, median
from obscuro.board.tables import TABLES
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.stockfish.child_process import ChildProcess, vitals
from obscuro.evaluation.stockfish.process import (
    HASH_MEGABYTES,
    PIPE_BYTES,
    READ_BYTES,
    stockfish_path,
)
from obscuro.evaluation.stockfish.requests import write_lists
from obscuro.evaluation.stockfish.stockfish_evaluator import ALL_MOVES, StockfishEvaluator
from obscuro.evaluation.stockfish.uci_text import REQUEST_BYTES
from obscuro.search.parameters import BATCH

KILO = 1e3
_ANSWER = b"\nbestmove"
_NAP = 0.001  # seconds between two reads: few, and the pipe never fills
_FORGET = b"ucinewgame\nposition startpos\ngo depth 1\n"


@dataclass
class StockfishSpeed:
    """Seconds for all requests, in each round."""

    name: str  # what it calls itself
    positions: int  # that it is asked about
    children: int  # of these positions
    alone: list[float] = field(default_factory=list)
    batched: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    cpu_share: float = 0.0  # of a core, that it had while alone

    @property
    def alone_kcps(self) -> float | None:
        """Thousand children a second that the process lists by itself."""
        return median(self.children / seconds / KILO for seconds in self.alone)

    @property
    def whole_kcps(self) -> float | None:
        """Thousand children a second, read and converted, all asked for at once."""
        return median(self.children / seconds / KILO for seconds in self.whole)

    @property
    def batched_kcps(self) -> float | None:
        """The same in batches as in a search, one after the other."""
        return median(self.children / seconds / KILO for seconds in self.batched)

    @property
    def efficiency(self) -> float | None:
        """The share of what the process can do that is left to us, where both are given all at once."""
        return _ratio(self.alone, self.whole)

    @property
    def batched_efficiency(self) -> float | None:
        """The same in batches; in between, the process waits for us, which it never does alone."""
        return _ratio(self.alone, self.batched)


def _ratio(alone: list[float], ours: list[float]) -> float | None:
    return median(a / b for a, b in zip(alone, ours, strict=True))


class BareStockfish:
    """A client that sends requests in a stream and throws the answers away, counting them.

    Raises BenchmarkError where Stockfish does not run.
    """

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
        """Have it forget all searches."""
        self.run(_FORGET, 1)

    def run(self, requests: bytes, answers: int) -> None:
        """Send requests, and come back when they have been answered."""
        writer = threading.Thread(target=self._write, args=(requests,))
        writer.start()
        tail = b""
        while answers:
            time.sleep(_NAP)
            text = os.read(self._child.output, READ_BYTES)
            if not text:
                raise BenchmarkError("Stockfish left in the middle")
            answers -= (tail + text).count(_ANSWER)
            tail = text[1 - len(_ANSWER) :]
        writer.join()

    def _write(self, requests: bytes) -> None:
        rest = memoryview(requests)
        with contextlib.suppress(BrokenPipeError):  # who reads the answers will see it
            while rest:
                rest = rest[os.write(self._child.input, rest) :]

    def close(self) -> None:
        """End it."""
        self._child.close()


def measure_stockfish(
    positions: npt.NDArray[np.uint64], repeat: int, tell: Tell, path: str | None = None
) -> StockfishSpeed:
    """Measure on those of uint64[n, 8] that Stockfish can take, `repeat` rounds, in turns.

    tell: told of each round. Raises BenchmarkError where there is no Stockfish.
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
            tell(None, 1)
        speed.cpu_share = min(1.0, worked / used)
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None
    finally:
        evaluator.close()
        if bare is not None:
            bare.close()
    return speed


def stockfish_values(positions: npt.NDArray[np.uint64], path: str | None = None) -> ChildValues:
    """The values of all children of uint64[n, 8], each position searched by itself.

    Raises BenchmarkError.
    """
    try:
        with StockfishEvaluator(path, reproducible=True) as evaluator:
            return evaluator.evaluate(positions)
    except EvaluatorFailed as error:
        raise BenchmarkError(str(error)) from None


def _requests(positions: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], bytes]:
    """Those that Stockfish can take, and what it is asked about them."""
    out = np.empty(len(positions) * REQUEST_BYTES, dtype=np.uint8)
    taken = np.empty(len(positions), dtype=np.int64)
    size, count = write_lists(TABLES, positions, False, out, taken)
    return np.ascontiguousarray(positions[taken[:count]]), out[:size].tobytes()


def _seconds(evaluator: StockfishEvaluator, positions: npt.NDArray[np.uint64], batch: int) -> float:
    """Seconds to evaluate all, in batches, after all that was searched before was forgotten."""
    evaluator.forget()
    evaluator.evaluate(positions[:1])
    begin = time.perf_counter()
    for start in range(0, len(positions), batch):
        evaluator.evaluate(positions[start : start + batch])
    return time.perf_counter() - begin


def _cpu_seconds(pid: int) -> float:
    found = vitals(pid)
    return found.cpu_seconds if found else 0.0
