"""Bytes in, bytes out: lines from a file descriptor and to it."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator

from obscuro.uci.log import FAILURE, OUT, Log
from obscuro.uci.printing import one_line

READ_BYTES = 1 << 16
LONGEST_LINE = 1 << 22
"""Bytes of a line at most; a game of 5,000 moves as observations has a tenth of it."""
TOO_LONG = None
"""Stands for a longer line, which is dropped."""


def read_lines(descriptor: int) -> Iterator[str | None]:
    """Yield the lines that come in, without their ends; TOO_LONG in place of a line that is.

    It ends when the input ends or can't be read any more. Bad UTF-8 is read as U+FFFD.
    """
    pending = bytearray()
    lost = False
    while chunk := _read(descriptor):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            pending += piece
            yield TOO_LONG if lost or len(pending) > LONGEST_LINE else _text(pending)
            pending.clear()
            lost = False
        pending += rest
        if len(pending) > LONGEST_LINE:
            pending.clear()
            lost = True
    if lost:
        yield TOO_LONG
    elif pending:
        yield _text(pending)


def _text(line: bytearray) -> str:
    return line.decode("utf-8", "replace").replace("\r", "")


def _read(descriptor: int) -> bytes:
    """Wait for bytes and return them; nothing at the end of the input, or if it can't be read."""
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            select.select([descriptor], [], [])
        except OSError:
            return b""


def is_hung_up(descriptor: int) -> bool:
    """Return whether no process can write to an input any more; something may be left to read."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


class Output:
    """Writes lines, whole and in order. Any thread may call its methods.

    on_broken: called once when the reader has gone; from then on lines are dropped silently.
    """

    def __init__(self, descriptor: int, log: Log, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._log = log
        self._on_broken = on_broken
        self._lock = threading.Lock()
        self._broken = False
        self._writing_since: float | None = None

    def is_stuck(self, seconds: float) -> bool:
        """Return whether a line has been waiting longer than `seconds` to be read."""
        since = self._writing_since
        return since is not None and time.monotonic() - since > seconds

    def lines(self, *lines: str) -> None:
        """Write lines; no other thread's line comes between them."""
        text = "\n".join(lines)
        with self._lock:
            if self._broken:
                return
            self._log.write(OUT, text)
            failure = self._log.take_failure()
            if failure:
                text += f"\ninfo string warning {one_line(failure)}"
            self._writing_since = time.monotonic()
            try:
                self._write(f"{text}\n".encode("utf-8", "replace"))
            except OSError:
                self._broken = True
                self._on_broken()
            finally:
                self._writing_since = None

    def error(self, text: str) -> None:
        """Tell the user what could not be done."""
        self.lines(f"info string error {one_line(text)}")

    def warning(self, text: str) -> None:
        """Tell the user what they should know."""
        self.lines(f"info string warning {one_line(text)}")

    def failure(self, what: str, details: str) -> None:
        """Tell the user in one line what failed in here; the details go to the log only."""
        self.note(details.rstrip("\n"))
        self.error(what)

    def note(self, text: str) -> None:
        """Write a text to the log only."""
        self._log.write(FAILURE, text)

    def fact(self, name: str, value: object) -> None:
        """Write a fact, which a replay needs to know, to the log only."""
        self._log.fact(name, value)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
