"""A clock that goes only while somebody waits: for tests of pauses, which then take no time."""

from __future__ import annotations

import threading


class FakeTime:
    """Its `wait` takes no time and moves the clock on. waits: how long each should have been."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._now = 0.0
        self._lock = threading.Lock()

    def clock(self) -> float:
        """Return the seconds since the start."""
        with self._lock:
            return self._now

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._now += seconds

    def wait(self, cancel: threading.Event, seconds: float) -> bool:
        """Take the place of `threading.Event.wait`."""
        if cancel.is_set():
            return True
        self.waits.append(seconds)
        self.pass_by(seconds)
        return False
