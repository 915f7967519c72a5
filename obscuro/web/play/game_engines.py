"""The engines of the games under way, for the event loop; they work in threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from obscuro.client.engine import Mover, PlayResult, Think
from obscuro.client.engine_pool import EnginePool
from obscuro.client.uci_process import EngineError
from obscuro.web.play.engine_places import EnginePlaces, PlaceHolder

_Result = TypeVar("_Result")


class GameEngine:
    """An engine that one side of one game has taken."""

    def __init__(self, engine: Mover, threads: ThreadPoolExecutor) -> None:
        self.engine = engine
        self._threads = threads
        # A task may be cancelled while its thread still works, so the threads have the lock.
        self._one_at_a_time = threading.Lock()
        self._cancel: threading.Event | None = None  # of the search that is under way
        self._stopping: Future[None] | None = None

    def on_warning(self, report: Callable[[str], None]) -> None:
        """Pass the engine's failures and warnings to a function, in a thread of the engine."""
        self.engine.on_warning = report

    async def prepare(self, options: Mapping[str, str]) -> None:
        """Get ready for a game with these options. Raises EngineError."""

        def work() -> None:
            # A process that has ended since the last game is an error here; another one starts.
            with contextlib.suppress(EngineError):
                self.engine.configure(options)
            self.engine.prepare()

        await self._in_turn(work)

    async def choose(self, game_id: str, think: Think) -> PlayResult:
        """Choose a move; after `hurry` it is any move, and soon there."""
        stopping, self._stopping = self._stopping, None
        if stopping is not None:  # or it might come late, and stop this search
            await asyncio.wrap_future(stopping)
        cancel = self._cancel = threading.Event()
        choice = await self._in_turn(lambda: self.engine.choose(game_id, think, cancel))
        if self._cancel is cancel:
            self._cancel = None
        return choice

    def hurry(self) -> None:
        """End a search that is of no use any more, without waiting for it."""
        if self._cancel is not None:
            self._cancel.set()
            self._cancel = None
            self._stopping = self._threads.submit(self.engine.stop)

    async def rest(self) -> None:
        """End a search, and wait until the engine does nothing."""
        self.hurry()
        await self._in_turn(lambda: None)

    async def _in_turn(self, work: Callable[[], _Result]) -> _Result:
        def alone() -> _Result:
            with self._one_at_a_time:
                return work()

        return await asyncio.wrap_future(self._threads.submit(alone))


class GameEngines:
    """Hands out engines and takes them back.

    make: makes one. games: how many games of a person have an engine at the same time; a game of
    two engines counts as two. spare: how many unused engines stay ready; others end when their game
    gives them back.
    """

    def __init__(self, make: Callable[[], Mover], games: int, spare: int = 1) -> None:
        self.places = EnginePlaces(games)
        most = games + spare + 1  # one more to warm up
        self._pool = EnginePool(make, spare, most)
        self._taken: set[GameEngine] = set()
        self._giving: set[asyncio.Task[None]] = set()
        self._closed = False
        # A search, a word to stop it and the wait for its end may each block a thread.
        self._threads = ThreadPoolExecutor(3 * most, thread_name_prefix="engine")

    def take(self) -> GameEngine:
        """Return one that no game uses, to a game that has a place; it must be prepared.

        Raises EngineError.
        """
        engine = GameEngine(self._pool.take(), self._threads)
        self._taken.add(engine)
        return engine

    def give(self, engine: GameEngine, at_rest: Callable[[], None] = lambda: None) -> None:
        """Take one back, whatever it is doing. at_rest: called when it does nothing any more."""
        engine.on_warning(lambda text: None)
        if not self._closed:
            task = asyncio.get_running_loop().create_task(self._put_away(engine, at_rest))
            self._giving.add(task)
            task.add_done_callback(self._giving.discard)

    def release(self, holder: PlaceHolder, engines: Iterable[GameEngine]) -> None:
        """Take back all engines of a game, and its places as soon as the engines are at rest."""
        count = self.places.leave(holder)
        for engine in engines:
            self.give(engine, self.places.free if count > 0 else lambda: None)
            count -= 1
        for _ in range(count):  # it had no engines yet
            self.places.free()

    async def _put_away(self, engine: GameEngine, at_rest: Callable[[], None]) -> None:
        try:
            await engine.rest()
            self._taken.discard(engine)
            await self._in_thread(lambda: self._pool.give(engine.engine))
        finally:
            at_rest()

    async def _in_thread(self, work: Callable[[], None]) -> None:
        await asyncio.wrap_future(self._threads.submit(work))

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
        for engine in self._taken:
            engine.hurry()
        await self._in_thread(self._pool.close)
        self._threads.shutdown(wait=False, cancel_futures=True)
