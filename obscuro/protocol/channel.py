"""Bytes in, bytes out: lines from a file descriptor and to it, and the log of both."""

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable, Iterator

from obscuro.protocol.printing import one_line

READ_BYTES = 1 << 16
LONGEST_LINE = 1 << 22
"""Bytes; a game of 5,000 moves as observations has a tenth of it."""
TOO_LONG = None
"""Stands for a line that was longer, and is lost."""


def read_lines(descriptor: int) -> Iterator[str | None]:
    """Yield the lines that come in, without their ends; TOO_LONG in place of one that is.

    Ends where the input does, or can't be read any more. Bad UTF-8 is read as U+FFFD.
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
    """Read what there is; nothing at the end of the input, or where it is lost."""
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            select.select([descriptor], [], [])
        except OSError:
            return b""


class Log:
    """All lines in (`>`) and out (`<`) with their times, and details of failures (`!`)."""

    def __init__(self, path: str | None) -> None:
        """Open the file for appending; None: no log. Raises OSError."""
        self._stream = None
        if path is not None:
            self._stream = open(path, "a", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._lock = threading.Lock()

    def write(self, mark: str, text: str) -> None:
        """Write a text, each of its lines marked. A full disk is no reason to stop playing."""
        if self._stream is None:
            return
        now = time.time()
        stamp = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03}"
        lines = "".join(f"{stamp} {mark} {line}\n" for line in text.split("\n"))
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(lines)
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            with self._lock, contextlib.suppress(OSError):
                self._stream.close()


class Output:
    """Where lines go out, whole and in order, from any thread.

    on_broken: called once when nobody reads any more; from then on all is silently lost.
    """

    def __init__(self, descriptor: int, log: Log, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._log = log
        self._on_broken = on_broken
        self._lock = threading.Lock()
        self._broken = False

    def lines(self, *lines: str) -> None:
        """Write lines, with nothing of other threads between them."""
        text = "\n".join(lines)
        with self._lock:
            if self._broken:
                return
            self._log.write("<", text)
            try:
                self._write(f"{text}\n".encode("utf-8", "replace"))
            except OSError:
                self._broken = True
                self._on_broken()

    def error(self, text: str) -> None:
        """Say what could not be done."""
        self.lines(f"info string error {one_line(text)}")

    def warning(self, text: str) -> None:
        """Say what a user should know."""
        self.lines(f"info string warning {one_line(text)}")

    def failure(self, what: str, details: str) -> None:
        """Say in one line what went wrong with us; the details go to the log alone."""
        self.note(details.rstrip("\n"))
        self.error(what)

    def note(self, text: str) -> None:
        """Write to the log alone."""
        self._log.write("!", text)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
