"""One `go`: its arguments, and the signals between the search and the commands' thread."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.engine.turn_time import MOST_OF_CLOCK, turn_time
from obscuro.uci.parsing import Go
from obscuro.uci.positions import History

STOP_SECONDS = 0.02
"""How long a search may take to end after `stop`; `stop` is answered within 50 ms."""
FLAG_SECONDS = 0.02
"""A move is played without waiting for the search when the clock has only this much time left."""
LONGEST_SECONDS = 1e9
"""A timer waits no longer: Python refuses times past some hundreds of years."""
Answer = Callable[[], None]


class SearchOrder:
    """A search from `go` to `bestmove`. One thread orders and signals it, another carries it out.

    stop: set when the search is to end. overhead_ms: the option `Move Overhead`. move: the move
    that was answered; None before. last: the search's last report.

    A search ends within milliseconds of `stop`, and in time for its clock. There are two
    exceptions: a few passes over millions of positions, and a machine without a free core. So the
    searching thread leaves an answer that another thread gives if the search is late.
    """

    def __init__(self, history: History, go: Go, overhead_ms: int, show_wdl: bool) -> None:
        self.history = history
        self.show_wdl = show_wdl
        self.move: str | None = None
        self.last: SearchInfo | None = None
        self.stop = threading.Event()
        self._go = go
        self._limits = go.limits
        self._overhead_ms = overhead_ms
        self._pondering = go.ponder
        self._may_answer = threading.Event()
        if not (go.ponder or go.limits.infinite):
            self._may_answer.set()
        self._timers: list[threading.Timer] = []
        self._late: Answer | None = None
        self._lock = threading.Lock()
        self._started = False
        self._done = False
        self._at_start: list[Callable[[], None]] = []

    # -- for the thread that gives the order ------------------------------------------------

    def end(self) -> None:
        """End the search as soon as possible."""
        self.stop.set()
        self._may_answer.set()
        self._answer_within(STOP_SECONDS)

    def ponderhit(self, received: float) -> None:
        """Let the clock run from now on. Nothing happens if the search does not ponder."""
        if not self._pondering:
            return
        self._pondering = False
        if self._limits.infinite:
            return
        self._limits = limits = replace(self._limits, received=received)
        turn = turn_time(limits, 0 if self.history.side else 1, self._overhead_ms)
        if turn is not None:
            self._after(turn.deadline - time.monotonic(), self.stop.set)
        self._watch_flag(limits)
        self._may_answer.set()

    def when_started(self, action: Callable[[], None]) -> bool:
        """Do something when the search begins, or at once if it has begun; False if it is over."""
        with self._lock:
            if self._done:
                return False
            if not self._started:
                self._at_start.append(action)
                return True
        action()
        return True

    # -- for the thread that carries it out -------------------------------------------------

    def limits(self) -> GoLimits:
        """Return the limits of the search; no clock runs while it ponders."""
        return replace(self._limits, infinite=True) if self._go.ponder else self._limits

    def overdue(self) -> bool:
        """Return whether an engine that is not ready should play any move to save its time.

        With movetime no side loses on time: the search waits until the engine is ready.
        """
        limits = self.limits()
        left = limits.wtime if self.history.side else limits.btime
        if self.stop.is_set():
            return True
        if limits.infinite or limits.movetime is not None or left is None:
            return False
        return time.monotonic() >= limits.received + MOST_OF_CLOCK * left / 1000

    def ready_since(self, seconds: float) -> None:
        """Count movetime from this second if the engine was not ready before; clocks have run."""
        limits = self._limits
        waited = round(1000 * (seconds - limits.received))
        if waited > 0:
            self._limits = replace(
                limits,
                received=seconds,
                wtime=None if limits.wtime is None else max(1, limits.wtime - waited),
                btime=None if limits.btime is None else max(1, limits.btime - waited),
            )

    def begin(self, late: Answer) -> None:
        """Note that the search begins now. late: another thread calls it if the search is late."""
        with self._lock:
            self._late = late
        if self.stop.is_set():
            self._answer_within(STOP_SECONDS)
        elif not self._pondering:
            self._watch_flag(self._limits)

    def note_report(self, info: SearchInfo) -> None:
        """Keep a report of the search; end the search if it has reached the depth of `go`."""
        self.last = info
        if self._go.depth is not None and info.depth >= self._go.depth:
            self.stop.set()

    def start(self) -> None:
        """Note that the engine is ready and the search begins. It may be called again."""
        with self._lock:
            self._started = True
            actions, self._at_start = self._at_start, []
        for action in actions:
            action()

    def wait_to_answer(self) -> None:
        """Block until `bestmove` may be said: infinite waits for stop, ponder for ponderhit."""
        self._may_answer.wait()

    def finish(self) -> bool:
        """Note that the caller says `bestmove` now; return False if it was said before."""
        with self._lock:
            if self._done:
                return False
            self._done = True
        self.stop.set()  # the search may still go on
        for timer in self._timers:
            timer.cancel()
        return True

    @property
    def done(self) -> bool:
        """Whether `bestmove` was said."""
        return self._done

    # -- inside -----------------------------------------------------------------------------

    def _watch_flag(self, limits: GoLimits) -> None:
        """Arrange a move before the clock runs out. With movetime there is no clock."""
        left = limits.wtime if self.history.side else limits.btime
        if left is not None and limits.movetime is None and not limits.infinite:
            self._answer_within(limits.received + left / 1000 - FLAG_SECONDS - time.monotonic())

    def _answer_within(self, seconds: float) -> None:
        """Send the fallback move after `seconds` unless bestmove was sent."""
        with self._lock:
            late = None if self._done else self._late
        if late is not None:
            self._after(seconds, late)

    def _after(self, seconds: float, action: Answer) -> None:
        timer = threading.Timer(min(max(0.0, seconds), LONGEST_SECONDS), action)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()
