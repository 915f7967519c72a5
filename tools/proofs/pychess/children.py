"""Processes that the proof starts: each writes to a file and dies with the proof."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

POLL_SECONDS = 0.05
"""How often something is looked at that is waited for."""
KILL_SECONDS = 10.0


class NotAsExpectedError(Exception):
    """What a scenario expects did not happen; the text says what happened."""


def until(
    condition: Callable[[], bool], seconds: float, what: str, pause: float = POLL_SECONDS
) -> None:
    """Wait until a condition holds. Raises NotAsExpectedError after *seconds*, which names *what*.

    pause: seconds between two looks.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise NotAsExpectedError(f"{what} did not come within {seconds:g} s")
        time.sleep(pause)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Child:
    """A process whose output, both streams, goes to one file.

    The system kills it when the proof ends, however the proof ends, where `setpriv` is installed.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], output: Path
    ) -> None:
        """Start it. environment: in addition to ours. Raises OSError."""
        self.output = output
        setpriv = shutil.which("setpriv")
        guard = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
        with output.open("ab") as stream:
            self._start = stream.tell()
            self._popen = subprocess.Popen(
                [*guard, *command],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C in the terminal does not reach it
            )
        self.pid = self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while the process runs."""
        return self._popen.poll()

    def said(self) -> str:
        """Return what this process has written so far."""
        with self.output.open("rb") as stream:
            stream.seek(self._start)
            return stream.read().decode("utf-8", "replace")

    def signal(self, number: int) -> None:
        """Send a signal to this process alone."""
        self._popen.send_signal(number)

    def wait(self, seconds: float) -> int:
        """Return the exit code. Raises NotAsExpectedError if the process goes on."""
        until(lambda: self.exit_code is not None, seconds, "the end of the process")
        code = self.exit_code
        assert code is not None
        return code

    def kill(self) -> None:
        """Kill the process as a crash would, SIGKILL, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.kill()
        self._popen.wait()

    def kill_all(self) -> None:
        """Kill the process and all that it has started, and wait until they are gone."""
        started = self.family()[1:]
        self.kill()
        for each in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(started, KILL_SECONDS)

    def family(self) -> list[psutil.Process]:
        """Return the process and all that it has started and that still runs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            own = psutil.Process(self.pid)
            return [own, *own.children(recursive=True)]
        return []


@contextlib.contextmanager
def stopped(child: Child) -> Iterator[None]:
    """Within this context the process stands still: it answers nothing, and no connection breaks."""
    child.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        child.signal(signal.SIGCONT)
