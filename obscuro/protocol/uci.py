"""The engine as a process: `run` speaks UCI until it is told to leave, or nobody is there any more.

Importing this loads neither numba nor numpy, so that `uci` is answered at once.
"""

import contextlib
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol

from obscuro.engine.options import Options
from obscuro.protocol.channel import TOO_LONG, Output, is_hung_up, read_lines
from obscuro.protocol.log import IN, Log, facts
from obscuro.protocol.playing import MakePlayer, make_player
from obscuro.protocol.session import Session
from obscuro.protocol.worker import TICK_SECONDS

QUIT_SECONDS = 1.0
"""How long the engine may take to end by itself."""
CLOSE_SECONDS = 0.3
"""Then, how long to end its child processes, before it all ends."""
PATIENCE_SECONDS = 1.7
"""After a signal, even if nothing moves any more, because nobody reads what we say."""
LOOK_SECONDS = 0.25
"""How often it is looked, after `quit` or the end of the input, whether that is so; and for signals."""
LINES_AHEAD = 1024
"""So many lines are read before they are done."""


class HasDescriptor(Protocol):
    """What has a file descriptor."""

    def fileno(self) -> int:
        """Return the descriptor."""


def run(
    stdin: int | HasDescriptor | None = 0,
    stdout: int | HasDescriptor | None = 1,
    log: str | None = None,
    *,
    make: MakePlayer = make_player,
    leave: Callable[[int], object] = os._exit,
    tick_seconds: float = TICK_SECONDS,
) -> int:
    """Speak UCI on two streams until `quit`, the end of the input, SIGTERM or SIGINT; returns 0.

    log: a file that gets all lines. leave: ends the process with an exit code where a thread can't
    be waited for, because it compiles. make, tick_seconds: for tests.
    """
    if stdin is None or stdout is None:  # closed by who started us
        return 0
    doorbell = _Doorbell()
    journal = Log(log)
    output = Output(_descriptor(stdout), journal, doorbell.leave)
    if failure := journal.take_failure():
        output.warning(failure)
    if journal.is_open:
        for name, value in facts(Options()):
            output.fact(name, value)
    session = Session(output, make, tick_seconds)
    ending, finished = threading.Event(), threading.Event()

    def watch_output() -> None:
        ending.wait()
        while not finished.wait(LOOK_SECONDS):
            if output.is_stuck(PATIENCE_SECONDS):
                leave(0)
                return

    for target in (
        lambda: doorbell.read(_descriptor(stdin), journal, ending.set),
        watch_output,
    ):
        threading.Thread(target=target, daemon=True).start()
    with _signals(doorbell.leave, leave), _no_tracebacks(output):
        for line, received in doorbell.lines():
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


class _Doorbell:
    """Where lines arrive from the input, and reasons to leave from anywhere."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[str | None, float] | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(LINES_AHEAD)
        self._leaving = False

    def read(self, descriptor: int, log: Log, on_end: Callable[[], None]) -> None:
        """Read to the end of the input; what came before it is still done.

        on_end: called at once when that comes, or `quit`: who does the lines may be in the middle of
        saying something that nobody reads.
        """
        for line in read_lines(descriptor):
            received = time.monotonic()
            if line is not None and line.strip() == "quit":
                on_end()
            log.write(IN, "(too long)" if line is TOO_LONG else line)
            while not self._room.acquire(timeout=LOOK_SECONDS):
                if is_hung_up(descriptor):  # more lines may wait there, and nobody is left to hear
                    on_end()
            self._queue.put((line, received))
        on_end()
        self._queue.put(None)

    def leave(self) -> None:
        """End it, whatever is still to be done. May be called from a signal handler."""
        self._leaving = True
        self._queue.put(None)

    def lines(self) -> Iterator[tuple[str | None, float]]:
        """Yield the lines with the second they came at, until it is time to leave."""
        while not self._leaving:
            try:
                item = self._queue.get(timeout=LOOK_SECONDS)
            except queue.Empty:  # a signal that came just before the wait is only handled after it
                continue
            if item is None or self._leaving:
                return
            self._room.release()
            yield item


@contextlib.contextmanager
def _signals(ring: Callable[[], None], leave: Callable[[int], object]) -> Iterator[None]:
    """Let SIGTERM and SIGINT mean `quit`, for a process whose main thread this is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    # A handler may interrupt anything, so all it does is put something into queues.
    alarm: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def watch() -> None:
        if alarm.get():
            time.sleep(PATIENCE_SECONDS)
            leave(0)

    def handle(number: int, frame: FrameType | None) -> None:
        ring()
        alarm.put(True)

    threading.Thread(target=watch, name="watch", daemon=True).start()
    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        alarm.put(False)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _no_tracebacks(output: Output) -> Iterator[None]:
    """Turn what a thread fails of, or what fails in the clearing up, into one line."""

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
