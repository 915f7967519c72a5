"""Stockfish as a process of our own: commands in, answers out, each within its time.

Nothing here blocks without a limit: both pipes are non-blocking, and commands are written while
answers are read, so that neither side waits for the other with a full pipe.

While Stockfish works we sleep until most of its answers are due. To wake up at every line that it
writes costs both of us as much as to read it, where they share a core.
"""

import contextlib
import fcntl
import os
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from obscuro.evaluation.stockfish.child_process import ChildProcess, Vitals, vitals

DEBIAN_PATH = "/usr/games/stockfish"  # where Debian puts it; often not in PATH
PIPE_BYTES = 1 << 20  # what an answer pipe may hold, so that Stockfish rarely waits for us
READ_BYTES = 1 << 18
WRITE_BYTES = 1 << 16
ANSWER_BYTES = 1 << 16  # more than any answer: 218 lines of 150 characters, and comments
HASH_MEGABYTES = 1  # at depth 1 a larger table finds no more

DUE_SHARE = 0.7  # we sleep through this share of the time that the missing answers should take
SHORTEST_NAP = 0.0004  # seconds; for less it isn't worth it
USUAL_MOVES = 33  # of a position
SENSE_BYTES = 2000  # of a text that are looked at, where an answer does not come

_ANSWER = b"\nbestmove"
# With these begin lines that come before an answer: also the greeting, and `No such option`.
_BEFORE_AN_ANSWER = (b"info", b"bestmove", b"Stockfish", b"No such option")
WORTH_GIVING = 4  # answers that are given out while others are missing
LONGEST_NAP = 0.02  # in which the pipe doesn't fill, and after which a death is noticed
PACE_GROWTH = 1.1  # at most, from batch to batch, of the time that a move is expected to take
OVERSLEPT = 0.8  # what becomes of it where all answers were there when we woke up
CHECK_INTERVAL = 0.02  # seconds between two looks at a process that is silent


class StockfishError(Exception):
    """Stockfish can't be started, died, did not answer in time, or answered nonsense."""


class TimeLimits(NamedTuple):
    """How long to wait, in seconds, before a process counts as hung.

    An answer takes a millisecond. Without one for `silence`, a process that is stopped, sleeps, or has
    worked all the while is hung; one that waits for a core is not.
    """

    start: float = 10.0  # from the start of the process to its first answer
    start_wait: float = 4.0  # that anybody waits for that; it goes on beside
    silence: float = 0.2
    starved: float = 5.0  # without an answer, whatever the reason
    restart_wait: float = (
        0.15  # that a batch waits for a new process, which takes less than half of it
    )


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

    spawned: called with it before its first answer is waited for, so that `kill` can end the wait.
    """

    def __init__(
        self,
        path: str,
        limits: TimeLimits = TimeLimits(),  # noqa: B008 - frozen
        spawned: "Callable[[StockfishProcess], None]" = lambda process: None,
    ) -> None:
        """Start it and wait for its first answer. Raises StockfishError."""
        self._limits = limits
        try:
            self._child = ChildProcess(path)
        except OSError as error:
            raise StockfishError(f"can't run {path}: {error.strerror or error}") from error
        self._input = self._child.input
        self._output = self._child.output
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
        self._ready = 0  # answers in the text, to their ends
        self._end = 0  # where the last of them ends
        self._multipv = 0
        self._share = 1.0  # moves listed in an answer, on average
        self._pace = 0.0  # seconds for a move listed, lately
        try:
            spawned(self)
            self._shake_hands()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._child.pid

    def _shake_hands(self) -> None:
        deadline = time.monotonic() + self._limits.start
        self._begin(b"uci\n", b"\nuciok", 1)
        greeting = self._finish_by(deadline).decode("ascii", "replace").splitlines()
        names = [line[len("id name ") :] for line in greeting if line.startswith("id name ")]
        ranges = [line.split() for line in greeting if line.startswith("option name MultiPV ")]
        self.name = names[0].strip() if names else "?"
        try:
            self.max_multipv = int(ranges[0][ranges[0].index("max") + 1])
        except (IndexError, ValueError):
            raise StockfishError(f"{self.name} has no MultiPV") from None
        # 13 favours the side to move, unless it is told not to. A first search shows that it can
        # search: it may lack its network.
        contempt = any(line.startswith("option name Contempt ") for line in greeting)
        self._begin(
            (b"setoption name Contempt value 0\n" if contempt else b"")
            + b"setoption name Threads value 1\n"
            b"setoption name Hash value %d\n"
            b"position startpos\ngo depth 1\n" % HASH_MEGABYTES,
            _ANSWER,
            1,
        )
        self._finish_by(deadline)

    def begin(self, requests: bytes | memoryview, answers: int, multipv: int) -> None:
        """Send requests that will be answered by so many `bestmove` lines, listing `multipv` moves.

        Does not wait; what doesn't fit into the pipe is sent by `answers`, which must come next.
        """
        # The option may change only when no search is going on: some versions read it at any time.
        # So it may here, where all earlier answers have been read.
        multipv = min(multipv, self.max_multipv)
        option = b"setoption name MultiPV value %d\n" % multipv if multipv != self._multipv else b""
        self._multipv = multipv
        self._begin(option + bytes(requests), _ANSWER, answers)
        self.expect(answers * min(multipv, USUAL_MOVES))

    def expect(self, moves: int) -> None:
        """Say about how many moves will be listed in all, by which the time that takes is guessed."""
        self._share = max(moves, 1) / max(self._missing, 1)

    def _begin(self, commands: bytes, marker: bytes, lines: int) -> None:
        self._unwritten = memoryview(commands)
        self._text = bytearray(b"\n")  # so that every line has one before it
        self._marker = marker
        self._missing = lines
        self._seen = self._ready = self._end = 0
        self._write()

    def answers(self) -> Iterator[tuple[bytes, int]]:
        """All answers begun, some at a time as they come: their text, without the last line's end,
        and their number. Raises StockfishError, in bounded time.
        """
        patience = _Patience(self._limits, self.pid)
        begin, asked, overslept = time.monotonic(), self._missing, False
        while self._missing:
            nap = min(DUE_SHARE * self._pace * self._share * self._missing, LONGEST_NAP)
            overslept = nap >= SHORTEST_NAP and patience.is_fresh
            if overslept:
                time.sleep(nap)
                self._write()
                progress = self._read() and self._count()
            else:
                progress = self._exchange(CHECK_INTERVAL) and self._count()
            if not progress:
                self._check_sense()
                patience.check()
                continue
            patience.renew()
            if self._missing and self._ready >= WORTH_GIVING:
                yield self._take()
        if asked:
            self._learn_pace((time.monotonic() - begin) / (asked * self._share), overslept)
        if self._ready:
            yield self._take()

    def finish(self) -> bytes:
        """Wait for all answers begun; return their text. Raises StockfishError, in bounded time."""
        return b"".join(text for text, _ in self.answers()) + b"\n"

    def _learn_pace(self, pace: float, overslept: bool) -> None:
        """Take in how long a move took, or that we slept too long; slow to believe in slowness."""
        if overslept:
            pace = self._pace * OVERSLEPT
        self._pace = min(pace, PACE_GROWTH * self._pace) if self._pace else pace

    def _finish_by(self, deadline: float) -> bytes:
        """Wait for all answers until the `time.monotonic` second. Raises StockfishError."""
        while self._missing:
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise StockfishError("it does not answer")
            if self._exchange(wait) and not self._count() and self._marker == _ANSWER:
                self._check_sense()
        return self._take()[0]

    def _count(self) -> bool:
        """Look for answers in the new text; tell whether there is one."""
        before = self._missing
        while self._missing:
            at = self._text.find(self._marker, self._seen)
            if at < 0:
                self._seen = max(self._seen, len(self._text) - len(self._marker) + 1)
                break
            end = self._text.find(b"\n", at + 1)
            if end < 0:
                self._seen = at
                break
            self._missing -= 1
            self._ready += 1
            self._seen = self._end = end
        return self._missing < before

    def _check_sense(self) -> None:
        """Raise StockfishError if the text since the last answer is not what comes before one."""
        end = self._text.rfind(b"\n", self._end, self._end + SENSE_BYTES)
        for line in bytes(self._text[self._end : max(end, self._end)]).splitlines():
            if line and not line.startswith(_BEFORE_AN_ANSWER):
                raise StockfishError("its answers make no sense")

    def _take(self) -> tuple[bytes, int]:
        """The answers that are ready, and their number. The end of the last line stays."""
        text, ready = bytes(self._text[: self._end]), self._ready
        del self._text[: self._end]
        self._seen -= self._end
        self._ready = self._end = 0
        return text, ready

    def _exchange(self, wait: float) -> bool:
        """Read and write what is possible, after waiting for it; tell whether anything was read."""
        self._poll.register(self._input, select.POLLOUT if self._unwritten else 0)
        events = dict(self._poll.poll(wait * 1000))
        if self._input in events:
            self._write()
        return self._output in events and self._read()

    def _read(self) -> bool:
        try:
            chunk = os.read(self._output, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            raise StockfishError(f"its output is lost: {error.strerror}") from error
        if not chunk:
            raise StockfishError(self._epitaph())
        self._text += chunk
        if len(self._text) > (self._missing + self._ready + 1) * ANSWER_BYTES:
            raise StockfishError("it talks without end")
        return True

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
        code = self._child.exit_code(0.1)
        if code is None:
            return "it closed its output"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"it was killed by {signal.Signals(-code).name}"
        return f"it exited with code {code}"

    def kill(self) -> None:
        """End the process at once. May be called from any thread; `close` must still follow."""
        self._child.kill()

    def close(self) -> None:
        """End the process, leave no zombie, and close the pipes. May be called again."""
        self._child.close()


class _Patience:
    """How long there has been no answer, and whether that is the process's fault."""

    def __init__(self, limits: TimeLimits, pid: int) -> None:
        self._limits = limits
        self._pid = pid
        self.renew()

    def renew(self) -> None:
        """There has just been one."""
        self._since = time.monotonic()
        self._at_first: Vitals | None = None  # when it was looked at first
        self._before: Vitals | None = None  # when it was looked at last
        self._sleeping = 0  # times in a row that it was seen asleep, and had not worked since

    @property
    def is_fresh(self) -> bool:
        """Whether it is too early to look at it."""
        return time.monotonic() < self._since + 2 * LONGEST_NAP

    def check(self) -> None:
        """Raise StockfishError if there should have been an answer by now."""
        if self.is_fresh:
            return
        state, before = vitals(self._pid), self._before
        self._before = state
        # Its threads are not looked at at the same moment, so one of them may always be asleep.
        worked = state is None or before is None or state.cpu_seconds > before.cpu_seconds
        asleep = state is not None and state.is_asleep and not worked
        self._sleeping = self._sleeping + 1 if asleep else 0
        self._at_first = self._at_first or state
        silent = time.monotonic() - self._since
        if silent < self._limits.silence:
            return
        if state is not None and state.is_stopped:
            raise StockfishError("it was stopped")
        busy = (
            state.cpu_seconds - self._at_first.cpu_seconds if state and self._at_first else silent
        )
        starved = silent >= self._limits.starved
        if self._sleeping > 1 or busy >= self._limits.silence or starved:
            raise StockfishError("it does not answer")
