"""The process `obscuro analyse`: lines in, workers, lines out, and how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterable

from obscuro.client.analysis_messages import (
    SCHEMA,
    AnalysisAnswer,
    AnalysisFailure,
    AnalysisQuery,
    TerminateAction,
    TerminatedAnswer,
    VersionAction,
    VersionAnswer,
)
from obscuro.client.engine import Engine
from obscuro.engine.options import Options
from obscuro.queries.analysis_worker import AnalysisWorker
from obscuro.queries.query_reader import QueryError, check_query, read_request
from obscuro.queries.work_queue import HeldQuery, WorkQueue
from obscuro.uci.channel import LONGEST_LINE, TOO_LONG
from obscuro.uci.printing import one_line
from obscuro.version import full_version

QUEUE_BYTES = 1 << 26
"""Bytes of the lines of all queries that are held."""
POLL_SECONDS = 0.25
"""Between two looks at whether somebody still reads the answers."""


class AnalysisService:
    """Carries out lines. One thread calls `run` and `handle`.

    base: the options of all engines. workers: how many engines at most. queue: how many queries may
    be held. make: makes an engine; it takes what receives the engine's warnings. send: takes the
    answers, from any thread.
    """

    def __init__(
        self,
        base: Options,
        *,
        workers: int,
        queue: int,
        make: Callable[[Callable[[str], None]], Engine],
        send: Callable[[AnalysisAnswer], None],
    ) -> None:
        self._base = base
        self._most_workers = workers
        self._most_queries = queue
        self._make = make
        self._send = send
        self._workers: list[AnalysisWorker] = []
        self._threads: list[threading.Thread] = []
        self._queue = WorkQueue(queue, QUEUE_BYTES, workers, self._start_worker)

    def run(self, lines: Iterable[str | None], reader_is_gone: Callable[[], bool]) -> bool:
        """Carry out all lines, then wait for the end of all queries and their engines.

        Returns false as soon as nobody is left to read the answers; the engines still run then.
        """
        for line in lines:
            self.handle(line)
        self._queue.close()
        for thread in self._threads:
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                if reader_is_gone():
                    return False
        return True

    def handle(self, line: str | None) -> None:
        """Carry out a line. Never raises. line: TOO_LONG for one that is."""
        try:
            if line is TOO_LONG:
                raise QueryError(f"the line is longer than {LONGEST_LINE} bytes")
            if line.strip():
                self._carry_out(line)
        except QueryError as error:
            self._send(AnalysisFailure(error=str(error), field=error.field, id=error.id))
        except Exception as error:  # a fault of ours must not end the process
            text = f"reading the line failed, {error or type(error).__name__}"
            self._send(AnalysisFailure(error=one_line(text)))

    def kill(self) -> None:
        """Kill the engines at once, from any thread or a signal's handler: it takes no lock."""
        for worker in list(self._workers):
            pid = worker.engine.pid
            if pid is not None:
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)

    # -- inside -----------------------------------------------------------------------------

    def _carry_out(self, line: str) -> None:
        request, warning = read_request(line)
        if warning is not None:
            self._send(warning)
        if isinstance(request, AnalysisQuery):
            self._add(request, line)
        elif isinstance(request, VersionAction):
            self._send(
                VersionAnswer(
                    id=request.id,
                    version=full_version(),
                    schema=SCHEMA,
                    workers=self._most_workers,
                    queue=self._most_queries,
                )
            )
        else:
            target = request.terminate_id if isinstance(request, TerminateAction) else None
            count, ended = self._queue.terminate(target)
            for query in ended:
                self._send(query.done())
            self._send(TerminatedAnswer(id=request.id, terminate_id=target, queries=count))

    def _add(self, query: AnalysisQuery, line: str) -> None:
        self._queue.check(query.id, len(line))
        views = len(check_query(query, self._base).views)
        held = HeldQuery(query.id, line, views, query.priority)
        if views:
            self._queue.add(held)
        else:  # no turn of the game is left to analyse
            self._send(held.done())

    def _start_worker(self) -> None:
        worker = AnalysisWorker(self._queue, self._make, self._base, self._send)
        self._workers.append(worker)
        thread = threading.Thread(target=worker.run, name="analysis", daemon=True)
        self._threads.append(thread)
        thread.start()
