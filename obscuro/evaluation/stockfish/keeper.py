"""Supervise one Stockfish process: start it, and replace it when it is lost."""

from __future__ import annotations

import threading
import time

from obscuro.evaluation.evaluator import EvaluatorFailed, EvaluatorNotReady
from obscuro.evaluation.stockfish.process import (
    StockfishError,
    StockfishProcess,
    TimeLimits,
    stockfish_path,
)

STARTS = 2  # the keeper gives Stockfish up after so many starts in a row without an answer


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
