"""The engines of the games under way: a process for each, which one game after another may use."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

from obscuro.client.mover import Mover, MoverChoice, Think
from obscuro.client.uci_process import EngineError

Report = Callable[[str], None]
_Result = TypeVar("_Result")


class AdjustableMover(Mover, Protocol):
    """A mover whose engine can be given other options between games."""

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options for the games that follow. Raises EngineError."""


MakeAdjustable = Callable[[Report], AdjustableMover]
"""Makes a mover. Its argument receives a line for every failure and warning, in any thread."""


class PooledEngine:
    """One engine, for one game at a time.

    on_trouble: receives the engine's failures, in a thread of the engine.
    """

    def __init__(self, make: MakeAdjustable, threads: ThreadPoolExecutor) -> None:
        self.on_trouble: Report = _ignore
        self._mover = make(self._report)
        self._threads = threads
        # A task may be cancelled while its thread still works, so the threads have the lock.
        self._one_at_a_time = threading.Lock()
        self._cancel: threading.Event | None = None  # of the search that is under way
        self._stopping: Future[None] | None = None

    def _report(self, text: str) -> None:
        self.on_trouble(text)

    async def prepare(self, options: Mapping[str, str]) -> None:
        """Get ready for a game with these options. Raises EngineError."""

        def work() -> None:
            # A process that has ended since the last game is an error here; another one starts.
            with contextlib.suppress(EngineError):
                self._mover.configure(options)
            self._mover.prepare()

        await self._in_turn(work)

    async def choose(self, game_id: str, think: Think) -> MoverChoice:
        """Choose a move; after `hurry` it is any move, and soon there."""
        stopping, self._stopping = self._stopping, None
        if stopping is not None:  # or it might come late, and stop this search
            await asyncio.wrap_future(stopping)
        cancel = self._cancel = threading.Event()
        choice = await self._in_turn(lambda: self._mover.choose(game_id, think, cancel))
        if self._cancel is cancel:
            self._cancel = None
        return choice

    def hurry(self) -> None:
        """End a search that is of no use any more, without waiting for it."""
        if self._cancel is not None:
            self._cancel.set()
            self._cancel = None
            self._stopping = self._threads.submit(self._mover.stop)

    async def rest(self) -> None:
        """End a search, and wait until the engine does nothing."""
        self.hurry()
        await self._in_turn(lambda: None)

    async def close(self) -> None:
        """End the engine."""
        if self._cancel is not None:
            self._cancel.set()
        await asyncio.wrap_future(self._threads.submit(self._mover.close))

    async def _in_turn(self, work: Callable[[], _Result]) -> _Result:
        def alone() -> _Result:
            with self._one_at_a_time:
                return work()

        return await asyncio.wrap_future(self._threads.submit(alone))


class EnginePool:
    """Hands out engines and takes them back.

    make: makes one. most: how many games go on at the same time; a game has two engines at most.
    spare: how many unused engines stay ready; others end when their game does.
    """

    def __init__(self, make: MakeAdjustable, most: int, spare: int = 1) -> None:
        self._make = make
        self._most = 2 * most + spare
        self._spare = spare
        self._idle: list[PooledEngine] = []
        self._all: set[PooledEngine] = set()
        self._giving: set[asyncio.Task[None]] = set()
        self._closed = False
        # A search, a word to stop it and the wait for its end may each block a thread.
        self._threads = ThreadPoolExecutor(3 * self._most, thread_name_prefix="engine")

    def take(self) -> PooledEngine:
        """Return one that no game uses; it must be prepared. Raises EngineError if there is none.

        That happens while engines of games that have ended are still busy.
        """
        if self._idle:
            return self._idle.pop()
        if self._closed or len(self._all) >= self._most:
            raise EngineError("all engines are busy")
        engine = PooledEngine(self._make, self._threads)
        self._all.add(engine)
        return engine

    def give(self, engine: PooledEngine) -> None:
        """Take one back, whatever it is doing."""
        engine.on_trouble = _ignore
        if not self._closed:
            task = asyncio.get_running_loop().create_task(self._put_away(engine))
            self._giving.add(task)
            task.add_done_callback(self._giving.discard)

    async def _put_away(self, engine: PooledEngine) -> None:
        await engine.rest()
        if len(self._idle) < self._spare and not self._closed:
            self._idle.append(engine)
            return
        await engine.close()
        self._all.discard(engine)

    async def warm_up(self, options: Mapping[str, str]) -> None:
        """Have one ready before the first game. Raises EngineError."""
        engine = self.take()
        try:
            await engine.prepare(options)
        finally:
            self.give(engine)

    async def at_rest(self) -> None:
        """Wait until the engines that were given back do nothing."""
        while self._giving:
            await asyncio.wait(list(self._giving))

    async def close(self) -> None:
        """End all engines, also those in use."""
        self._closed = True
        for task in self._giving:
            task.cancel()
        await asyncio.gather(*(engine.close() for engine in self._all))
        self._threads.shutdown(wait=False, cancel_futures=True)


def _ignore(text: str) -> None:
    """Pass over a line."""
