"""Movers for games that go on at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable

from obscuro.client.mover import Mover


class MoverPool:
    """Movers for games that go on at the same time. A finished game's mover is used again.

    make: makes one. spare: how many unused ones are kept.
    """

    def __init__(self, make: Callable[[], Mover], spare: int) -> None:
        self._make = make
        self._spare = spare
        self._lock = threading.Lock()
        self._idle: list[Mover] = []
        self._all: list[Mover] = []
        self._closed = False

    def prepare(self) -> None:
        """Make one ready to search. Raises EngineError."""
        mover = self.take()
        try:
            mover.prepare()
        finally:
            self.give(mover)

    def take(self) -> Mover:
        """Return one that nobody uses."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            mover = self._make()
            self._all.append(mover)
            return mover

    def give(self, mover: Mover) -> None:
        """Take one back."""
        with self._lock:
            if not self._closed and len(self._idle) < self._spare:
                self._idle.append(mover)
                return
            if mover in self._all:
                self._all.remove(mover)
        mover.close()

    def close(self) -> None:
        """Close all, also those in use."""
        with self._lock:
            self._closed = True
            movers, self._all, self._idle = self._all, [], []
        for mover in movers:
            mover.close()
