"""Programs run as children that never outlive us, and what the system knows of how they do.

Three things see to it that a child ends when we do, however that happens. Its standard input ends,
because ours is the only open end of that pipe: it is not inherited by programs that we start, and
copies of ourselves (fork) close theirs. On Linux the system also kills the child: `setpriv` asks for that
before it becomes the program; this ends even a child that is stopped, or doesn't read. And where we
leave in order, the child is killed and waited for.
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
from typing import NamedTuple

LAST_WAIT = 5.0  # seconds for a killed process to be gone
_MAGIC = (b"\x7fELF", b"#!")  # how a file begins that can be run for sure
_PROC = "/proc"


class ChildProcess:
    """A running program with pipes to its standard input and output, in a session of its own.

    input, output: their file descriptors, blocking. Raises OSError where it can't be run.
    """

    def __init__(self, path: str) -> None:
        """Start it."""
        self._popen = _start(_command(path))
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self.pid = self._popen.pid
        self.input = self._popen.stdin.fileno()
        self.output = self._popen.stdout.fileno()
        self._finalizer = weakref.finalize(self, _end, self._popen, os.getpid())
        _running.add(self)

    def exit_code(self, seconds: float) -> int | None:
        """How it ended, as `subprocess` says it; None if it does not within so many seconds."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it at once. May be called from any thread; `close` must still follow."""
        _kill(self._popen)

    def close(self) -> None:
        """End it, leave no zombie, and close the pipes. May be called again."""
        self._finalizer()
        _running.discard(self)


class Vitals(NamedTuple):
    """What the system says of a process."""

    is_stopped: bool  # by a signal or a debugger, or it has ended
    is_asleep: bool  # no thread was seen to work, or to wait for a core or a disk
    cpu_seconds: float  # that it has used; exact where `schedstat` tells, else in hundredths


def vitals(pid: int) -> Vitals | None:
    """How a process does; None where the system does not say, or there is no such process."""
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
    """What to run for `path`, so that the system kills it when we end.

    A file that may not be one to run is left to the system to refuse.
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


class _Nursery:
    """A thread that starts children, and lives as long as we do.

    It must: the system takes the end of the thread that started a child for the end of its parent
    (prctl(2), PR_SET_PDEATHSIG).
    """

    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[
            tuple[list[str], concurrent.futures.Future[subprocess.Popen[bytes]]]
        ] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="nursery", daemon=True).start()

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """Start a child. Raises OSError."""
        child: concurrent.futures.Future[subprocess.Popen[bytes]] = concurrent.futures.Future()
        self._orders.put((command, child))
        return child.result()

    def _work(self) -> None:
        while True:
            command, child = self._orders.get()
            try:
                popen = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=0,
                    start_new_session=True,  # a ^C in the terminal is for us alone
                )
            except BaseException as error:
                child.set_exception(error)
            else:
                child.set_result(popen)


_nursery: _Nursery | None = None
_opening = threading.Lock()


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    global _nursery  # noqa: PLW0603 - one thread for the whole process
    with _opening:
        if _nursery is None:
            _nursery = _Nursery()
    return _nursery.start(command)


def _kill(popen: subprocess.Popen[bytes]) -> None:
    """Kill the process and all of its group: a path may name a script that starts the real one."""
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
    """In a forked child: close its copies of the pipes, which would keep the processes alive."""
    global _nursery, _opening
    # The thread was not copied, and the lock may have been held.
    _nursery, _opening = None, threading.Lock()
    for process in list(_running):
        process.close()


os.register_at_fork(after_in_child=_after_fork)
