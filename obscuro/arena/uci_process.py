"""A UCI engine as a child process: lines out, lines in, each answer within its time.

A thread reads what the engine says, so that it never waits for us; the methods belong to one
thread at a time. The engine gets a session of its own: a Ctrl-C in the terminal is ours alone.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence

START_SECONDS = 20.0
READY_SECONDS = 1200.0
"""For `isready` in all: on a cold cache the engine compiles itself meanwhile."""
READY_SILENCE_SECONDS = 120.0
QUIT_SECONDS = 3.0
_WORDS_OF_FAREWELL = 8  # lines of stderr that are kept


class EngineError(Exception):
    """An engine can't be started, died, or did not answer in time; the text is for the user."""


class UciProcess:
    """A running engine that has said `uciok`. Close it, or use it in a `with` statement."""

    def __init__(self, command: Sequence[str], start_seconds: float = START_SECONDS) -> None:
        """Start the program and shake hands. Raises EngineError."""
        self._command = command[0]
        try:
            self._popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"can't run {self._command}: {error.strerror or error}") from error
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # None: no more
        self._stderr: deque[str] = deque(maxlen=_WORDS_OF_FAREWELL)
        self._readers = [
            threading.Thread(target=reader, daemon=True)
            for reader in (self._read_stdout, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()
        self.name = self._command
        self.options: dict[str, str] = {}
        """The engine's options: lower-case name to the line that declares it."""
        try:
            self._shake_hands(start_seconds)
        except BaseException:
            self.kill()
            raise

    def _shake_hands(self, seconds: float) -> None:
        self.send("uci")
        for line in self.until("uciok", seconds):
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ").strip()
            elif line.startswith("option name "):
                name = line.removeprefix("option name ").partition(" type ")[0]
                self.options[name.strip().lower()] = line

    def _read_stdout(self) -> None:
        assert self._popen.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._popen.stdout:
                self._lines.put(line.decode("utf-8", "replace").strip())
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self._popen.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._popen.stderr:
                self._stderr.append(line.decode("utf-8", "replace").rstrip())

    # -- the dialogue -----------------------------------------------------------------------

    def send(self, line: str) -> None:
        """Send one line. Raises EngineError."""
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.write(line.encode() + b"\n")
        except (OSError, ValueError) as error:
            raise EngineError(self._epitaph()) from error

    def lines(
        self, seconds: float, silence: float | None = None, awaited: str = "answer"
    ) -> Iterator[str]:
        """Yield the lines that come, without end.

        Raises EngineError after so many seconds, or so many of *silence*, or if the engine is gone.
        awaited: what it did not give then, for the error's text.
        """
        deadline = time.monotonic() + seconds
        while True:
            patience = deadline - time.monotonic()
            if silence is not None:
                patience = min(patience, silence)
            try:
                line = self._lines.get(timeout=max(patience, 0.0))
            except queue.Empty:
                raise EngineError(f"{self.name} gave no {awaited} in time") from None
            if line is None:
                self._lines.put(None)
                raise EngineError(self._epitaph())
            yield line

    def until(self, last: str, seconds: float, silence: float | None = None) -> Iterator[str]:
        """Yield the lines that come, up to and with the first whose first word is *last*.

        Raises EngineError as `lines` does.
        """
        for line in self.lines(seconds, silence, last):
            yield line
            if line.split(maxsplit=1)[:1] == [last]:
                return

    def set_option(self, name: str, value: str) -> None:
        """Set an option that the engine has. Raises EngineError, also if it hasn't."""
        if name.lower() not in self.options:
            raise EngineError(f"{self.name} has no option {name!r}")
        self.send(f"setoption name {name} value {value}")

    def wait_ready(self) -> list[str]:
        """Say `isready` and wait for `readyok`; return what came before it. Raises EngineError."""
        self.send("isready")
        *said, _ = self.until("readyok", READY_SECONDS, READY_SILENCE_SECONDS)
        return said

    # -- the end ----------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._popen.pid

    def _epitaph(self) -> str:
        """Say what became of an engine that is gone."""
        try:
            code = self._popen.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"{self.name} closed its output"
        for reader in self._readers:
            reader.join(1.0)
        how = f"left with exit code {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                how = f"was ended by {signal.Signals(-code).name}"
        last_words = next((line for line in reversed(self._stderr) if line.strip()), "")
        return f"{self.name} {how}" + (f": {last_words.strip()}" if last_words else "")

    def close(self) -> None:
        """Ask the engine to quit, and end it if it doesn't. May be called again."""
        if self._popen.returncode is None:
            with contextlib.suppress(EngineError):
                self.send("quit")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(QUIT_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the engine and its children at once. May be called again."""
        if self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()
        for reader in self._readers:
            reader.join(1.0)
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> UciProcess:
        """Return itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()
