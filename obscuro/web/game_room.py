"""A game under way: it lets the engines think, keeps the game in the file, and shows it.

All of it runs in the event loop; only the engines work in threads.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

import chess

from obscuro.client.engine import NO_ENGINE, STARTING_ANEW, Think
from obscuro.client.uci_process import EngineError
from obscuro.matches.time_control import MILLISECONDS
from obscuro.web.game_database import StoreError
from obscuro.web.game_engines import GameEngine, GameEngines
from obscuro.web.game_store import GameStore
from obscuro.web.hosted_game import HostedGame, Status
from obscuro.web.mailbox import Mailbox
from obscuro.web.player_state import state_message
from obscuro.web.web_limits import WebLimits

RETRY_SECONDS = 5.0
"""After this an engine that did not start is tried again."""

logger = logging.getLogger("obscuro.web")

OnChange = Callable[[HostedGame], None]


class EngineOptions(Protocol):
    """Says which options an engine is given for a side of a game."""

    def __call__(self, level: int | None, stalemate: str) -> Mapping[str, str]:
        """Return the options by name."""


class GameRoom:
    """One game and who looks at it.

    owner: the hash of the visitor whose game it is. on_broken: called when the game can't be saved;
    it must forget the room. clock: seconds.
    """

    def __init__(
        self,
        game: HostedGame,
        owner: str,
        *,
        store: GameStore,
        pool: GameEngines,
        options: EngineOptions,
        limits: WebLimits,
        clock: Callable[[], float],
        on_broken: Callable[[GameRoom], None],
    ) -> None:
        self.game = game
        self.owner = owner
        self.used = clock()
        """When somebody last came, left or changed something."""
        self._store = store
        self._pool = pool
        self._options = options
        self._limits = limits
        self._clock = clock
        self._on_broken = on_broken
        self._boxes: set[Mailbox] = set()
        self._listeners: list[OnChange] = []
        self._taken: dict[chess.Color, GameEngine] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._flag: asyncio.TimerHandle | None = None
        self._asked = -1  # the number of the last request
        self._troubled = False  # whether the engine that thinks was started anew
        self._closed = False

    # -- who looks at it --------------------------------------------------------------------

    @property
    def watched(self) -> bool:
        """Whether anybody looks at the game."""
        return bool(self._boxes or self._listeners)

    @property
    def watchers(self) -> int:
        """How many look at the game."""
        return len(self._boxes) + len(self._listeners)

    @property
    def may_sleep(self) -> bool:
        """Whether nothing happens before somebody comes."""
        game = self.game
        waits = game.human_turn and game.clock.running is None
        return not self.watched and (game.result is not None or waits)

    def attach(self) -> Mailbox:
        """Return the mailbox of a new browser of the player's; the state is in it."""
        box = Mailbox()
        self._boxes.add(box)
        self.used = self._clock()
        box.put_state(self._state_text())
        return box

    def show_again(self, box: Mailbox) -> None:
        """Send the state to one browser once more."""
        box.put_state(self._state_text())

    def detach(self, box: Mailbox) -> None:
        """Forget a browser."""
        self._boxes.discard(box)
        self.used = self._clock()

    def listen(self, on_change: OnChange) -> None:
        """Call a function with the game after each change; the change is saved by then."""
        self._listeners.append(on_change)
        self.used = self._clock()

    def unlisten(self, on_change: OnChange) -> None:
        """Stop calling a function."""
        self._listeners.remove(on_change)
        self.used = self._clock()

    # -- what happens -----------------------------------------------------------------------

    def open(self) -> None:
        """Begin, or go on with a game from the file."""
        if self.game.result is None:
            self._start(self._prepare())

    def change(self, action: Callable[[float], None]) -> None:
        """Change the game by an action that is given the time; then save and show it.

        Raises what the action raises, and StoreError if the change can't be saved.
        """
        if self._closed:
            raise StoreError("the game was closed; load the page again")
        before = self.game.version
        try:
            action(self._clock())
        finally:
            if self.game.version != before:
                self._changed()

    def _changed(self) -> None:
        self.used = now = self._clock()
        try:
            self._store.save(self.game, now)
        except StoreError as error:
            logger.error("game %s: %s", self.game.id, error)
            self._on_broken(self)
            raise
        self._ask()
        self._set_flag()
        self._show()
        for listener in list(self._listeners):
            listener(self.game)
        if self.game.result is not None:
            self._release()

    def _show(self) -> None:
        if self._boxes:
            text = self._state_text()
            for box in self._boxes:
                box.put_state(text)

    def _state_text(self) -> str:
        return json.dumps(state_message(self.game, self._engine_word(), self._clock()))

    def _engine_word(self) -> str:
        if self.game.think() is None:
            return "idle"
        return "starting anew" if self._troubled else "thinking"

    def _set_flag(self) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        seconds = self.game.clock.flag_in(self._clock())
        if seconds is not None and self.game.result is None:
            loop = asyncio.get_running_loop()
            self._flag = loop.call_later(seconds + 0.001, self._look_at_clock)

    def _look_at_clock(self) -> None:
        self._do(self.game.tick)
        if self.game.result is None:
            self._set_flag()

    def _do(self, action: Callable[[float], None]) -> None:
        """Change the game where nobody waits for the answer."""
        if not self._closed:
            try:
                self.change(action)
            except StoreError:
                return  # the room is closed, and the log has the error

    # -- the engines ------------------------------------------------------------------------

    async def _prepare(self) -> None:
        """Take the engines that the game needs, and get them ready."""
        while True:
            try:
                for color in self.game.setup.engines:
                    await self._engaged(color)
                break
            except EngineError as error:
                logger.error("game %s: %s", self.game.id, error)
                self._do(lambda _: self.game.remark("the engine does not start; trying again"))
                await asyncio.sleep(RETRY_SECONDS)
        self._do(self.game.ready)

    async def _engaged(self, color: chess.Color) -> None:
        """Have an engine ready for a side. Raises EngineError."""
        if color not in self._taken:
            engine = self._taken[color] = self._pool.take()
            engine.on_warning(self._trouble_from_thread(asyncio.get_running_loop()))
        setup = self.game.setup
        options = self._options(setup.levels[color], setup.stalemate)
        await self._taken[color].prepare(options)

    def _trouble_from_thread(self, loop: asyncio.AbstractEventLoop) -> Callable[[str], None]:
        def tell(text: str) -> None:
            logger.warning("game %s: engine: %s", self.game.id, text)
            if text.endswith(STARTING_ANEW) or text == NO_ENGINE:
                loop.call_soon_threadsafe(self._trouble, text == NO_ENGINE)

        return tell

    def _trouble(self, for_good: bool) -> None:
        """Show that the engine failed. for_good: it makes any move."""
        if self._closed or self.game.status != Status.PLAYING:
            return
        self._troubled = True
        if for_good:
            self._do(lambda _: self.game.remark("the engine failed, and makes any move"))
        else:
            self._show()

    def _ask(self) -> None:
        """Let the engine think that is to move; stop a search for a turn that is over."""
        think = self.game.think()
        if think is not None and think.number == self._asked:
            return
        for engine in self._taken.values():
            engine.hurry()
        if think is not None:
            self._asked = think.number
            self._start(self._choose(think, self._taken[think.side]))

    async def _choose(self, think: Think, engine: GameEngine) -> None:
        choice = await engine.choose(self.game.id, think)
        self._troubled = False
        wait = self._pause(think) - (self._clock() - think.since)
        if wait > 0:
            await asyncio.sleep(wait)
        self._do(lambda now: self.game.chosen(think.number, choice, now))

    def _pause(self, think: Think) -> float:
        """Return the seconds that a move takes at least, so that people see it."""
        movetime = self.game.setup.control.movetime
        if self.game.setup.human is None and movetime is not None:
            return min(self._limits.pause, movetime / MILLISECONDS)
        clocks = think.clocks
        if clocks is not None:
            own = clocks[0] if think.side == chess.WHITE else clocks[1]
            if own <= self._limits.pause_clock * 1000:
                return 0.0
        return self._limits.pause

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("game %s: %r", self.game.id, error, exc_info=error)

    # -- the end ----------------------------------------------------------------------------

    def _release(self) -> None:
        """Give the engines back; nothing of the game needs them any more."""
        for task in list(self._tasks):
            task.cancel()
        taken, self._taken = self._taken, {}
        for engine in taken.values():
            self._pool.give(engine)

    def close(self) -> None:
        """Leave the game as it is in the file. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._flag is not None:
            self._flag.cancel()
        self._release()
        for box in self._boxes:
            box.close()
        self._store.forget(self.game.id)
