"""A game under way: it lets the engines think, keeps the game in the file, and shows it.

All of it runs in the event loop; only the engines work in threads.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import chess

from obscuro.client.engine import NO_ENGINE, STARTING_ANEW, Think
from obscuro.client.uci_process import EngineError
from obscuro.matches.time_control import MILLISECONDS
from obscuro.web.data_folder import StoreError
from obscuro.web.play.game_engines import GameEngine, GameEngines
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.play.game_store import GameStore
from obscuro.web.play.hosted_game import GameResult, HostedGame, Status
from obscuro.web.play.player_notes import PlayerNotes, color_name
from obscuro.web.web_limits import WebLimits

RETRY_SECONDS = 5.0
"""After this an engine that did not start is tried again."""
_MOST_ANSWERS = 16

logger = logging.getLogger("obscuro.web")

OnChange = Callable[[HostedGame], None]


class EngineOptions(Protocol):
    """Says which options an engine is given for a side of a game."""

    def __call__(self, level: int | None, stalemate: str) -> Mapping[str, str]:
        """Return the options by name."""


class Mailbox:
    """What waits to be sent to one browser: the last state of the game, and answers to it alone.

    A state replaces one that was not sent: a slow browser misses states in between, and no memory
    grows. After `close` nothing more comes.
    """

    def __init__(self) -> None:
        self._state: str | None = None
        self._answers: deque[str] = deque(maxlen=_MOST_ANSWERS)
        self._news = asyncio.Event()
        self._closed = False

    def put_state(self, text: str) -> None:
        """Leave the state of the game."""
        self._state = text
        self._news.set()

    def put_answer(self, text: str) -> None:
        """Leave an answer to this browser alone."""
        self._answers.append(text)
        self._news.set()

    def close(self) -> None:
        """Let `next` return None once it is empty."""
        self._closed = True
        self._news.set()

    async def next(self) -> str | None:
        """Wait for the next text to send; None: there will be none."""
        while True:
            if self._answers:
                return self._answers.popleft()
            if self._state is not None:
                text, self._state = self._state, None
                return text
            if self._closed:
                return None
            self._news.clear()
            await self._news.wait()


@dataclass(frozen=True, slots=True)
class GameServices:
    """What all games share. options: for the engine of a side. clock: seconds."""

    store: GameStore
    pool: GameEngines
    options: EngineOptions
    limits: WebLimits
    clock: Callable[[], float]


class GameRoom:
    """One game and who looks at it.

    owner: the hash of the visitor whose game it is. address: from which that visitor came. on_broken:
    called when the game can't be saved; it must forget the room.

    The game has engines only while it needs them: others that wait take them away while the player
    thinks, and the engine's answer waits until there are some again.
    """

    def __init__(
        self,
        game: HostedGame,
        owner: str,
        services: GameServices,
        on_broken: Callable[[GameRoom], None],
        address: str = "",
    ) -> None:
        self.game = game
        self.owner = owner
        self.address = address
        self._services = services
        self._clock = services.clock
        self.used = self._clock()
        """The second of the last change, and of the last browser that came or left."""
        self._on_broken = on_broken
        self._boxes: set[Mailbox] = set()
        self._listeners: list[OnChange] = []
        self._taken: dict[chess.Color, GameEngine] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._flag: asyncio.TimerHandle | None = None
        self._asked: int | None = None  # the number of the last request
        self._troubled = False  # whether the engine that thinks was started anew
        self._preparing = False  # whether the engines are on their way
        self._queued = False  # whether all engines are with other games
        self._fresh = False  # whether the engines have come and not moved yet
        self._closed = False

    # -- who looks at it --------------------------------------------------------------------

    @property
    def watchers(self) -> int:
        """How many look at the game."""
        return len(self._boxes) + len(self._listeners)

    @property
    def may_sleep(self) -> bool:
        """Whether nothing happens before a browser comes."""
        if self.watchers:
            return False
        game = self.game
        if game.result is not None or game.setup.human is None:
            return True
        if game.human_turn:
            return game.clock.running is None
        return not self._taken and not self._preparing

    @property
    def places(self) -> int:
        """How many engines the game has while it has any."""
        return len(self.game.setup.engines)

    @property
    def may_yield(self) -> bool:
        """Whether the player is to move, so that the engine has nothing to do."""
        return bool(self._taken) and self.game.human_turn and not self._preparing

    def yield_engines(self) -> None:
        """Give the engine back; another one comes when it is needed."""
        engines, self._taken = self._taken, {}
        self._services.pool.release(self, engines.values())

    def attach(self) -> Mailbox:
        """Return the mailbox of a new browser of the player's; the state is in it."""
        box = Mailbox()
        self._boxes.add(box)
        self.used = self._clock()
        self.show_again(box)
        self._wake()
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
        self._wake()

    def unlisten(self, on_change: OnChange) -> None:
        """Stop calling a function."""
        self._listeners.remove(on_change)
        self.used = self._clock()

    # -- what happens -----------------------------------------------------------------------

    def open(self) -> None:
        """Begin, or go on with a game from the file.

        A game that nobody looks at waits for no engine, and two engines play before somebody only.
        """
        self._wake()

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
            self._services.store.save(self.game, now)
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
        engine = "idle"
        if self._queued:
            engine = "waiting"
        elif self.game.due is not None:
            engine = "starting anew" if self._troubled else "thinking"
        return json.dumps(state_message(self.game, engine, self._clock()))

    def _set_flag(self) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        seconds = self.game.clock.flag_in(self._clock())
        if seconds is not None and self.game.result is None:
            loop = asyncio.get_running_loop()
            self._flag = loop.call_later(seconds + 0.001, self._look_at_clock)

    def _look_at_clock(self) -> None:
        self._change_unasked(self.game.tick)
        if self.game.result is None:
            self._set_flag()

    def _change_unasked(self, action: Callable[[float], None]) -> None:
        """Change the game where no browser waits for the answer."""
        if not self._closed:
            try:
                self.change(action)
            except StoreError:
                return  # the room is closed, and the log has the error

    # -- the engines ------------------------------------------------------------------------

    def _wake(self) -> None:
        """Get the engines, if the game needs them and can have them."""
        game, places = self.game, self._services.pool.places
        if self._closed or self._taken or self._preparing or game.result is not None:
            return
        if not self.watchers and (game.setup.human is None or not places.has_place(self)):
            return
        if game.human_turn and not places.has_place(self):
            self._change_unasked(game.ready)
            return
        self._preparing = True
        self._start(self._prepare())

    async def _prepare(self) -> None:
        """Take the engines that the game needs, and get them ready."""
        try:
            while not await self._has_engines():
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            self._preparing = self._queued = False
        self._fresh = True
        self._change_unasked(self.game.ready)

    async def _has_engines(self) -> bool:
        """Wait for a place, and get the engines ready; tell whether that succeeded."""
        game, pool = self.game, self._services.pool
        self._queued = not pool.places.has_place(self)
        if self._queued:
            self._show()
        await pool.places.take(self)
        self._queued = False
        try:
            for color in game.setup.engines:
                engine = self._taken[color] = pool.take()
                engine.on_warning(self._trouble_from_thread(asyncio.get_running_loop()))
                options = self._services.options(game.setup.levels[color], game.setup.stalemate)
                await engine.prepare(options)
            return True
        except EngineError as error:
            logger.error("game %s: %s", game.id, error)
        except Exception:  # a fault of ours must not leave the player waiting for ever
            logger.exception("game %s: the engine can't be prepared", game.id)
        self.yield_engines()
        self._change_unasked(lambda _: game.remark("the engine does not start; trying again"))
        return False

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
            note = "the engine failed, and makes any move"
            self._change_unasked(lambda _: self.game.remark(note))
        else:
            self._show()

    def _ask(self) -> None:
        """Let the engine think that is to move; stop a search for a turn that is over."""
        due, places = self.game.due, self._services.pool.places
        if due is not None and due == self._asked:
            return
        for engine in self._taken.values():
            engine.hurry()
        if due is None:
            if places.waiting:
                places.serve()  # this game may have become one that can do without its engine
            return
        if not self._taken or self._should_stand():
            self._stand()
            self._wake()
            return
        self._fresh = False
        self._asked = due
        self._start(self._choose())

    def _should_stand(self) -> bool:
        """Whether two engines play, and nobody looks or others wait for engines."""
        if self.game.setup.human is not None:
            return False
        waited_for = self._services.pool.places.waiting and not self._fresh
        return waited_for or not self.watchers

    def _stand(self) -> None:
        """Let the game stand until there are engines again."""
        self.yield_engines()
        self._change_unasked(self.game.unready)

    async def _choose(self) -> None:
        """Let an engine move; whatever fails, the game goes on."""
        try:
            think = self.game.think()
            if think is None:
                return
            choice = await self._taken[think.side].choose(self.game.id, think)
            self._troubled = False
            wait = self._pause(think) - (self._clock() - think.since)
            if wait > 0:
                await asyncio.sleep(wait)
            self._change_unasked(lambda now: self.game.chosen(think.number, choice, now))
        except Exception:  # a fault of ours must not leave the player waiting for ever
            logger.exception("game %s: the engine can't move", self.game.id)
            self._stand()
            self._change_unasked(lambda _: self.game.remark("the engine failed; trying again"))
            await asyncio.sleep(RETRY_SECONDS)
            self._wake()

    def _pause(self, think: Think) -> float:
        """Return the seconds that a move takes at least, so that people see it."""
        limits = self._services.limits
        movetime = self.game.setup.control.movetime
        if self.game.setup.human is None and movetime is not None:
            return min(limits.pause, movetime / MILLISECONDS)
        clocks = think.clocks
        if clocks is not None:
            own = clocks[0] if think.side == chess.WHITE else clocks[1]
            if own <= limits.pause_clock * MILLISECONDS:
                return 0.0
        return limits.pause

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
        self.yield_engines()

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


# -- what the player's browser gets ---------------------------------------------------------


def state_message(game: HostedGame, engine: str, now: float) -> dict[str, Any]:
    """Return the message that shows a game to its player: all that the browser gets during it.

    engine: what it does, in a word. The game must have a player.
    """
    assert game.notes is not None
    over = game.result is not None
    return {
        "type": "state",
        "game": game.id,
        "version": game.version,
        "status": game.status.value,
        "engine": engine,
        "note": game.note,
        "can_take_back": game.can_take_back,
        "draw_offered": game.draw_offered and not over,
        **_chosen_part(game.setup),
        **_known_part(game.notes, over=over),
        "clocks": _clocks(game, now),
        "result": None if game.result is None else _result_part(game, game.result),
    }


def _chosen_part(setup: GameSetup) -> dict[str, Any]:
    """Return what the player chose at the start."""
    assert setup.human is not None
    move = setup.control.movetime
    return {
        "you": color_name(setup.human),
        "start": setup.start,
        "level": setup.levels[not setup.human],
        "movetime": None if move is None else move / MILLISECONDS,
        "takebacks": setup.takebacks,
        "stalemate": setup.stalemate,
    }


def _known_part(notes: PlayerNotes, *, over: bool) -> dict[str, Any]:
    """Return what the player knows of the game: it follows from the player's account alone."""
    side = notes.side
    return {
        "turn": color_name(side if notes.own_turn else not side),
        "ply": len(notes.sheet),
        "seen": notes.observation.text().partition(",")[0],
        "moves": [] if over else list(notes.moves()),
        "sheet": list(notes.sheet),
        "last": [chess.square_name(square) for square in notes.marked],
        "captured": {"you": _symbols(notes.taken), "enemy": _symbols(notes.lost)},
    }


def _result_part(game: HostedGame, result: GameResult) -> dict[str, Any]:
    """Return how a game ended; the fog is lifted then."""
    return {
        "winner": None if result.winner is None else color_name(result.winner),
        "ending": result.ending,
        "score": result.text,
        "placement": game.board.board_fen(),
        "rematch": result.rematch,
    }


def _clocks(game: HostedGame, now: float) -> dict[str, Any] | None:
    if not game.clock.timed:
        return None
    running = game.clock.running
    shown = game.clock.shown(now)
    return {
        **{color_name(color): shown[color] for color in chess.COLORS},
        "running": None if running is None else color_name(running),
    }


def _symbols(pieces: list[chess.Piece]) -> str:
    return "".join(piece.symbol() for piece in pieces)
