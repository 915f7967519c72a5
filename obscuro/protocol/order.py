"""One `go`: what was asked for, and the signals that a running search heeds."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from obscuro.engine.constants import MOST_OF_CLOCK
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.engine.turn_time import turn_time
from obscuro.protocol.history import History
from obscuro.protocol.parsing import Go

STOP_SECONDS = 0.02
"""How long after `stop` a search may take to end by itself; `stop` is answered within 50 ms."""
FLAG_SECONDS = 0.02
"""Before a clock runs out, at the latest, that a move is played without waiting for the search."""
Answer = Callable[[], None]


class SearchOrder:
    """A search from `go` to `bestmove`. Made and signalled by one thread, worked off by another.

    stop: set when the search is to end. overhead_ms: the option `Move Overhead`. move: what was
    answered, once it was. last: what the search reported last.

    A search ends within milliseconds of `stop`, and in time for its clock, but for a few passes over
    millions of positions, and as far as the machine has a core for it. So who works it off leaves an
    answer that another thread can give where it is late.
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

    # -- for who gives the order ------------------------------------------------------------

    def end(self) -> None:
        """End the search as soon as possible."""
        self.stop.set()
        self._may_answer.set()
        self._answer_within(STOP_SECONDS)

    def ponderhit(self, received: float) -> None:
        """The clock runs from now on. Nothing happens where the search doesn't ponder."""
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
        """Do something once the engine is ready and searches, at once if it does; False if done."""
        with self._lock:
            if self._done:
                return False
            if not self._started:
                self._at_start.append(action)
                return True
        action()
        return True

    # -- for who works it off ---------------------------------------------------------------

    def limits(self) -> GoLimits:
        """Return the limits of the search; while pondering no clock runs."""
        return replace(self._limits, infinite=True) if self._go.ponder else self._limits

    def overdue(self) -> bool:
        """Whether an engine that is not ready yet should play any move, not to lose on time.

        With movetime there is no clock to lose by: the search waits until the engine is ready.
        """
        limits = self.limits()
        left = limits.wtime if self.history.side else limits.btime
        if self.stop.is_set():
            return True
        if limits.infinite or limits.movetime is not None or left is None:
            return False
        return time.monotonic() >= limits.received + MOST_OF_CLOCK * left / 1000

    def ready_since(self, seconds: float) -> None:
        """Count the time from then on, where the engine was not ready before; a clock has run on."""
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
        """Note that the search begins now. late: called, by another thread, where it ends too late."""
        with self._lock:
            self._late = late
        if self.stop.is_set():
            self._answer_within(STOP_SECONDS)
        elif not self._pondering:
            self._watch_flag(self._limits)

    def heed(self, info: SearchInfo) -> None:
        """Keep what a search reports; end it if it is as deep as was asked for."""
        self.last = info
        if self._go.depth is not None and info.depth >= self._go.depth:
            self.stop.set()

    def start(self) -> None:
        """Note that the engine is ready and the search begins. May be called again."""
        with self._lock:
            self._started = True
            actions, self._at_start = self._at_start, []
        for action in actions:
            action()

    def wait_to_answer(self) -> None:
        """Block while `bestmove` must not be said: until stop, or until ponderhit."""
        self._may_answer.wait()

    def finish(self) -> bool:
        """Note that `bestmove` is the next thing said; False if it was said before."""
        with self._lock:
            if self._done:
                return False
            self._done = True
        self.stop.set()  # who searches still need not
        for timer in self._timers:
            timer.cancel()
        return True

    @property
    def done(self) -> bool:
        """Whether `bestmove` was said."""
        return self._done

    # -- inside -----------------------------------------------------------------------------

    def _watch_flag(self, limits: GoLimits) -> None:
        """Have a move played before the clock runs out; with movetime there is none to lose by."""
        left = limits.wtime if self.history.side else limits.btime
        if left is not None and limits.movetime is None and not limits.infinite:
            self._answer_within(limits.received + left / 1000 - FLAG_SECONDS - time.monotonic())

    def _answer_within(self, seconds: float) -> None:
        """Have the other answer given then, if none was by that time."""
        with self._lock:
            late = None if self._done else self._late
        if late is not None:
            self._after(seconds, late)

    def _after(self, seconds: float, action: Answer) -> None:
        timer = threading.Timer(max(0.0, seconds), action)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()
