"""Engines for games that go on at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from obscuro.client.engine import Mover
from obscuro.client.uci_process import EngineError


class Preparable(Protocol):
    """What a pool needs of an engine."""

    def prepare(self) -> None:
        """Get ready to search at once. Raises EngineError."""

    def close(self) -> None:
        """Release everything. It may be called again."""


PooledT = TypeVar("PooledT", bound=Preparable)


class EnginePool(Generic[PooledT]):
    """Engines for games that go on at the same time. A finished game's engine is used again.

    make: makes one. spare: how many unused ones are kept. most: how many there may be; None: any
    number. Any thread may call it.
    """

    def __init__(
        self, make: Callable[[], PooledT], spare: int = 1, most: int | None = None
    ) -> None:
        self._make = make
        self._spare = spare
        self._most = most
        self._lock = threading.Lock()
        self._idle: list[PooledT] = []
        self._all: list[PooledT] = []
        self._closed = False

    def prepare(self, count: int = 1) -> None:
        """Have some ready to search, as many as `spare` at most. Raises EngineError."""
        engines: list[PooledT] = []
        try:
            for _ in range(count):
                engines.append(self.take())
                engines[-1].prepare()
        finally:
            for engine in engines:
                self.give(engine)

    def take(self) -> PooledT:
        """Return one that is not in use. Raises EngineError if there is none, or after `close`."""
        with self._lock:
            if self._closed:
                raise EngineError("the engines were closed")
            if self._idle:
                return self._idle.pop()
            if self._most is not None and len(self._all) >= self._most:
                raise EngineError("all engines are busy")
            engine = self._make()
            self._all.append(engine)
            return engine

    def give(self, engine: PooledT) -> None:
        """Take one back; it must not search."""
        with self._lock:
            if not self._closed and len(self._idle) < self._spare:
                self._idle.append(engine)
                return
            if engine in self._all:
                self._all.remove(engine)
        engine.close()

    def close(self) -> None:
        """Close all, also those in use, at the same time. A second call does nothing."""
        with self._lock:
            self._closed = True
            engines, self._all, self._idle = self._all, [], []
        threads = [threading.Thread(target=engine.close) for engine in engines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


MoverPool = EnginePool[Mover]
"""The pool of a bot account."""
