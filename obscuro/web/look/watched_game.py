"""A game that browsers look at: its document, which may grow, and what an engine says of it.

All of it runs in the event loop; only beliefs and engines work in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeVar

import chess.pgn

from obscuro.viewer.analysis import AnalysisError
from obscuro.viewer.document import GameDocument, ShownAdvice
from obscuro.viewer.make_document import GrowingDocument, with_advice
from obscuro.web.look.consultant import Consultant
from obscuro.web.web_limits import CONFLICT, UNAVAILABLE, WebError
from obscuro.web.web_requests import error_text, message_text

PROGRESS_PLIES = 10
"""Report progress every 10 plies."""
PAUSE_SECONDS = 0.002
"""The work on a document rests for this after each ply."""
_CANNOT = "the server can't show this game; its log says why"

logger = logging.getLogger("obscuro.web")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class LookLimits:
    """How much work a game may be. live, finished: the most positions of a belief in a game that
    goes on, and in one that is over. backlog: how many messages may wait for a browser. questions:
    how many addresses may wait for an engine. advice_burst, advice_rate: questions of one address.
    """

    live: int = 20_000
    finished: int = 50_000
    backlog: int = 512
    questions: int = 32
    advice_burst: float = 10
    advice_rate: float = 0.2


class Watcher:
    """What waits to be sent to one browser, at most `most` texts.

    `lost` is set once there were more; then no more comes, and the browser has to come back.
    """

    def __init__(self, most: int) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._most = most
        self.lost = False

    def put(self, text: str) -> None:
        """Leave a text."""
        if self.lost:
            return
        self.lost = self._queue.qsize() >= self._most
        self._queue.put_nowait(None if self.lost else text)

    def close(self) -> None:
        """Let `next` return None after what is there."""
        self._queue.put_nowait(None)

    async def next(self) -> str | None:
        """Wait for the next text to send; None: there will be none."""
        return None if self.lost else await self._queue.get()


class _ClosedGameError(Exception):
    """No browser looks at the game any more; what is worked out for it is of no use."""


class WatchedGame:
    """One game and who looks at it.

    game: as it stands. live: whether more moves may come. document: of a finished game, if it is
    kept. pool: works out the beliefs. save: keeps the document of a finished game. on_idle: called
    when no browser looks any more. analyst: None: there is none.
    """

    def __init__(
        self,
        game: chess.pgn.Game,
        *,
        live: bool,
        document: GameDocument | None,
        pool: Executor,
        limits: LookLimits,
        save: Callable[[GameDocument], None],
        on_idle: Callable[[], None],
        analyst: Consultant | None,
    ) -> None:
        self.live = live
        self._game = game
        self._pool = pool
        self._save = save
        self._on_idle = on_idle
        self._analyst = analyst
        self._document = document
        self._text: str | None = None  # the message with the document as it is now
        self._backlog = limits.backlog
        self._watchers: set[Watcher] = set()
        self._news = asyncio.Event()
        self._ready = asyncio.Event()
        self._analysis: asyncio.Task[None] | None = None
        self._finished = limits.finished
        self._most = limits.live if live else limits.finished
        self._waiting = 0
        self._closed = False
        self._failed = False
        self._on_close: list[Callable[[], None]] = []
        self._task = asyncio.get_running_loop().create_task(self._work())

    # -- who looks at it --------------------------------------------------------------------

    @property
    def used(self) -> bool:
        """Whether a browser looks at the game or waits for it, or an engine analyses it."""
        return bool(self._watchers or self._waiting) or self._analysis is not None

    def attach(self) -> Watcher:
        """Return a new watcher; the document is the first that it gets."""
        watcher = Watcher(self._backlog)
        self._watchers.add(watcher)
        if self._failed:
            watcher.put(error_text(_CANNOT))
        elif self._document is not None:
            watcher.put(self._whole())
        return watcher

    def detach(self, watcher: Watcher) -> None:
        """Forget a watcher."""
        self._watchers.discard(watcher)
        if not self.used:
            self._on_idle()

    async def document(self) -> GameDocument:
        """Wait until there is a document and return it. Raises WebError if it can't be made."""
        self._waiting += 1
        try:
            await self._ready.wait()
        finally:
            self._waiting -= 1
        if self._document is None:
            raise WebError(UNAVAILABLE, _CANNOT)
        return self._document

    def on_close(self, act: Callable[[], None]) -> None:
        """Call a function when no browser looks at the game any more."""
        self._on_close.append(act)

    def _tell(self, message: Mapping[str, object]) -> None:
        """Send a message to all; it is written once."""
        if self._watchers:
            self._send(message_text(message))

    def _send(self, text: str) -> None:
        for watcher in self._watchers:
            watcher.put(text)

    # -- the game goes on -------------------------------------------------------------------

    def grow(self, game: chess.pgn.Game, live: bool) -> None:
        """Take the game as it stands now. live: whether more moves may come."""
        self._game, self.live = game, live
        self._news.set()

    async def _work(self) -> None:
        """Follow the game; a fault of ours is logged, and told to those who look."""
        try:
            await self._follow()
        except _ClosedGameError:
            return
        except Exception:
            logger.exception("the document of a game can't be made")
            self._failed = True
            self._ready.set()
            self._send(error_text(_CANNOT))

    async def _follow(self) -> None:
        """Bring the document up to the game until the game is over."""
        if self._document is not None:
            self._ready.set()
            return
        growing = await self._in_thread(lambda: GrowingDocument(self._game, self._most))
        with contextlib.closing(growing):
            while True:
                self._news.clear()
                game, live = self._game, self.live
                document = await self._grown(growing, game)
                self._show(document, live)
                if not live:
                    break
                await self._news.wait()
        if self._most == self._finished:
            self._save(document)

    async def _grown(self, growing: GrowingDocument, game: chess.pgn.Game) -> GameDocument:
        """Return the document of a game; report progress if there was none yet."""
        loop = asyncio.get_running_loop()
        plies = sum(1 for _ in game.mainline_moves())
        done = 0

        def on_ply() -> None:
            nonlocal done
            if self._closed:
                raise _ClosedGameError
            time.sleep(PAUSE_SECONDS)  # so that the event loop need not wait for Python's lock
            done += 1
            if self._document is None and done % PROGRESS_PLIES == 0:
                with contextlib.suppress(RuntimeError):  # the loop ends together with the server
                    loop.call_soon_threadsafe(self._tell_progress, "beliefs", done, plies)

        return await self._in_thread(lambda: growing.grow(game, on_ply))

    def _show(self, document: GameDocument, live: bool) -> None:
        """Show what is new in a document."""
        before = self._document
        self._set_document(document)
        self._ready.set()
        if before is None:
            self._send(self._whole())
            return
        known = len(before["moves"])
        for move, position in zip(
            document["moves"][known:], document["positions"][known + 1 :], strict=True
        ):
            self._tell({"type": "ply", "position": position, "move": move})
        if not live:
            told = {name: document[name] for name in ("result", "ending", "moves")}
            self._tell({"type": "end", **told, "can_ask": self._analyst is not None})

    def _set_document(self, document: GameDocument) -> None:
        self._document, self._text = document, None

    def _whole(self) -> str:
        """Return the message with the whole document; it is written once for all."""
        if self._text is None:
            self._text = message_text(
                {
                    "type": "document",
                    "document": self._document,
                    "live": self.live,
                    "can_ask": self._analyst is not None and not self.live,
                    "analysing": self._analysis is not None,
                }
            )
        return self._text

    # -- the engine -------------------------------------------------------------------------

    def analyse(self, address: str) -> None:
        """Let an engine look at the whole game, as this address wishes. Raises WebError."""
        if self._analyst is None:
            raise WebError(CONFLICT, "this server has no engine for that")
        if self.live or self._document is None:
            raise WebError(CONFLICT, "the game is not over")
        if self._document["analysis"] is not None:
            raise WebError(CONFLICT, "the game has been analysed")
        if self._analysis is None:
            self._text = None
            work = self._analysed(self._analyst, self._document, address)
            self._analysis = asyncio.get_running_loop().create_task(work)

    async def _analysed(self, analyst: Consultant, document: GameDocument, address: str) -> None:
        """Analyse the game, and show each advice as it is found."""
        plies, done = len(document["moves"]), 0

        def on_ply(ply: int, found: ShownAdvice | None) -> None:
            nonlocal done
            done += 1
            self._add_advice(ply, found)
            self._tell_progress("analysis", done, plies)

        self._tell_progress("analysis", 0, plies)
        fault = None
        try:
            advice = await analyst.analyse(self._game, on_ply, address)
            document = with_advice(document, self._game, advice, analyst.description)
            self._set_document(document)
            self._save(document)
            told = {name: document[name] for name in ("analysis", "moves")}
            self._tell({"type": "analysed", **told})
        except (AnalysisError, WebError) as error:
            fault = str(error)
        except Exception:
            logger.exception("an analysis failed")
            fault = "the analysis failed"
        finally:
            if fault is not None:
                self._tell({"type": "error", "error": fault, "analysing": False})
            self._analysis = self._text = None
            if not self.used:
                self._on_idle()

    def _add_advice(self, ply: int, found: ShownAdvice | None) -> None:
        """Put advice for one move into the document, and show it."""
        assert self._document is not None
        moves = list(self._document["moves"])
        moves[ply] = {**moves[ply], "advice": found}
        self._set_document({**self._document, "moves": moves})
        self._tell({"type": "moves", "from": ply, "moves": [moves[ply]]})

    def _tell_progress(self, what: str, done: int, of: int) -> None:
        self._tell({"type": "progress", "what": what, "done": done, "of": of})

    # -- the end ----------------------------------------------------------------------------

    async def close(self) -> None:
        """Let all browsers go, and end the work."""
        self._closed = self._failed = True
        self._ready.set()
        for act in self._on_close:
            act()
        for watcher in self._watchers:
            watcher.close()
        tasks = [task for task in (self._task, self._analysis) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
