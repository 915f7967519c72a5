"""Asks an engine about games that are over: one question after the other, and not too many."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import chess.pgn

from obscuro.viewer.document import ShownAdvice, ShownAnalysis
from obscuro.viewer.make_document import turns_to_explain
from obscuro.web.web_limits import TOO_MANY, UNAVAILABLE, WebError

OnPly = Callable[[int, ShownAdvice | None], None]
_Result = TypeVar("_Result")


class GameAnalyst(Protocol):
    """An engine that looks at games; `obscuro.viewer.analysis.Analyst` is one.

    Any thread may call `close`, one thread at a time the rest. Raises AnalysisError.
    """

    @property
    def description(self) -> ShownAnalysis:
        """Who analyses, and how."""

    def advise(self, game: chess.pgn.Game, ply: int) -> ShownAdvice:
        """Return what the engine would play after `ply` plies."""

    def analyse(
        self, game: chess.pgn.Game, on_ply: OnPly, cancel: threading.Event
    ) -> list[ShownAdvice | None]:
        """Return the engine's advice for each move."""

    def explain(
        self,
        game: chess.pgn.Game,
        advice: Sequence[ShownAdvice | None],
        turns: Collection[int],
        *,
        cancel: threading.Event,
    ) -> list[ShownAdvice | None]:
        """Return the advice with the reasons of some mistakes."""

    def close(self) -> None:
        """End the engine."""


class Consultant:
    """One engine in a thread, which answers one question of an address after the other.

    most: how many addresses may wait for it. make: makes the engine.
    """

    def __init__(self, make: Callable[[], GameAnalyst], most: int) -> None:
        self._make = make
        self._most = most
        self._waiting: set[str] = set()
        self._lock = asyncio.Lock()
        self._cancel = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="analyst")
        self._analyst: GameAnalyst | None = None

    @property
    def description(self) -> ShownAnalysis:
        """Who analyses, and how."""
        return self._the_analyst().description

    async def advise(self, game: chess.pgn.Game, ply: int, address: str) -> ShownAdvice:
        """Return what the engine would play. Raises WebError, AnalysisError."""
        async with self._turn(address):
            return await self._work(lambda: self._the_analyst().advise(game, ply))

    async def analyse(
        self, game: chess.pgn.Game, on_ply: OnPly, address: str
    ) -> list[ShownAdvice | None]:
        """Return the engine's advice for each move, with the reasons of the worst ones.

        on_ply: is called in the event loop. Raises WebError, AnalysisError.
        """
        loop = asyncio.get_running_loop()

        def tell(ply: int, advice: ShownAdvice | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop ends together with the server
                loop.call_soon_threadsafe(on_ply, ply, advice)

        def work() -> list[ShownAdvice | None]:
            analyst = self._the_analyst()
            advice = analyst.analyse(game, tell, self._cancel)
            turns = turns_to_explain(game, advice)
            return analyst.explain(game, advice, turns, cancel=self._cancel)

        async with self._turn(address):
            return await self._work(work)

    def rest(self) -> None:
        """End the engine if nobody waits for it; it starts again when it is needed."""
        if not self._waiting and self._analyst is not None:
            analyst, self._analyst = self._analyst, None
            self._pool.submit(analyst.close)

    def close(self) -> None:
        """End the engine and whatever it does."""
        self._cancel.set()
        if self._analyst is not None:
            self._analyst.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- inside -----------------------------------------------------------------------------

    def _the_analyst(self) -> GameAnalyst:
        if self._analyst is None:
            self._analyst = self._make()
        return self._analyst

    @contextlib.asynccontextmanager
    async def _turn(self, address: str) -> AsyncIterator[None]:
        """Wait until the engine is free. Raises WebError if too many wait."""
        if address in self._waiting:
            raise WebError(TOO_MANY, "the engine works for you already; try again when it is done")
        if len(self._waiting) >= self._most:
            raise WebError(UNAVAILABLE, "the engine is busy with other games; try later")
        self._waiting.add(address)
        try:
            async with self._lock:
                yield
        finally:
            self._waiting.discard(address)

    async def _work(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
