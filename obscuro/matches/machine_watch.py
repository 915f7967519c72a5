"""Notices when the machine stood still: suspended, out of memory, or without a free core.

A thread looks at the clock again and again. If it comes back much later than it asked for, then
nothing in this process ran meanwhile, and a player that seems slow may not be to blame.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from obscuro.client.uci_process import MachineFault

TICK_SECONDS = 0.2
STALL_SECONDS = 1.0
"""A tick that comes so much too late is a stall."""
_KEPT = 1000


class Stall(NamedTuple):
    """A time in which the machine stood still, in seconds of the watch's clock."""

    begin: float
    end: float

    def __str__(self) -> str:
        """Describe the stall in words."""
        return f"the machine stood still for {self.end - self.begin:.1f} s"


class MachineWatch:
    """Watches the machine from `start` to `stop`, or in a `with` statement.

    clock: returns seconds that go on while this process stands still.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._stalls: deque[Stall] = deque(maxlen=_KEPT)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="machine watch", daemon=True)

    def now(self) -> float:
        """Return the second of the watch's clock."""
        return self._clock()

    def tick(self) -> None:
        """Look at the clock, and note a stall if the last look was long ago."""
        with self._lock:
            now = self._clock()
            if now - self._last > TICK_SECONDS + STALL_SECONDS:
                self._stalls.append(Stall(self._last, now))
            self._last = now

    def stall_since(self, begin: float) -> Stall | None:
        """Return the last stall that reached past this second; None if there was none.

        A stall that is just over counts even if the watching thread has not run yet.
        """
        self.tick()
        with self._lock:
            last = self._stalls[-1] if self._stalls else None
        return last if last is not None and last.end > begin else None

    def check(self, begin: float) -> None:
        """Raise MachineFault if the machine stood still after this second."""
        stall = self.stall_since(begin)
        if stall is not None:
            raise MachineFault(str(stall))

    def _run(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            self.tick()

    def __enter__(self) -> MachineWatch:
        """Begin to watch."""
        self._last = self._clock()
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Watch no more."""
        self._stopped.set()
        self._thread.join()
