"""A Stockfish process: it takes commands and gives answers, each within a time limit.

No call blocks without a limit. Both pipes are non-blocking. The caller's thread writes commands
while it reads answers, so neither side waits for the other with a full pipe.

While Stockfish works, the caller's thread sleeps until most answers are due. If both share a core,
waking up for each line would cost as much as reading it.
"""

import contextlib
import fcntl
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from obscuro.child_process import ChildProcess, Vitals, vitals

PIPE_BYTES = 1 << 20  # the capacity of the answer pipe, so that Stockfish rarely waits for us
READ_BYTES = 1 << 18
WRITE_BYTES = 1 << 16
ANSWER_BYTES = 1 << 16  # more than any answer: 218 lines of 150 characters, and comments
HASH_MEGABYTES = 1  # a larger table has no effect at depth 1

DUE_SHARE = 0.7  # the thread sleeps for this share of the expected time of the missing answers
SHORTEST_NAP = 0.0004  # seconds; a shorter sleep saves nothing
USUAL_MOVES = 33  # the usual number of moves of a position
SENSE_BYTES = 2000  # of text that are checked for sense if no answer comes

_ANSWER = b"\nbestmove"
# Lines before an answer begin with these words; the greeting and `No such option` count too.
_BEFORE_AN_ANSWER = (b"info", b"bestmove", b"Stockfish", b"No such option")
WORTH_GIVING = 4  # answers that `answers` yields while others are missing
LONGEST_NAP = 0.02  # seconds; the pipe does not fill in this time, and a death is noticed after it
PACE_GROWTH = 1.1  # the most by which the expected time of a move grows from batch to batch
OVERSLEPT = 0.8  # the factor of that time if all answers were there at the end of a sleep
CHECK_INTERVAL = 0.02  # seconds between two checks of a silent process


class StockfishError(Exception):
    """Stockfish did not start, died, did not answer in time, or answered nonsense."""


class TimeLimits(NamedTuple):
    """The seconds to wait before a process counts as hung.

    An answer takes a millisecond. After `silence` without an answer, a process is hung if it is
    stopped, sleeps, or has worked all the time. A process that waits for a core is not hung.
    """

    start: float = 10.0  # from the start of the process to its first answer
    start_wait: float = 4.0  # a caller waits so long for the first answer; the start goes on after
    silence: float = 0.2
    starved: float = 5.0  # without an answer, for whatever reason
    restart_wait: float = 0.15  # a batch waits so long for a new process, which takes under half


def enlarge_pipe(descriptor: int) -> None:
    """Let a pipe hold PIPE_BYTES if the system can: Linux does. A smaller pipe is only slower."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


class StockfishProcess:
    """One running Stockfish with a single thread, which searches to depth 1.

    `name` and `max_multipv` come from its answer to `uci`. One thread at a time may call the
    methods other than `kill`. After a StockfishError the process is unusable.

    path: the executable. limits: see `TimeLimits`. spawned: called with this object before the wait
    for the first answer, so that `kill` can end the wait.
    """

    def __init__(
        self,
        path: str,
        limits: TimeLimits = TimeLimits(),  # noqa: B008 - frozen
        spawned: "Callable[[StockfishProcess], None]" = lambda process: None,
    ) -> None:
        """Start the program and wait for its first answer. Raises StockfishError."""
        self._limits = limits
        try:
            self._child = ChildProcess(path)
        except OSError as error:
            raise StockfishError(f"can't run {path}: {error.strerror or error}") from error
        self._input = self._child.input
        self._output = self._child.output
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        enlarge_pipe(self._output)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._unwritten = memoryview(b"")
        self._text = bytearray()
        self._marker = b""
        self._missing = 0  # awaited lines that begin with the marker
        self._seen = 0  # the text before this index has been searched for them
        self._ready = 0  # complete answers in the text
        self._end = 0  # the end of the last complete answer
        self._multipv = 0
        self._share = 1.0  # mean number of listed moves in an answer
        self._pace = 0.0  # recent seconds for a listed move
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
        self._send_commands(b"uci\n", b"\nuciok", 1)
        greeting = self._finish_by(deadline).decode("ascii", "replace").splitlines()
        names = [line[len("id name ") :] for line in greeting if line.startswith("id name ")]
        ranges = [line.split() for line in greeting if line.startswith("option name MultiPV ")]
        self.name = names[0].strip() if names else "?"
        try:
            self.max_multipv = int(ranges[0][ranges[0].index("max") + 1])
        except (IndexError, ValueError):
            raise StockfishError(f"{self.name} has no MultiPV") from None
        # Stockfish 13 favours the side to move unless Contempt is 0. The first search shows whether
        # Stockfish can search at all: its network may be missing.
        contempt = any(line.startswith("option name Contempt ") for line in greeting)
        self._send_commands(
            (b"setoption name Contempt value 0\n" if contempt else b"")
            + b"setoption name Threads value 1\n"
            b"setoption name Hash value %d\n"
            b"position startpos\ngo depth 1\n" % HASH_MEGABYTES,
            _ANSWER,
            1,
        )
        self._finish_by(deadline)

    def begin(self, requests: bytes | memoryview, answers: int, multipv: int) -> None:
        """Send requests without waiting; `answers` must be the next call and sends the rest.

        answers: the number of `bestmove` lines to expect. multipv: how many moves to list.
        """
        # The option may change only between searches: some versions read it during a search.
        # No search runs here: all earlier answers have been read.
        multipv = min(multipv, self.max_multipv)
        option = b"setoption name MultiPV value %d\n" % multipv if multipv != self._multipv else b""
        self._multipv = multipv
        self._send_commands(option + bytes(requests), _ANSWER, answers)
        self.expect(answers * min(multipv, USUAL_MOVES))

    def expect(self, moves: int) -> None:
        """Set the expected number of listed moves in all answers, to estimate their time."""
        self._share = max(moves, 1) / max(self._missing, 1)

    def _send_commands(self, commands: bytes, marker: bytes, lines: int) -> None:
        self._unwritten = memoryview(commands)
        self._text = bytearray(b"\n")  # so that a newline precedes every line
        self._marker = marker
        self._missing = lines
        self._seen = self._ready = self._end = 0
        self._write()

    def answers(self) -> Iterator[tuple[bytes, int]]:
        """Yield the answers as they come, some at a time: their text and their number.

        The text lacks the newline of its last line. Raises StockfishError, in bounded time.
        """
        hang = _HangDetector(self._limits, self.pid)
        begin, asked, overslept = time.monotonic(), self._missing, False
        while self._missing:
            nap = min(DUE_SHARE * self._pace * self._share * self._missing, LONGEST_NAP)
            overslept = nap >= SHORTEST_NAP and hang.is_too_early
            if overslept:
                time.sleep(nap)
                self._write()
                progress = self._read() and self._count_answers()
            else:
                progress = self._wait_and_exchange(CHECK_INTERVAL) and self._count_answers()
            if not progress:
                self._check_sense()
                hang.check()
                continue
            hang.reset()
            if self._missing and self._ready >= WORTH_GIVING:
                yield self._take_answers()
        if asked:
            self._learn_pace((time.monotonic() - begin) / (asked * self._share), overslept)
        if self._ready:
            yield self._take_answers()

    def finish(self) -> bytes:
        """Wait for all answers; return their text. Raises StockfishError, in bounded time."""
        return b"".join(text for text, _ in self.answers()) + b"\n"

    def _learn_pace(self, pace: float, overslept: bool) -> None:
        """Update the expected seconds for a listed move, from a batch's `pace`.

        The expected time falls at once but grows slowly. It also falls if the last sleep was too
        long.
        """
        if overslept:
            pace = self._pace * OVERSLEPT
        self._pace = min(pace, PACE_GROWTH * self._pace) if self._pace else pace

    def _finish_by(self, deadline: float) -> bytes:
        """Wait for all answers until `deadline`, by `time.monotonic`. Raises StockfishError."""
        while self._missing:
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise StockfishError("it does not answer")
            if (
                self._wait_and_exchange(wait)
                and not self._count_answers()
                and self._marker == _ANSWER
            ):
                self._check_sense()
        return self._take_answers()[0]

    def _count_answers(self) -> bool:
        """Count the answers in the new text; return whether there is one."""
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
        """Raise StockfishError if a line since the last answer cannot come before an answer."""
        end = self._text.rfind(b"\n", self._end, self._end + SENSE_BYTES)
        for line in bytes(self._text[self._end : max(end, self._end)]).splitlines():
            if line and not line.startswith(_BEFORE_AN_ANSWER):
                raise StockfishError("its answers make no sense")

    def _take_answers(self) -> tuple[bytes, int]:
        """Remove and return the complete answers and their number, but not the last newline."""
        text, ready = bytes(self._text[: self._end]), self._ready
        del self._text[: self._end]
        self._seen -= self._end
        self._ready = self._end = 0
        return text, ready

    def _wait_and_exchange(self, wait: float) -> bool:
        """Wait up to `wait` seconds, read and write what is possible; return whether it read."""
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
            raise StockfishError(self._exit_message())
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
            raise StockfishError(self._exit_message()) from error

    def _exit_message(self) -> str:
        """Describe how a process ended that has closed its pipes."""
        code = self._child.exit_code(0.1)
        if code is None:
            return "it closed its output"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"it was killed by {signal.Signals(-code).name}"
        return f"it exited with code {code}"

    def kill(self) -> None:
        """Kill the process at once. Any thread may call this; `close` must still follow."""
        self._child.kill()

    def close(self) -> None:
        """Kill the process, leave no zombie, and close the pipes. A second call does nothing."""
        self._child.close()


class _HangDetector:
    """Measures the time since the last answer and decides whether the process is hung."""

    def __init__(self, limits: TimeLimits, pid: int) -> None:
        self._limits = limits
        self._pid = pid
        self.reset()

    def reset(self) -> None:
        """Start again after an answer."""
        self._since = time.monotonic()
        self._at_first: Vitals | None = None  # at the first check since the answer
        self._before: Vitals | None = None  # at the last check
        self._sleeping = 0  # successive checks that found it asleep and without new CPU time

    @property
    def is_too_early(self) -> bool:
        """Whether the last answer is too recent for a check."""
        return time.monotonic() < self._since + 2 * LONGEST_NAP

    def check(self) -> None:
        """Raise StockfishError if an answer is overdue."""
        if self.is_too_early:
            return
        state, before = vitals(self._pid), self._before
        self._before = state
        # The system reports the threads one by one, so each may be asleep when its turn comes.
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
