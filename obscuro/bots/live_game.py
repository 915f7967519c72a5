"""One game that is being played: its stream, its engine, and what is sent to the server.

It has two threads. One reads the stream and opens it again when it breaks. The other does what
takes time: it asks the engine and sends moves. Both pass messages to the `ServerGame`, one at a
time, and carry out its actions.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from obscuro.bots.bot_client import ApiError, EventStream, Refused
from obscuro.bots.events import Ping, parse_game_event
from obscuro.bots.game_messages import (
    Action,
    Ask,
    Connected,
    Disconnected,
    Finish,
    LookBack,
    Message,
    Missing,
    Note,
    Resync,
    Say,
    Send,
    Sent,
    StopThinking,
    Thought,
    Wait,
)
from obscuro.bots.server_game import ServerGame
from obscuro.client.engine import Mover, Think
from obscuro.client.engine_pool import MoverPool

logger = logging.getLogger(__name__)

GONE = (404, 410)
"""HTTP statuses that say that a game does not exist, or does not exist any more."""
MOST_GONE = 2
"""More such answers in a row end the game; a server that has just started may not know it yet."""
MOST_REFUSED_STREAMS = 8
"""A server may refuse a second stream until it notices that the first one broke. More refusals in
a row end the game."""
MOST_FAILURES = 60
"""More failures of any kind in a row end the game, after 20 minutes. Some servers answer with an
error of their own if they don't have a game."""
SHORT_PAUSES = 4
"""A game's stream that told of the game is opened again after no longer pause than that after so
many failures: the other side may have moved."""
MOST_UNSURE_FAILURES = 8
"""More failures in a row end a game of which the server has not told, and which we never saw."""
MOST_ASKS = 8
"""More requests beside the moves are not sent at the same time: the server answers none."""
JOIN_SECONDS = 5.0
"""How long `join` waits for each thread."""


class GameServer(Protocol):
    """The part of `BotClient` that a game needs."""

    def game_events(self, game: str, cancel: threading.Event) -> EventStream:
        """Open the game's stream."""

    def move(self, game: str, move: str, cancel: threading.Event) -> None:
        """Make a move."""

    def ask(self, game: str, what: str, cancel: threading.Event) -> None:
        """Ask something else: `resign`, `abort`, `draw/no` …"""

    def say(self, game: str, text: str, cancel: threading.Event) -> None:
        """Say something in the game's chat."""

    def has_lived(self, stream: EventStream) -> bool:
        """Return whether a stream has lived so long that its end is no failure."""

    def pause(self, failures: int, cancel: threading.Event) -> None:
        """Wait before another attempt."""


@dataclass(slots=True)
class _Job:
    """Something for the worker to do, unless it is cancelled before."""

    action: Think | Send | Wait
    cancel: threading.Event


class LiveGame:
    """Plays one game.

    on_over: called once with this object, by any thread, at the game's end. sure: whether the
    server has told of the game; else it may not exist.
    """

    def __init__(
        self,
        game: ServerGame,
        server: GameServer,
        movers: MoverPool,
        on_over: Callable[[LiveGame], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        sure: bool = True,
    ) -> None:
        self.game = game
        self._sure = sure
        self.result: Finish | None = None
        self._server = server
        self._movers = movers
        self._on_over = on_over
        self._clock = clock
        self._lock = threading.Lock()  # of the game, and of what follows
        self._stream: EventStream | None = None
        self._received = False  # whether the stream told of the game
        self._mover: Mover | None = None
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._job: _Job | None = None  # the last one that was queued
        self._unsent = 0  # how many moves in a row may not have arrived
        self._asks: list[threading.Thread] = []
        self._chat: threading.Thread | None = None  # the one that says the last thing
        self._done = threading.Event()  # set when nothing more is read or searched
        self._left = threading.Event()  # set when nothing more is sent either
        names = ((f"stream {game.id}", self._read), (f"game {game.id}", self._work))
        self._threads = [
            threading.Thread(target=target, name=name, daemon=True) for name, target in names
        ]

    def start(self) -> None:
        """Begin the game, or take it up."""
        for thread in self._threads:
            thread.start()

    def tell(self, message: Message) -> None:
        """Pass a message to the game and carry out its actions. Any thread may call this."""
        with self._lock:
            for action in self.game.handle(message, self._clock()):
                self._do(action)

    def leave(self) -> None:
        """Stop at once and leave the game as it is. It can be taken up again later."""
        if self.game.ended:
            self.tell(Missing("left"))  # it is over; we were only looking for its last moves
        else:
            logger.info("game %s: left as it is", self.game.id)
        self._left.set()
        with self._lock:
            self.game.finished = True
            self._end()

    def join(self) -> None:
        """Wait until all threads have ended, at most JOIN_SECONDS for each."""
        for thread in [*self._threads, *self._asks]:
            if thread is not threading.current_thread() and thread.ident is not None:
                thread.join(JOIN_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether a thread still runs, as for a last word in the chat."""
        return any(thread.is_alive() for thread in [*self._threads, *self._asks])

    # -- the game's actions; called with the lock held ------------------------------------------

    def _do(self, action: Action) -> None:
        match action:
            case Think() | Send() | Wait():
                self._drop_job()
                self._job = _Job(action, threading.Event())
                self._jobs.put(self._job)
            case StopThinking():
                self._drop_job()
            case Ask(path):
                self._aside(lambda: self._server.ask(self.game.id, path, self._left), path)
            case Say(text):
                self._say(text)
            case Resync():
                self._close_stream()
            case LookBack():
                self._drop_job()
                self._jobs.put(None)  # the next game may need the engine
                self._close_stream()
            case Note(text):
                logger.info("game %s: %s", self.game.id, text)
            case Finish():
                logger.info("game %s: %s", self.game.id, self.game.summary(action.verdict))
                self.result = action
                self._end()
                self._on_over(self)

    def _drop_job(self) -> None:
        """Cancel what the worker does or was to do: its result is of no use any more."""
        if self._job is not None:
            self._job.cancel.set()
            self._job = None
            if self._mover is not None:
                self._mover.stop()

    def _end(self) -> None:
        self._drop_job()
        self._done.set()
        self._jobs.put(None)
        self._close_stream()

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def _say(self, text: str) -> None:
        """Say something after what was said before, however slowly that arrives."""
        before = self._chat

        def say() -> None:
            if before is not None:
                before.join()
            self._server.say(self.game.id, text, self._left)

        self._chat = self._aside(say, "chat") or before

    def _aside(self, request: Callable[[], None], what: str) -> threading.Thread | None:
        """Send a request that nothing waits for, in a thread of its own; return the thread.

        None: too many are on their way already.
        """
        self._asks = [thread for thread in self._asks if thread.is_alive()]
        if len(self._asks) >= MOST_ASKS:
            logger.info("game %s: %s was not asked: nothing is answered", self.game.id, what)
            return None

        def send() -> None:
            try:
                request()
            except ApiError as error:
                logger.info("game %s: %s was not done: %s", self.game.id, what, error)

        thread = threading.Thread(target=send, name=f"{what} {self.game.id}", daemon=True)
        self._asks.append(thread)
        thread.start()
        return thread

    # -- the stream -------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the stream while the game goes on."""
        errors = 0  # in a row, without a word of the game
        short_lives = 0  # streams in a row that broke, could not be opened, or ended soon
        while not self._done.is_set():
            self._received = False
            stream: EventStream | None = None
            try:
                stream = self._server.game_events(self.game.id, self._done)
                self._read_once(stream)
            except ApiError as error:
                errors = 1 if self._received else errors + 1
                logger.debug("game %s: %s", self.game.id, error)
                known = self._sure or self.game.view is not None
                most = MOST_FAILURES if known else MOST_UNSURE_FAILURES
                if errors > most or _is_final(error, errors):
                    self.tell(Missing(f"the server does not let us see it: {error}"))
            except Exception:
                errors += 1
                logger.exception("game %s: reading failed", self.game.id)
            else:
                errors = 0 if self._received else errors + 1
            lived = stream is not None and self._server.has_lived(stream)
            short_lives = 0 if lived else short_lives + 1
            if not self._done.is_set():
                self.tell(Disconnected())
            if short_lives and not self._done.is_set():
                most = SHORT_PAUSES if self._received else short_lives
                self._server.pause(min(short_lives, most), self._done)

    def _read_once(self, stream: EventStream) -> None:
        """Read one stream to its end."""
        with self._lock:
            self._stream = stream
            if self._done.is_set():
                stream.close()
        self.tell(Connected())
        for message in stream:
            event = Ping() if message is None else parse_game_event(message)
            if event is not None:
                self._received = self._received or not isinstance(event, Ping)
                self.tell(event)
            if self._done.is_set():
                break
        stream.close()

    # -- what takes time --------------------------------------------------------------------

    def _work(self) -> None:
        """Do jobs until the game is over; then give the engine back."""
        while (job := self._jobs.get()) is not None:
            try:
                self._work_at(job)
            except Exception:
                logger.exception("game %s: it goes on after a failure", self.game.id)
                match job.action:
                    case Think(number=number, moves=moves):
                        self.tell(Thought(number, moves[0]))
                    case Send(number=number, move=move):
                        self.tell(Sent(number, move, "it could not be sent", refused=True))
        with self._lock:
            mover, self._mover = self._mover, None
        if mover is not None:
            self._movers.give(mover)

    def _work_at(self, job: _Job) -> None:
        action, cancel = job.action, job.cancel
        if cancel.is_set():
            return
        match action:
            case Think():
                logger.debug("game %s: %s", self.game.id, action.position)
                choice = self._taken_mover().choose(self.game.id, action, cancel)
                logger.debug("game %s: %s, score %s", self.game.id, choice.move, choice.score)
                if not cancel.is_set():
                    thought = Thought(action.number, choice.move, choice.score, choice.report)
                    self.tell(thought)
            case Send():
                self._send(action, cancel)
            case Wait():
                if self._mover is not None:
                    self._mover.watch(self.game.id, action.position)

    def _send(self, send: Send, cancel: threading.Event) -> None:
        number, move = send.number, send.move
        try:
            self._server.move(self.game.id, move, cancel)
        except ApiError as error:
            refused = isinstance(error, Refused)
            if not refused:
                self._unsent += 1
                logger.info("game %s: is %s lost? %s", self.game.id, move, error)
                self._server.pause(self._unsent, cancel)
            self.tell(Sent(number, move, str(error), refused))
            return
        self._unsent = 0
        self.tell(Sent(number, move))

    def _taken_mover(self) -> Mover:
        with self._lock:
            if self._mover is None:
                self._mover = self._movers.take()
            return self._mover


def _is_final(error: ApiError, failures: int) -> bool:
    """Return whether it is useless to ask for the stream again."""
    if not isinstance(error, Refused):
        return False
    return failures > (MOST_GONE if error.status in GONE else MOST_REFUSED_STREAMS)
