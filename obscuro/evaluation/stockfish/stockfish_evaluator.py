"""Children's values by Stockfish: MultiPV at depth 1 on the parent (Obscuro, Appendix C.5).

One search of a position lists all its moves that are legal in chess, each with a score. The module
`children` gives the values that follow from the rules. Stockfish searches the remaining children
one by one:

- castling out of or through check, which is legal in the fog only;
- the other moves of a position with a capture of the king, which is no valid position for
  Stockfish.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed, EvaluatorNotReady
from obscuro.evaluation.scale import TAU
from obscuro.evaluation.stockfish.answers import read_lists, read_scores
from obscuro.evaluation.stockfish.process import StockfishError, StockfishProcess, TimeLimits
from obscuro.evaluation.stockfish.requests import (
    REQUEST_BYTES,
    worth_of_centipawns,
    worth_of_centipawns_after,
    write_lists,
    write_singles,
)
from obscuro.evaluation.stockfish_program import scale_of, stockfish_path
from obscuro.rules.layout import WORDS
from obscuro.rules.position import from_fen
from obscuro.rules.tables import TABLES

STARTS = 2  # in a row without an answer, after which the keeper gives Stockfish up


class StockfishKeeper:
    """Owns a process and replaces it in a thread of its own, while the caller works on.

    path: the executable; None: the usual places. limits: see `TimeLimits`. The keeper gives
    Stockfish up, until the next call of `start`, if it does not start, or if STARTS processes in a
    row give no answer.

    Any thread may call `kill` and `close`. One thread at a time may call the other methods.
    """

    def __init__(self, path: str | None, limits: TimeLimits) -> None:
        self._path = path
        self._limits = limits
        self._changed = threading.Condition()
        self._process: StockfishProcess | None = None
        self._spawned: StockfishProcess | None = None  # running, but before its first answer
        self._starting = False
        self._wait_until = 0.0  # a batch waits for the process until this `time.monotonic` second
        self._failed = ""  # why Stockfish was given up
        self._reason = ""  # why the last process was lost
        self._reason_reported = False  # whether `failure` has reported that reason
        self._starts = 0  # since the last good answer
        self._closed = False

    @property
    def process(self) -> StockfishProcess | None:
        """The running process, unless it is known to be lost."""
        return self._process

    def start(self) -> None:
        """Start a process, even after giving up, and wait for it. Raises EvaluatorFailed."""
        with self._changed:
            if self._failed:
                self._failed = self._reason = ""
                self._starts = 0
            if self._process is None and not self._starting:
                self._start_in_thread(0)
            self._wait_until = time.monotonic() + self._limits.start_wait
        self.get()

    def get(self) -> StockfishProcess:
        """Return the process.

        Raises EvaluatorNotReady if it is still starting, and EvaluatorFailed if there is none.
        """
        with self._changed:
            if self._process is None and not self._starting and not self._failed:
                self._start_in_thread(self._limits.start_wait)
            while self._starting and not self._closed:
                wait = self._wait_until - time.monotonic()
                if wait <= 0 or not self._changed.wait(wait):
                    break
            if self._process is None or self._closed:
                raise self.failure()
            return self._process

    def failure(self) -> EvaluatorFailed:
        """Return the error that explains why there is no process."""
        with self._changed:
            if self._closed:
                return EvaluatorFailed("the evaluator is closed", for_good=True)
            if self._failed:
                return EvaluatorFailed(self._failed, for_good=True)
            if self._reason:
                self._reason_reported = True
                return EvaluatorNotReady(_loss_warning(self._reason))
            return EvaluatorNotReady(
                "Stockfish takes long to start; the search does not wait for it"
            )

    def answered(self) -> str | None:
        """Record a good answer. Returns a warning about a lost process if there was none yet."""
        reason, self._reason = self._reason, ""
        self._starts = 0
        reported, self._reason_reported = self._reason_reported, False
        if not reason or reported:
            return None
        return _loss_warning(reason)

    def lose(self, reason: str) -> None:
        """End the process, which has failed for this reason, and begin to start another."""
        with self._changed:
            process, self._process = self._process, None
        if process is not None:
            process.close()
        with self._changed:
            self._reason = self._reason or reason
            if self._starts >= STARTS:
                self._failed = f"Stockfish failed, and again after a restart ({reason})"
            elif not self._closed:
                self._start_in_thread(self._limits.restart_wait)

    def _start_in_thread(self, wait: float) -> None:
        """Start a process in a new thread; batches wait `wait` seconds for it. Needs the lock."""
        self._starting = True
        self._starts += 1
        self._wait_until = time.monotonic() + wait
        threading.Thread(target=self._start_process, name="stockfish-start", daemon=True).start()

    def _start_process(self) -> None:
        process: StockfishProcess | None = None
        failed = ""
        path = stockfish_path(self._path)
        if path is None:
            where = f"there is no program {self._path}" if self._path else "it is not installed"
            failed = f"Stockfish is missing: {where}"
        else:
            try:
                process = StockfishProcess(path, self._limits, spawned=self._record_spawned)
            except StockfishError as error:
                failed = f"Stockfish does not start: {error}"
        with self._changed:
            self._spawned = None
            self._starting = False
            if process is not None and self._closed:
                process.close()
                process = None
            self._process = process
            before = f" (before that: {self._reason})" if failed and self._reason else ""
            self._failed = failed + before
            self._changed.notify_all()

    def _record_spawned(self, process: StockfishProcess) -> None:
        with self._changed:
            self._spawned = process
            if self._closed:
                process.kill()

    def kill(self) -> None:
        """Kill the process and start no other. A caller that waits for an answer fails at once."""
        with self._changed:
            self._closed = True
            for process in (self._process, self._spawned):
                if process is not None:
                    process.kill()
            self._changed.notify_all()

    def close(self) -> None:
        """Kill the process and release everything. No caller may wait for an answer any more."""
        self.kill()
        with self._changed:
            while self._starting:
                self._changed.wait()
            process, self._process = self._process, None
        if process is not None:
            process.close()


def _loss_warning(reason: str) -> str:
    """Return the same warning whether or not the new process is up yet.

    Several threads may lose their processes together, and the user should get one warning.
    """
    return f"Stockfish was lost ({reason}), and another one is starting"


ALL_MOVES = 500  # more moves than any position has; Stockfish's own limit may be lower
DEPTH_1 = b"go depth 1\n"  # as the kernels write it
ATTEMPTS = 2  # at a batch; the second attempt uses a new process
# `start` evaluates these positions. Together they need every kernel: a list of moves, a king's
# capture, and a move that chess forbids (castling through an attack), whose child is searched
# alone.
_WARM_UP = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/ppp2ppp/3p4/1B2p3/4P3/8/PPPP1PPP/RNBQK1NR w KQkq - 0 1",
    "4k3/8/8/8/8/5r2/4P3/4K2R w K - 0 1",
)


class Job(NamedTuple):
    """A batch and the requests to Stockfish for it."""

    positions: npt.NDArray[np.uint64]  # [positions, 8]
    lists: npt.NDArray[np.int64]  # [≤ positions] the positions whose moves Stockfish lists
    requests: bytes  # the requests for these lists
    children: ChildValues  # NaN: the value is still missing


class StockfishEvaluator:
    """Evaluates with a Stockfish process and replaces it if it fails (see `StockfishKeeper`).

    path: the executable; None: the usual places. tau: the number of pawns worth tanh(1). limits:
    see `TimeLimits`. reproducible: whether a position gets the same values after any earlier
    batches. That nearly doubles the time. Otherwise one value in twenty differs by more than 0.01,
    because Stockfish keeps its tables from search to search. search_dominated: whether Stockfish
    searches the other moves of a position with a capture of the king, which takes ten times the
    work of an ordinary position. Their values cannot matter, because the mover sees the capture and
    no move is worth more. If False, material gives their values. on_warning: receives a line, in
    the evaluating thread, when a new process has replaced a lost one.

    go: how far the batches to come search a position whose moves are listed, as UCI's `go` says it.
    What is searched one by one keeps to depth 1. A long search needs longer `limits`.

    `submit` and `collect` are the two halves of `evaluate`. Between them Stockfish works and the
    caller is free.
    """

    name = "stockfish"

    def __init__(
        self,
        path: str | None = None,
        tau: float = TAU,
        limits: TimeLimits = TimeLimits(),  # noqa: B008 - frozen
        reproducible: bool = False,
        search_dominated: bool = True,
        on_warning: Callable[[str], None] = lambda warning: None,
    ) -> None:
        """Store the settings without starting a process."""
        self._keeper = StockfishKeeper(path, limits)
        self._warn = on_warning
        self._tau = tau
        self._reproducible = reproducible
        self._forget_next = False
        self._search_dominated = search_dominated
        self._working = threading.Lock()  # held by `submit`, `collect` and the end of `close`
        self.go = "depth 1"
        self._job: Job | None = None
        self._asked_process: StockfishProcess | None = None  # the process with the job's requests

    @property
    def engine_name(self) -> str | None:
        """The running process's own name, such as `Stockfish 15.1`; None if there is no process."""
        process = self._keeper.process
        return process.name if process else None

    @property
    def pid(self) -> int | None:
        """The running process's id; None if there is no process."""
        process = self._keeper.process
        return process.pid if process else None

    def start(self) -> None:
        """Start the process and compile the kernels with a few positions. See `Evaluator`."""
        positions = np.array([from_fen(fen) for fen in _WARM_UP], dtype=np.uint64)
        while self._keeper.process is None:  # after some losses `start` raises EvaluatorFailed
            self._keeper.start()
            with contextlib.suppress(EvaluatorNotReady):
                self.evaluate(positions)

    def forget(self) -> None:
        """Make Stockfish forget its searches before the next batch. See `Evaluator`."""
        self._forget_next = True

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. See `Evaluator`.

        Raises EvaluatorFailed if Stockfish fails.
        """
        self.submit(positions)
        return self.collect()

    def submit(self, positions: npt.NDArray[np.uint64]) -> None:
        """Send a batch uint64[n, 8] to Stockfish without waiting; `collect` must be the next call.

        Raises EvaluatorFailed if no process runs and none starts.
        """
        with self._working:
            if self._job is not None:
                raise RuntimeError("the batch before this one was not collected")
            positions = np.ascontiguousarray(positions, dtype=np.uint64).reshape(-1, WORDS)
            lists, requests = self._requests(positions)
            process = self._keeper.get()
            self._send_requests(process, lists, requests)
            # While Stockfish works:
            children = expand(positions, find_mates=True)
            process.expect(int((children.offsets[lists + 1] - children.offsets[lists]).sum()))
            self._job = Job(positions, lists, requests, children)

    def collect(self) -> ChildValues:
        """Return the values of the submitted batch. Raises EvaluatorFailed."""
        with self._working:
            if self._job is None:
                raise RuntimeError("no batch was submitted")
            job, self._job = self._job, None
            for _ in range(ATTEMPTS):
                process = self._keeper.get()
                try:
                    children = self._collect_values(process, job)
                except StockfishError as error:
                    self._asked_process = None
                    self._keeper.lose(str(error))
                    continue
                warning = self._keeper.answered()
                if warning is not None:
                    self._warn(warning)
                return children
            raise self._keeper.failure()

    def _requests(self, positions: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], bytes]:
        """Return the positions whose moves Stockfish lists, int64[k], and the requests for them."""
        out = np.empty(len(positions) * REQUEST_BYTES, dtype=np.uint8)
        lists = np.empty(len(positions), dtype=np.int64)
        forget = self._reproducible or self._forget_next
        size, count = write_lists(TABLES, positions, forget, out, lists)
        self._forget_next = False
        return lists[:count], out[:size].tobytes().replace(DEPTH_1, f"go {self.go}\n".encode())

    def _send_requests(
        self, process: StockfishProcess, lists: npt.NDArray[np.int64], requests: bytes
    ) -> None:
        self._asked_process = process
        if len(lists):
            with contextlib.suppress(StockfishError):  # reading the answers raises it again
                process.begin(requests, len(lists), ALL_MOVES)

    def _collect_values(self, process: StockfishProcess, job: Job) -> ChildValues:
        """Return the children with all values. Raises StockfishError."""
        children = job.children._replace(values=job.children.values.copy())
        if self._asked_process is not process:
            self._send_requests(process, job.lists, job.requests)
        self._asked_process = None
        if len(job.lists):
            self._read_lists(process, job, children)
        missing = np.flatnonzero(np.isnan(children.values))
        if len(missing):
            self._search_singly(process, job, missing, children.values)
        return children

    def _read_lists(self, process: StockfishProcess, job: Job, children: ChildValues) -> None:
        """Write the values from the lists while they come in. Raises StockfishError."""
        wanted = np.isnan(children.values)
        worths = np.empty(len(job.lists))
        worth_of_centipawns(job.positions, job.lists, scale_of(process.name), worths)
        done = 0
        for text, answers in process.answers():
            read = read_lists(
                np.frombuffer(text, dtype=np.uint8),
                job.lists[done : done + answers],
                worths[done : done + answers],
                children.offsets,
                children.moves,
                wanted,
                self._tau,
                children.values,
            )
            if read != answers:
                raise StockfishError("its answers make no sense")
            done += answers

    def _search_singly(
        self,
        process: StockfishProcess,
        job: Job,
        missing: npt.NDArray[np.int64],
        values: npt.NDArray[np.float32],
    ) -> None:
        """Write the values of `missing` children, each searched alone. Raises StockfishError."""
        requests = np.empty(len(missing) * REQUEST_BYTES, dtype=np.uint8)
        asked = np.empty(len(missing), dtype=np.int64)
        parents = np.searchsorted(job.children.offsets, missing, side="right") - 1
        size, count = write_singles(
            TABLES,
            job.positions,
            parents,
            job.children.moves,
            missing,
            self._search_dominated,
            self._reproducible,
            self._tau,
            requests,
            asked,
            values,
        )
        if count == 0:
            return
        process.begin(requests[:size].data, count, 1)
        asked, worths = asked[:count], np.empty(count)
        worth_of_centipawns_after(
            job.positions, parents, job.children.moves, asked, scale_of(process.name), worths
        )
        answers = np.frombuffer(process.finish(), dtype=np.uint8)
        read = read_scores(answers, asked, worths, self._tau, values)
        if read != count:
            raise StockfishError("its answers make no sense")

    def close(self) -> None:
        """End the process for good. A batch in another thread fails. See `Evaluator`."""
        self._keeper.kill()
        with self._working:
            self._keeper.close()

    def __enter__(self) -> StockfishEvaluator:
        """Return the evaluator itself; the `with` statement closes it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the evaluator."""
        self.close()
