"""The client of `obscuro analyse`: it starts the process, sends queries and reads the answers."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from obscuro.client.analysis_messages import (
    AnalysisAnswer,
    AnalysisDone,
    AnalysisFailure,
    AnalysisPartial,
    AnalysisQuery,
    AnalysisRequest,
    AnalysisResult,
    AnalysisWarning,
    TerminateAction,
    TerminateAllAction,
    TerminatedAnswer,
    VersionAction,
    VersionAnswer,
)
from obscuro.client.uci_process import EngineError

END_SECONDS = 10.0
"""A process that is asked to end takes less."""
_LAST = (AnalysisDone, TerminatedAnswer, VersionAnswer)

AnswerT = TypeVar("AnswerT", bound=AnalysisAnswer)


def analysis_command(*arguments: str) -> list[str]:
    """Return the command that starts `obscuro analyse` with these arguments."""
    return [sys.executable, "-P", "-m", "obscuro.cli.main", "analyse", *arguments]


class AnalysisQueryError(EngineError):
    """A query could not be carried out. failure: the answer that says so."""

    def __init__(self, failure: AnalysisFailure) -> None:
        super().__init__(failure.error)
        self.failure = failure


class RunningAnalysis:
    """A query on its way: iterate over it to get its answers as they come, without the last one.

    done: the last answer; None until all others have been read.
    """

    def __init__(self, client: AnalysisClient, identifier: str) -> None:
        self.id = identifier
        self.done: AnalysisDone | None = None
        self.answers: queue.SimpleQueue[AnalysisAnswer | EngineError] = queue.SimpleQueue()
        self._client = client

    def __iter__(self) -> Iterator[AnalysisResult | AnalysisPartial | AnalysisFailure]:
        """Yield results, partial results, and the errors of turns.

        Raises AnalysisQueryError if the query is refused, EngineError if the process is gone.
        """
        while self.done is None:
            answer = self.answers.get()
            if isinstance(answer, EngineError):
                self.answers.put(answer)
                raise answer
            if isinstance(answer, AnalysisDone):
                self.done = answer
            elif isinstance(answer, AnalysisFailure) and answer.ply is None:
                raise AnalysisQueryError(answer)
            elif isinstance(answer, AnalysisResult | AnalysisPartial | AnalysisFailure):
                yield answer

    def results(self) -> list[AnalysisResult]:
        """Wait for the end, and return the results, by ply.

        Raises as iteration does, and AnalysisQueryError if a turn failed.
        """
        found = []
        for answer in self:
            if isinstance(answer, AnalysisFailure):
                raise AnalysisQueryError(answer)
            if isinstance(answer, AnalysisResult):
                found.append(answer)
        return sorted(found, key=lambda result: result.ply)

    def terminate(self) -> None:
        """End the query early; what it has found still comes. Raises EngineError."""
        self._client.terminate(self.id)


class AnalysisClient:
    """A process `obscuro analyse`. Close it, or use it in a `with` statement.

    command: what starts it; None: the program that is installed, as it is. on_warning: receives the
    process's warnings, each a line, in the thread that reads them. Any thread may call the methods.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        on_warning: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Start the process. Raises EngineError."""
        words = analysis_command() if command is None else list(command)
        try:
            self._popen = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise EngineError(f"can't run {words[0]}: {error.strerror or error}") from error
        self.on_warning = on_warning
        self._lock = threading.Lock()  # of the three below
        self._running: dict[str, RunningAnalysis] = {}
        self._count = 0
        self._gone = False  # whether no answer will come any more
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="analysis-client", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._popen.pid

    # -- questions --------------------------------------------------------------------------

    def query(self, **fields: Any) -> RunningAnalysis:
        """Send a query, with the fields of docs/analyse.md; the id is made up if none is given.

        Raises EngineError if the process is gone; TypeError or ValidationError of msgspec for a
        field that does not exist, or that is wrong.
        """
        with self._lock:
            self._count += 1
            identifier = str(fields.pop("id", f"query-{self._count}"))
        known = {field.name for field in msgspec.structs.fields(AnalysisQuery)}
        if unknown := fields.keys() - known:
            raise TypeError(f"a query has no field {', '.join(sorted(unknown))}")
        request = msgspec.convert({"id": identifier, **fields}, AnalysisQuery, strict=True)
        return self._send(request, identifier)

    def analyse(self, **fields: Any) -> list[AnalysisResult]:
        """Send a query as `query` does, and wait for its results. Raises EngineError."""
        return self.query(**fields).results()

    def analyse_all(self, queries: Iterable[dict[str, Any]]) -> list[list[AnalysisResult]]:
        """Send many queries at once, and return the results of each. Raises EngineError.

        There may be more than the process holds at a time.
        """
        most = self.version().queue
        running: list[RunningAnalysis] = []
        found: list[list[AnalysisResult]] = []
        for fields in queries:
            if len(running) - len(found) >= most:
                found.append(running[len(found)].results())
            running.append(self.query(**fields))
        return found + [each.results() for each in running[len(found) :]]

    def version(self) -> VersionAnswer:
        """Ask which program this is. Raises EngineError."""
        return self._ask(VersionAction, VersionAnswer)

    def terminate(self, identifier: str) -> int:
        """End a query early; return 1, or 0 if there is none with this id. Raises EngineError."""
        return self._ask(TerminateAction, TerminatedAnswer, terminate_id=identifier).queries

    def terminate_all(self) -> int:
        """End all queries early; return their number. Raises EngineError."""
        return self._ask(TerminateAllAction, TerminatedAnswer).queries

    # -- the end ----------------------------------------------------------------------------

    def close(self) -> int:
        """End the process at once, with all queries; return its exit code, as `subprocess` does."""
        if self._popen.poll() is None:
            self._popen.terminate()
        return self._wait()

    def finish(self) -> int:
        """Let the process answer all queries and end; return its exit code."""
        assert self._popen.stdin is not None
        with self._writing, contextlib.suppress(OSError):
            self._popen.stdin.close()
        self._popen.wait()
        return self._wait()

    def __enter__(self) -> AnalysisClient:
        """Return the client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    # -- inside -----------------------------------------------------------------------------

    def _wait(self) -> int:
        try:
            code = self._popen.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            code = self._popen.wait()
        self._reader.join(END_SECONDS)
        assert self._popen.stdin is not None and self._popen.stdout is not None
        with contextlib.suppress(OSError):
            self._popen.stdin.close()
        self._popen.stdout.close()
        return code

    def _ask(self, action: type[Any], kind: type[AnswerT], **fields: str) -> AnswerT:
        """Send an action and wait for its answer."""
        with self._lock:
            self._count += 1
            identifier = f"action-{self._count}"
        waiting = self._send(action(id=identifier, **fields), identifier)
        answer = waiting.answers.get()
        if isinstance(answer, EngineError):
            raise answer
        if isinstance(answer, AnalysisFailure):
            raise AnalysisQueryError(answer)
        assert isinstance(answer, kind)
        return answer

    def _send(self, request: AnalysisRequest, identifier: str) -> RunningAnalysis:
        running = RunningAnalysis(self, identifier)
        with self._lock:
            if self._gone:
                raise self._end_error()
            if identifier in self._running:
                raise ValueError(f"a query {identifier!r} has not ended yet")
            self._running[identifier] = running
        assert self._popen.stdin is not None
        line = msgspec.json.encode(request) + b"\n"
        try:
            with self._writing:
                self._popen.stdin.write(line)
                self._popen.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._end_error() from error
        return running

    def _read(self) -> None:
        assert self._popen.stdout is not None
        decoder = msgspec.json.Decoder(AnalysisAnswer)
        with contextlib.suppress(OSError, ValueError):
            for line in self._popen.stdout:
                with contextlib.suppress(msgspec.MsgspecError):  # of a later form of the messages
                    self._take(decoder.decode(line))
        error = self._end_error()
        with self._lock:
            self._gone = True
            running, self._running = self._running, {}
        for each in running.values():
            each.answers.put(error)

    def _take(self, answer: AnalysisAnswer) -> None:
        if isinstance(answer, AnalysisWarning):
            self.on_warning(answer.warning)
            return
        ends = isinstance(answer, _LAST) or (
            isinstance(answer, AnalysisFailure) and answer.ply is None
        )
        with self._lock:
            running = self._running.get(answer.id or "")
            if running is not None and ends:
                del self._running[running.id]
        if running is not None:
            running.answers.put(answer)

    def _end_error(self) -> EngineError:
        code = self._popen.poll()
        how = "is about to end" if code is None else f"has ended, with exit code {code}"
        return EngineError(f"the analysis process {how}")
