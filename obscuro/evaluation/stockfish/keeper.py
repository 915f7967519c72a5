"""Keeping one Stockfish at hand: starting it, and another one when it is lost."""

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

STARTS = 2  # in a row that come to nothing before it is given up


class StockfishKeeper:
    """Owns a process, and replaces it beside the caller's work.

    path: the executable; None: the usual places. A process that can't be started, or STARTS of them in
    a row that don't answer once, are given up, until `start` is called.

    `close` may be called from any thread, all else from one at a time.
    """

    def __init__(self, path: str | None, limits: TimeLimits) -> None:
        self._path = path
        self._limits = limits
        self._changed = threading.Condition()
        self._process: StockfishProcess | None = None
        self._newborn: StockfishProcess | None = None  # while its first answer is waited for
        self._starting = False
        self._wait_until = 0.0  # the second up to which a batch waits for the process
        self._failed = ""  # why none can be had
        self._reason = ""  # why the last one was lost
        self._told = False  # whether a failure has named that reason
        self._starts = 0  # since the last good answer
        self._closed = False

    @property
    def process(self) -> StockfishProcess | None:
        """The process, if there is one that has not been found to be lost."""
        return self._process

    def start(self) -> None:
        """Try again, if it was given up; wait until the process is up. Raises EvaluatorFailed."""
        with self._changed:
            if self._failed:
                self._failed = self._reason = ""
                self._starts = 0
            if self._process is None and not self._starting:
                self._begin(0)
            self._wait_until = time.monotonic() + self._limits.start_wait
        self.get()

    def get(self) -> StockfishProcess:
        """The process. Raises EvaluatorFailed if there is none, EvaluatorNotReady if not yet."""
        with self._changed:
            if self._process is None and not self._starting and not self._failed:
                self._begin(self._limits.start_wait)
            while self._starting and not self._closed:
                wait = self._wait_until - time.monotonic()
                if wait <= 0 or not self._changed.wait(wait):
                    break
            if self._process is None or self._closed:
                raise self.failure()
            return self._process

    def failure(self) -> EvaluatorFailed:
        """Why there is no process."""
        with self._changed:
            if self._closed:
                return EvaluatorFailed("the evaluator is closed", for_good=True)
            if self._failed:
                return EvaluatorFailed(self._failed, for_good=True)
            if self._reason:
                self._told = True
                return EvaluatorNotReady(_loss(self._reason))
            return EvaluatorNotReady("Stockfish takes long to start; it is not waited for")

    def answered(self) -> str | None:
        """Note a good answer. Returns what had become of a process before, unless that was told."""
        reason, self._reason = self._reason, ""
        self._starts = 0
        told, self._told = self._told, False
        if not reason or told:
            return None
        return _loss(reason)

    def lose(self, reason: str) -> None:
        """End the process, of which this is the reason, and begin to start another."""
        with self._changed:
            process, self._process = self._process, None
        if process is not None:
            process.close()
        with self._changed:
            self._reason = self._reason or reason
            if self._starts >= STARTS:
                self._failed = f"Stockfish failed, and again when started anew ({reason})"
            elif not self._closed:
                self._begin(self._limits.restart_wait)

    def _begin(self, wait: float) -> None:
        """Start a process in a thread of its own. Needs the lock."""
        self._starting = True
        self._starts += 1
        self._wait_until = time.monotonic() + wait
        threading.Thread(target=self._make, name="stockfish-start", daemon=True).start()

    def _make(self) -> None:
        process: StockfishProcess | None = None
        failed = ""
        path = stockfish_path(self._path)
        if path is None:
            where = f"there is no program {self._path}" if self._path else "it is not installed"
            failed = f"Stockfish is missing: {where}"
        else:
            try:
                process = StockfishProcess(path, self._limits, spawned=self._note)
            except StockfishError as error:
                failed = f"Stockfish does not start: {error}"
        with self._changed:
            self._newborn = None
            self._starting = False
            if process is not None and self._closed:
                process.close()
                process = None
            self._process = process
            before = f" (before that: {self._reason})" if failed and self._reason else ""
            self._failed = failed + before
            self._changed.notify_all()

    def _note(self, process: StockfishProcess) -> None:
        with self._changed:
            self._newborn = process
            if self._closed:
                process.kill()

    def kill(self) -> None:
        """End the process, and start no other. A caller that waits for an answer fails at once."""
        with self._changed:
            self._closed = True
            for process in (self._process, self._newborn):
                if process is not None:
                    process.kill()
            self._changed.notify_all()

    def close(self) -> None:
        """As `kill`, and leave nothing behind; nobody may wait for an answer any more."""
        self.kill()
        with self._changed:
            while self._starting:
                self._changed.wait()
            process, self._process = self._process, None
        if process is not None:
            process.close()


def _loss(reason: str) -> str:
    """One text, whether the new one is up at once or not: several expanders lose theirs together."""
    return f"Stockfish was lost ({reason}), and another one is started"
