"""Stockfish as a process of our own: commands in, answers out, each within its time.

Nothing here blocks without a limit: both pipes are non-blocking, and commands are written while
answers are read, so that neither side waits for the other with a full pipe.

The process never outlives us. It leaves when its standard input ends, and ours is the only open end
of that pipe: it is closed by the system however we die, it is not inherited by programs that we
start, and children forked from us close their copies.
"""

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import time
import weakref
from typing import NamedTuple

DEBIAN_PATH = "/usr/games/stockfish"  # where Debian puts it; often not in PATH
PIPE_BYTES = 1 << 20  # what an answer pipe may hold, so that Stockfish rarely waits for us
READ_BYTES = 1 << 18
WRITE_BYTES = 1 << 16
ANSWER_BYTES = 1 << 16  # more than any answer: 218 lines of 150 characters, and comments
LAST_WAIT = 5.0  # seconds for a killed process to be gone
HASH_MEGABYTES = 1  # at depth 1 a larger table costs more than it finds


class StockfishError(Exception):
    """Stockfish can't be started, died, did not answer in time, or answered nonsense."""


class TimeLimits(NamedTuple):
    """How long to wait, in seconds, before a process counts as hung."""

    start: float = 10.0  # from the start of the process to its first answer
    silence: float = 1.0  # without a single byte of answers
    per_answer: float = 0.1  # on top of `silence`, for all answers of a batch


def stockfish_path(option: str | None = None) -> str | None:
    """Where Stockfish is: the option's value (a path, or a name in PATH), else `stockfish` in PATH,
    else where Debian puts it. None if there is no executable file.
    """
    if option:
        return shutil.which(os.path.expanduser(option))
    return shutil.which("stockfish") or shutil.which(DEBIAN_PATH)


class StockfishProcess:
    """One running Stockfish, single-threaded, that searches to depth 1.

    It starts when it is made; `name` and `max_multipv` are what it says of itself. All methods but
    `kill` belong to one thread at a time. After a StockfishError the process is of no more use.
    """

    def __init__(self, path: str, limits: TimeLimits = TimeLimits()) -> None:  # noqa: B008 - frozen
        """Start it and wait for its first answer. Raises StockfishError."""
        self._limits = limits
        try:
            self._popen = subprocess.Popen(
                [path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # a ^C in the terminal is for us alone
            )
        except OSError as error:
            raise StockfishError(f"can't run {path}: {error.strerror or error}") from error
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._input = self._popen.stdin.fileno()
        self._output = self._popen.stdout.fileno()
        self._finalizer = weakref.finalize(self, _end, self._popen, os.getpid())
        _running.add(self)
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        with contextlib.suppress(OSError):  # only a matter of speed
            fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._unwritten = memoryview(b"")
        self._text = bytearray()
        self._marker = b""
        self._missing = 0  # lines that begin with the marker
        self._seen = 0  # how far the text has been looked through for them
        self._most_text = 0
        self._limit = 0.0  # seconds for all of it
        self._multipv = 0
        try:
            self._shake_hands()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._popen.pid

    def _shake_hands(self) -> None:
        end = time.monotonic() + self._limits.start
        self._begin(b"uci\n", b"uciok", 1, self._limits.start)
        greeting = self.finish(self._limits.start).decode("ascii", "replace").splitlines()
        names = [line[len("id name ") :] for line in greeting if line.startswith("id name ")]
        ranges = [line.split() for line in greeting if line.startswith("option name MultiPV ")]
        self.name = names[0].strip() if names else "?"
        try:
            self.max_multipv = int(ranges[0][ranges[0].index("max") + 1])
        except (IndexError, ValueError):
            raise StockfishError(f"{self.name} has no MultiPV") from None
        # A first search shows that it can search: it may lack its network.
        self._begin(
            b"setoption name Threads value 1\n"
            b"setoption name Hash value %d\n"
            b"position startpos\ngo depth 1\n" % HASH_MEGABYTES,
            b"bestmove",
            1,
            end - time.monotonic(),
        )
        self.finish(max(end - time.monotonic(), 0.0))

    def begin(self, requests: bytes | memoryview, answers: int, multipv: int) -> None:
        """Send requests that will be answered by so many `bestmove` lines, listing `multipv` moves.

        Does not wait; what doesn't fit into the pipe is sent by `finish`, which must come next.
        """
        # The option may change only when no search is going on: some versions read it at any time.
        # So it may here, where all earlier answers have been read.
        multipv = min(multipv, self.max_multipv)
        option = b"setoption name MultiPV value %d\n" % multipv if multipv != self._multipv else b""
        self._multipv = multipv
        limit = self._limits.silence + answers * self._limits.per_answer
        self._begin(option + bytes(requests), b"bestmove", answers, limit)

    def _begin(self, commands: bytes, marker: bytes, lines: int, limit: float) -> None:
        self._unwritten = memoryview(commands)
        self._text = bytearray(b"\n")  # so that every line has one before it
        self._marker = b"\n" + marker
        self._missing = lines
        self._seen = 0
        self._most_text = (lines + 1) * ANSWER_BYTES
        self._limit = limit
        self._write()

    def finish(self, silence: float | None = None) -> bytearray:
        """Wait for all answers begun; return their text. Raises StockfishError, in bounded time."""
        patience = self._limits.silence if silence is None else silence
        quiet_until = time.monotonic() + patience
        deadline = time.monotonic() + self._limit
        while not self._is_complete():
            wait = min(quiet_until, deadline) - time.monotonic()
            if wait < 0:
                raise StockfishError("it does not answer")
            self._poll.register(self._input, select.POLLOUT if self._unwritten else 0)
            events = dict(self._poll.poll(wait * 1000))
            if self._output in events:
                self._read()
                quiet_until = time.monotonic() + patience
            if self._input in events:
                self._write()
        return self._text

    def _is_complete(self) -> bool:
        """Whether the last line that was waited for is there, to its end."""
        while self._missing:
            at = self._text.find(self._marker, self._seen)
            if at < 0:
                self._seen = max(self._seen, len(self._text) - len(self._marker) + 1)
                return False
            self._missing -= 1
            self._seen = at + 1
        return self._text.find(b"\n", self._seen) >= 0

    def _read(self) -> None:
        try:
            chunk = os.read(self._output, READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            raise StockfishError(f"its output is lost: {error.strerror}") from error
        if not chunk:
            raise StockfishError(self._epitaph())
        self._text += chunk
        if len(self._text) > self._most_text:
            raise StockfishError("it talks without end")

    def _write(self) -> None:
        """Write as much as the pipe takes."""
        try:
            while self._unwritten:
                written = os.write(self._input, self._unwritten[:WRITE_BYTES])
                self._unwritten = self._unwritten[written:]
        except BlockingIOError:
            pass
        except OSError as error:
            raise StockfishError(self._epitaph()) from error

    def _epitaph(self) -> str:
        """What became of a process that has closed its pipes."""
        try:
            code = self._popen.wait(0.1)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"it was ended by {signal.Signals(-code).name}"
        return f"it left with exit code {code}"

    def kill(self) -> None:
        """End the process at once. May be called from any thread; `close` must still follow."""
        _kill(self._popen)

    def close(self) -> None:
        """End the process, leave no zombie, and close the pipes. May be called again."""
        self._finalizer()
        _running.discard(self)


def _kill(popen: "subprocess.Popen[bytes]") -> None:
    """Kill the process and all of its group: a path may name a script that starts the real one."""
    if popen.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            popen.kill()


def _end(popen: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() == owner:
        _kill(popen)
        with contextlib.suppress(subprocess.TimeoutExpired):
            popen.wait(LAST_WAIT)
    for stream in (popen.stdin, popen.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


_running: "weakref.WeakSet[StockfishProcess]" = weakref.WeakSet()


def _let_go_after_fork() -> None:
    """In a forked child: close its copies of the pipes, which would keep the processes alive."""
    for process in list(_running):
        process.close()


os.register_at_fork(after_in_child=_let_go_after_fork)
