"""Child processes that never outlive this process, and the system's facts about their state.

Three mechanisms end a child when this process ends, in whatever way it ends:

- The child's standard input ends, because this process holds the only write end of that pipe. Other
  programs that it starts do not inherit it, and forked copies of this process close it.
- On Linux the system kills the child, at the request of `setpriv`, which then becomes the program.
  This ends even a child that is stopped or does not read.
- If this process exits normally, it kills the child and waits for it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import queue
import shutil
import signal
import subprocess
import threading
import weakref
from collections.abc import Sequence
from typing import NamedTuple

LAST_WAIT = 5.0  # seconds to wait for the end of a killed process
_MAGIC = (b"\x7fELF", b"#!")  # the first bytes of files that the system surely can run
_PROC = "/proc"


class ChildProcess:
    """A running program with pipes to its standard input and output, in its own session.

    arguments: those of the program. input, output: the pipes' file descriptors, blocking.
    """

    def __init__(self, path: str, arguments: Sequence[str] = ()) -> None:
        """Start the program. Raises OSError if the system cannot run it."""
        self._popen = _start([*_command(path), *arguments])
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self.pid = self._popen.pid
        self.input = self._popen.stdin.fileno()
        self.output = self._popen.stdout.fileno()
        self._finalizer = weakref.finalize(self, _end, self._popen, os.getpid())
        _running.add(self)

    def exit_code(self, seconds: float) -> int | None:
        """Wait for the end; return the exit code as `subprocess` does, or None after `seconds`."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill the process at once. Any thread may call this; `close` must still follow."""
        _kill(self._popen)

    def close(self) -> None:
        """Kill the process, leave no zombie, and close the pipes. A second call does nothing."""
        self._finalizer()
        _running.discard(self)


class Vitals(NamedTuple):
    """The system's facts about a process."""

    is_stopped: bool  # a signal or a debugger has stopped it, or it has ended
    is_asleep: bool  # no thread was working, or waiting for a core or a disk
    cpu_seconds: float  # CPU time used; exact if `schedstat` exists, else in hundredths


def vitals(pid: int) -> Vitals | None:
    """Return the facts about a process; None if the system has none or the process is gone.

    psutil does not serve here: it tells the state of the first thread alone, which sleeps while
    Stockfish searches in another, and the CPU time in hundredths of a second.
    """
    states = ""
    seconds = 0.0
    folder = f"{_PROC}/{pid}/task"
    try:
        for thread in os.listdir(folder):
            fields = _read(f"{folder}/{thread}/stat").rpartition(b")")[2].split()
            states += fields[0].decode()
            try:
                seconds += int(_read(f"{folder}/{thread}/schedstat").split()[0]) * 1e-9
            except OSError:
                ticks = int(fields[11]) + int(fields[12])  # user and system
                seconds += ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
    return Vitals(
        is_stopped=all(state in "TtZXx" for state in states),
        is_asleep=not any(state in "RD" for state in states),
        cpu_seconds=seconds,
    )


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _command(path: str) -> list[str]:
    """Return the command for `path` with which the system kills the child when this process ends.

    For a file that may not be executable the command is `path` alone, so that starting it fails
    with the system's own error.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError:
        return [path]
    setpriv = shutil.which("setpriv")
    if setpriv is None or not start.startswith(_MAGIC) or not os.access(path, os.X_OK):
        return [path]
    return [setpriv, "--pdeathsig", "KILL", "--", os.path.abspath(path)]


class _ChildStarter:
    """A thread that starts all children and lives as long as this process.

    The system kills a child when the thread that started it ends, not when the whole parent process
    ends (prctl(2), PR_SET_PDEATHSIG).
    """

    def __init__(self) -> None:
        self._commands: queue.SimpleQueue[
            tuple[list[str], concurrent.futures.Future[subprocess.Popen[bytes]]]
        ] = queue.SimpleQueue()
        threading.Thread(target=self._start_children, name="child-starter", daemon=True).start()

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """Start a child. Raises OSError."""
        child: concurrent.futures.Future[subprocess.Popen[bytes]] = concurrent.futures.Future()
        self._commands.put((command, child))
        return child.result()

    def _start_children(self) -> None:
        while True:
            command, child = self._commands.get()
            try:
                popen = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    start_new_session=True,  # a Ctrl-C in the terminal does not reach it
                )
            except BaseException as error:
                child.set_exception(error)
            else:
                child.set_result(popen)


_starter: _ChildStarter | None = None
_starter_lock = threading.Lock()


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    global _starter  # noqa: PLW0603 - one thread for the whole process
    with _starter_lock:
        if _starter is None:
            _starter = _ChildStarter()
    return _starter.start(command)


def _kill(popen: subprocess.Popen[bytes]) -> None:
    """Kill the process and its group: a path may name a script that starts the real program."""
    if popen.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            popen.kill()


def _end(popen: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() == owner:
        _kill(popen)
        with contextlib.suppress(subprocess.TimeoutExpired):
            popen.wait(LAST_WAIT)
    for stream in (popen.stdin, popen.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


_running: weakref.WeakSet[ChildProcess] = weakref.WeakSet()


def _after_fork() -> None:
    """Close a forked child's copies of the pipes, which would keep the processes alive."""
    global _starter, _starter_lock
    # The fork copies no thread, and another thread may have held the lock.
    _starter, _starter_lock = None, threading.Lock()
    for process in list(_running):
        process.close()


os.register_at_fork(after_in_child=_after_fork)
