"""The engine as a process: `run` speaks UCI until it is told to quit or its peer has gone.

Importing this module loads neither numba nor numpy, so that `uci` is answered at once.
"""

import contextlib
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Protocol

from obscuro.engine.options import Options
from obscuro.engine.player_kind import OBSCURO, PlayerKind
from obscuro.signal_handlers import leaving_signals_handled
from obscuro.uci.channel import TOO_LONG, Output, is_hung_up, read_lines
from obscuro.uci.log import IN, Log, facts
from obscuro.uci.playing import TICK_SECONDS
from obscuro.uci.session import Session

QUIT_SECONDS = 1.0
"""How long the worker may take to end after `quit`."""
CLOSE_SECONDS = 0.3
"""How long ending the child processes may take after that. Then the process exits."""
PATIENCE_SECONDS = 1.7
"""The process exits this long after a signal, or if a line has waited this long for a reader after
`quit` or the end of the input."""
POLL_SECONDS = 0.25
"""How often the threads look for a stuck output, a lost input and signals."""
LINES_AHEAD = 1024
"""How many lines are read ahead of the one that is carried out."""


class HasDescriptor(Protocol):
    """A stream that has a file descriptor."""

    def fileno(self) -> int:
        """Return the descriptor."""


def run(
    stdin: int | HasDescriptor | None = 0,
    stdout: int | HasDescriptor | None = 1,
    log: str | None = None,
    *,
    kind: PlayerKind = OBSCURO,
    leave: Callable[[int], object] = os._exit,
    tick_seconds: float = TICK_SECONDS,
) -> int:
    """Speak UCI on two streams until `quit`, the end of the input, SIGTERM or SIGINT; returns 0.

    log: a file that gets all lines. kind: who plays. leave: ends the process with an exit code if a
    thread does not end because it compiles. tick_seconds: for tests.
    """
    if stdin is None or stdout is None:  # the parent process closed it
        return 0
    incoming = _LineQueue()
    journal = Log(log)
    output = Output(_descriptor(stdout), journal, incoming.leave)
    if failure := journal.take_failure():
        output.warning(failure)
    if journal.is_open:
        for name, value in facts(Options(kind.options), kind.name):
            output.fact(name, value)
    session = Session(output, kind, tick_seconds)
    ending, finished = threading.Event(), threading.Event()

    def watch_output() -> None:
        ending.wait()
        while not finished.wait(POLL_SECONDS):
            if output.is_stuck(PATIENCE_SECONDS):
                leave(0)
                return

    for target in (
        lambda: incoming.read(_descriptor(stdin), journal, ending.set),
        watch_output,
    ):
        threading.Thread(target=target, daemon=True).start()
    with _quit_on_signals(incoming.leave, leave), _failures_in_one_line(output):
        for line, received in incoming.lines():
            if line is TOO_LONG:
                output.error("the line is too long")
            elif not session.handle(line, received):
                break
        done = session.end(QUIT_SECONDS)
    if not done:
        closing = threading.Thread(target=session.close_now, daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        leave(0)
    finished.set()
    ending.set()
    journal.close()
    return 0


class _LineQueue:
    """The lines of the input, from the thread that reads them to the one that carries them out."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[str | None, float] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(LINES_AHEAD)
        self._leaving = False

    def read(self, descriptor: int, log: Log, on_end: Callable[[], None]) -> None:
        """Read to the end of the input. The lines before it are still carried out.

        on_end: called at once at `quit` or at the end of the input. The thread that carries out the
        lines may then be blocked by an output that is not read.
        """
        for line in read_lines(descriptor):
            received = time.monotonic()
            if line is not None and line.strip() == "quit":
                on_end()
            log.write(IN, "(too long)" if line is TOO_LONG else line)
            while not self._room.acquire(timeout=POLL_SECONDS):
                if is_hung_up(descriptor):  # lines may wait there, but no peer is left to answer to
                    on_end()
            self._queue.put((line, received))
        on_end()
        self._queue.put(None)

    def leave(self) -> None:
        """Drop all lines that are left, and end. A signal handler may call this."""
        self._leaving = True
        self._queue.put(None)

    def lines(self) -> Iterator[tuple[str | None, float]]:
        """Yield the lines, each with the second at which it came, until the end or `leave`."""
        while not self._leaving:
            try:
                item = self._queue.get(timeout=POLL_SECONDS)
            except queue.Empty:  # a signal just before the wait is handled only after it
                continue
            if item is None or self._leaving:
                return
            self._room.release()
            yield item


@contextlib.contextmanager
def _quit_on_signals(quit_: Callable[[], None], leave: Callable[[int], object]) -> Iterator[None]:
    """Let SIGTERM and SIGINT mean `quit` if this is the main thread of the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    # A handler may interrupt any code, so it does nothing but put something into queues.
    alarm: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def watch() -> None:
        if alarm.get():
            time.sleep(PATIENCE_SECONDS)
            leave(0)

    def handle(number: int) -> None:
        quit_()
        alarm.put(True)

    threading.Thread(target=watch, name="watch", daemon=True).start()
    try:
        with leaving_signals_handled(handle):
            yield
    finally:
        alarm.put(False)


@contextlib.contextmanager
def _failures_in_one_line(output: Output) -> Iterator[None]:
    """Turn an exception of any thread into one line, and one of a destructor into a note."""

    def of_thread(failure: threading.ExceptHookArgs) -> None:
        details = traceback.format_exception(
            failure.exc_type, failure.exc_value, failure.exc_traceback
        )
        reason = str(failure.exc_value) or failure.exc_type.__name__
        output.failure(f"a thread failed, {reason}", "".join(details))

    def unraisable(failure: "sys.UnraisableHookArgs") -> None:
        output.note(f"{failure.err_msg or 'ignored'}: {failure.exc_value!r}")

    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook, sys.unraisablehook = of_thread, unraisable
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = hooks


def _descriptor(stream: int | HasDescriptor) -> int:
    return stream if isinstance(stream, int) else stream.fileno()
