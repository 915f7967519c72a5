"""A UCI engine as a child process: we send lines and read lines, with a time limit on each answer.

A thread reads the engine's output, so the engine never blocks on a full pipe. One thread at a time
may call the methods. The engine runs in its own session, so a Ctrl-C in the terminal does not reach
it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence

START_SECONDS = 20.0
READY_SECONDS = 1200.0
"""The most seconds that `isready` may take: with a cold cache the engine compiles its kernels."""
READY_SILENCE_SECONDS = 120.0
"""The most seconds of these without any line of output."""
QUIT_SECONDS = 3.0
SEND_SECONDS = 10.0
"""The most seconds to wait for room in the pipe to the engine, which is 64 KiB or so."""
LONGEST_LINE = 1 << 20
"""Bytes of one line of the engine; the rest of a longer line counts as the next line."""
_KEPT_STDERR_LINES = 8
_CAPABILITIES = "info string capabilities "
_WRONG_COMMAND = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOEXEC, errno.ENOTDIR}
"""What the system says about a program that can't be run by any machine like this one."""
_SIGNALS_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
_SHELL_KILLED = 128
"""A shell that has started the engine exits with this plus the signal that killed the engine."""


class EngineError(Exception):
    """An engine did not start, died, or did not answer in time; the text is for the user."""


class SilentEngineError(EngineError):
    """An engine did not answer in time."""


class MachineFault(EngineError):  # noqa: N818 - a fault, as in `Played.fault`
    """The machine is at fault, not the engine: something killed it, or resources ran out."""


class UciProcess:
    """A running engine that has answered `uciok`. Close it, or use it in a `with` statement."""

    def __init__(self, command: Sequence[str], start_seconds: float = START_SECONDS) -> None:
        """Start the program, send `uci` and wait for `uciok`. Raises EngineError."""
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
            kind = EngineError if error.errno in _WRONG_COMMAND else MachineFault
            raise kind(f"can't run {self._command}: {error.strerror or error}") from error
        assert self._popen.stdin is not None
        os.set_blocking(self._popen.stdin.fileno(), False)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # None: end of output
        self._stderr: deque[str] = deque(maxlen=_KEPT_STDERR_LINES)
        self._readers = [
            threading.Thread(target=reader, daemon=True)
            for reader in (self._read_stdout, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()
        self._killed = False  # by us
        self.name = self._command
        self.options: dict[str, str] = {}
        """The engine's options: the name in lower case to the line that declares the option."""
        self.capabilities: frozenset[str] = frozenset()
        """What the engine can do beyond UCI: the words of its line (docs/protocol.md)."""
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
            elif line.startswith(_CAPABILITIES):
                self.capabilities |= set(line.removeprefix(_CAPABILITIES).split())

    def _read_stdout(self) -> None:
        assert self._popen.stdout is not None
        stdout = io.BufferedReader(self._popen.stdout)  # type: ignore[type-var]
        with contextlib.suppress(OSError, ValueError):
            while line := stdout.readline(LONGEST_LINE):
                self._lines.put(line.decode("utf-8", "replace").strip())
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self._popen.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._popen.stderr:
                self._stderr.append(line.decode("utf-8", "replace").rstrip())

    # -- the dialogue -----------------------------------------------------------------------

    def send(self, line: str) -> None:
        """Send one line. Raises EngineError if the engine is gone or does not read its input."""
        assert self._popen.stdin is not None
        rest = line.encode() + b"\n"
        try:
            while rest:
                written = self._popen.stdin.write(rest)
                if written is None:  # the pipe is full
                    _, ready, _ = select.select([], [self._popen.stdin], [], SEND_SECONDS)
                    if not ready:
                        raise SilentEngineError(f"{self.name} does not read its input")
                rest = rest[written or 0 :]
        except (OSError, ValueError) as error:
            raise self._exit_error() from error

    def lines(
        self, seconds: float, silence: float | None = None, awaited: str = "answer"
    ) -> Iterator[str]:
        """Yield the engine's lines as they come, without end.

        Raises EngineError when *seconds* have passed in all, when no line came for *silence*
        seconds, or when the engine is gone. awaited: what the caller waits for; the error names it.
        """
        deadline = time.monotonic() + seconds
        while True:
            patience = deadline - time.monotonic()
            if silence is not None:
                patience = min(patience, silence)
            try:
                line = self._lines.get(timeout=max(patience, 0.0))
            except queue.Empty:
                raise SilentEngineError(f"{self.name} gave no {awaited} in time") from None
            if line is None:
                self._lines.put(None)
                raise self._exit_error()
            yield line

    def until(self, last: str, seconds: float, silence: float | None = None) -> Iterator[str]:
        """Yield the engine's lines up to and including the first that begins with the word *last*.

        Raises EngineError as `lines` does.
        """
        for line in self.lines(seconds, silence, last):
            yield line
            if line.split(maxsplit=1)[:1] == [last]:
                return

    def set_option(self, name: str, value: str) -> None:
        """Set an option. Raises EngineError if the engine is gone or has no such option."""
        if name.lower() not in self.options:
            raise EngineError(f"{self.name} has no option {name!r}")
        self.send(f"setoption name {name} value {value}")

    def wait_ready(self) -> list[str]:
        """Send `isready`, wait for `readyok`, return the lines before it. Raises EngineError."""
        self.send("isready")
        *lines, _ = self.until("readyok", READY_SECONDS, READY_SILENCE_SECONDS)
        return lines

    # -- the end ----------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._popen.pid

    def _exit_error(self) -> EngineError:
        """Say how an engine that is gone ended, with its last line on stderr.

        It is the machine's fault if something outside killed the engine. A signal that a process
        brings upon itself, by a bad access or an abort, is the engine's own fault.
        """
        try:
            code = self._popen.wait(1.0)
        except subprocess.TimeoutExpired:
            return EngineError(f"{self.name} closed its output")
        for reader in self._readers:
            reader.join(1.0)
        how = f"exited with code {code}"
        killer = -code if code < 0 else code - _SHELL_KILLED
        if code < 0 or killer == signal.SIGKILL:
            with contextlib.suppress(ValueError):
                how = f"was killed by {signal.Signals(killer).name}"
        last_line = next((line for line in reversed(self._stderr) if line.strip()), "")
        text = f"{self.name} {how}" + (f": {last_line.strip()}" if last_line else "")
        from_outside = killer > 0 and killer in _SIGNALS_FROM_OUTSIDE and not self._killed
        return MachineFault(text) if from_outside else EngineError(text)

    def close(self) -> None:
        """Ask the engine to quit, and kill it if it does not. A second call does nothing."""
        if self._popen.returncode is None:
            with contextlib.suppress(EngineError):
                self.send("quit")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(QUIT_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the engine and its children at once. A second call does nothing."""
        if self._popen.poll() is None:
            self._killed = True
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
        """Return the process itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the engine."""
        self.close()
