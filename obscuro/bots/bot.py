"""The bot account as a whole: it answers challenges and plays games until it is told to leave."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TextIO

from obscuro.bots.bot_client import ApiError, EventStream, Refused
from obscuro.bots.bot_settings import GameSettings, Policy
from obscuro.bots.events import (
    FOG_VARIANTS,
    Challenge,
    ChallengeGone,
    Event,
    GameEnd,
    GameStart,
    Ping,
    parse_event,
)
from obscuro.bots.game_log import PgnArchive
from obscuro.bots.live_game import GameServer, LiveGame
from obscuro.bots.server_game import ServerGame
from obscuro.client.engine_pool import MoverPool
from obscuro.matches.atomic_file import replace_text

logger = logging.getLogger(__name__)

MOST_UNDERWAY = 100
"""How many games are kept on disk."""
REMEMBERED = 1000
"""How many challenges and finished games the bot remembers so that it takes up none twice."""
MOST_AT_ONCE = 50
"""The bridge takes up no more games at a time, unless more are allowed: a server may tell of any."""
MOST_DECLINES = 100
"""How many challenges may wait to be declined; further ones get no answer."""
MOST_WAITING = 1000
"""How many events may wait for the bridge; it reads no further before it has done some."""
NAMELESS = ("", "?")
"""The names of those whose name a server does not say; they are not counted."""
OPPONENT_SECONDS = 24 * 3600.0
"""The cap of games with one opponent counts those that began within this time."""
EXPECTED_SECONDS = 15.0
"""If an accepted challenge begins no game for this long, we ask for the game: the event may be lost."""
MOST_REFUSALS = 3
"""The bot leaves after this many refusals (4xx) of the event stream in a row."""


class Server(GameServer, Protocol):
    """The part of `BotClient` that the bridge needs."""

    def events(self, cancel: threading.Event) -> EventStream:
        """Open the event stream."""

    def accept(self, challenge: str, cancel: threading.Event) -> None:
        """Accept a challenge."""

    def decline(self, challenge: str, reason: str, cancel: threading.Event) -> None:
        """Decline a challenge."""


@dataclass(frozen=True, slots=True)
class _Accepted:
    """What became of a challenge that we accept. error: None if the server took it."""

    challenge: Challenge
    error: ApiError | None


_Item = Event | LiveGame | _Accepted | Literal["finish", "leave"] | Refused


class Bridge:
    """Plays for an account.

    One thread calls `run`. Any other thread may call `finish` and `leave`, also in a signal
    handler. underway: remembers the games that go on, for the next start. archive: gets the games
    that are over.
    """

    def __init__(
        self,
        user: str,
        server: Server,
        movers: MoverPool,
        policy: Policy,
        settings: GameSettings,
        *,
        underway: GamesUnderway | None = None,
        archive: PgnArchive | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._user = user
        self._underway = underway or GamesUnderway(None)
        self._archive = archive
        self._server = server
        self._movers = movers
        self._policy = policy
        self._settings = settings
        self._games_left = policy.leave_after
        self._clock = clock
        self._inbox: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._room = threading.Semaphore(MOST_WAITING)  # for events in the inbox
        self._games: dict[str, LiveGame] = {}
        self._ended: list[LiveGame] = []  # some of their threads may still run
        self._opponents = Opponents(policy, clock)
        self._accepts = ChallengeAnswers("accepts", MOST_AT_ONCE)
        self._declines = ChallengeAnswers("declines", MOST_DECLINES)
        self._expected: dict[str, float] = {}  # accepted challenges without a game, and when
        self._answered = RecentIds(REMEMBERED)
        self._over = RecentIds(REMEMBERED)
        self._finishing = False
        self._refusal: Refused | None = None  # the server's last word on the event stream
        self._cancel = threading.Event()
        self._stream: EventStream | None = None
        self._stream_lock = threading.Lock()

    def finish(self) -> None:
        """Accept no more challenges, and leave when the present games are over."""
        self._inbox.put("finish")

    def leave(self) -> None:
        """Leave now. The present games stay as they are, and can be taken up again."""
        self._cancel.set()
        self._inbox.put("leave")

    def run(self) -> None:
        """Play until told to leave.

        Raises Refused if the server refuses the event stream for good. The games that go on are
        played to their end before.
        """
        reader = threading.Thread(target=self._read, name="events", daemon=True)
        for name in self._underway.ids():
            logger.info("game %s: looking whether it goes on", name)
            self._start(GameStart(name, ""), sure=False, resumed=True)
        reader.start()
        try:
            while not self._is_done():
                item = self._inbox.get()
                if item == "leave":
                    return
                if isinstance(item, Event):
                    self._room.release()
                self._handle(item)
            if self._refusal is not None:
                raise self._refusal
        finally:
            self._cancel.set()
            with self._stream_lock:
                if self._stream is not None:
                    self._stream.close()
            for live in self._games.values():
                live.leave()
            for live in [*self._games.values(), *self._ended]:
                live.join()
            self._declines.close()
            self._accepts.close()
            reader.join(1.0)

    def _is_done(self) -> bool:
        return self._finishing and not self._games and not self._expected

    def _handle(self, item: _Item) -> None:
        match item:
            case "finish":
                self._finish()
            case Refused():
                self._refusal = item
                self._expected.clear()  # no event will tell of them
                if self._games:
                    logger.warning("no more challenges: %s", item)
                self._finish()
            case Challenge():
                self._judge(item)
            case _Accepted():
                self._accepted(item)
            case ChallengeGone(name):
                self._forget(name)
            case GameStart():
                self._start(item)
            case GameEnd(name):
                if name in self._games:
                    self._games[name].tell(item)
                self._forget(name)
            case LiveGame():
                self._game_over(item)
            case Ping():
                long_ago = self._clock() - EXPECTED_SECONDS
                for name in [name for name, at in self._expected.items() if at <= long_ago]:
                    logger.info("game %s: no word of it, looking whether it has begun", name)
                    self._start(GameStart(name, ""), sure=False)

    def _forget(self, name: str) -> None:
        """Forget a challenge of which no game comes."""
        self._expected.pop(name, None)
        if name not in self._games:
            self._underway.remove(name)
            if name not in self._over:
                self._opponents.forget(name)

    def _finish(self) -> None:
        if not self._finishing:
            self._finishing = True
            if self._games:
                logger.info("leaving when %d games are over", len(self._games))

    # -- challenges -------------------------------------------------------------------------

    def _judge(self, challenge: Challenge) -> None:
        """Accept or decline; other threads tell the server, so that nothing waits for them."""
        if challenge.ours or challenge.id in self._games or not self._answered.add(challenge.id):
            return
        playing = sum(not live.game.ended for live in self._games.values())
        running = playing + len(self._expected)
        reason: str | None = self._policy.judge(challenge, running)
        if reason is None and (self._finishing or self._is_enough(running)):
            reason = "later"
        if reason is None and self._opponents.refuse(challenge.challenger, challenge.id):
            reason = "later"
        if reason is not None:
            if not self._declines.put(lambda: self._decline(challenge, reason)):
                logger.info("%s: no answer, too many are declined", challenge)
            return
        self._expected[challenge.id] = float("inf")  # no game is late before it is accepted
        self._underway.add(challenge.id)  # which is the game's id too
        if not self._accepts.put(lambda: self._accept(challenge)):
            self._accepted(_Accepted(challenge, ApiError("too many are accepted")))

    def _decline(self, challenge: Challenge, reason: str) -> None:
        if self._cancel.is_set():
            return
        try:
            self._server.decline(challenge.id, reason, self._cancel)
            logger.info("%s: declined (%s)", challenge, reason)
        except ApiError as error:
            logger.info("%s: %s", challenge, error)

    def _accept(self, challenge: Challenge) -> None:
        error: ApiError | None = None
        try:
            self._server.accept(challenge.id, self._cancel)
            logger.info("%s: accepted", challenge)
        except ApiError as failure:
            error = failure
            logger.info("%s: %s", challenge, error)
        self._inbox.put(_Accepted(challenge, error))

    def _accepted(self, item: _Accepted) -> None:
        name = item.challenge.id
        if item.error is None:
            if name in self._expected:
                self._expected[name] = self._clock()
            return
        if name not in self._games:  # else it has begun all the same
            self._forget(name)
        if not isinstance(item.error, Refused):
            self._answered.discard(name)  # it may come again

    def _is_enough(self, running: int) -> bool:
        return self._games_left is not None and running >= self._games_left

    # -- games ------------------------------------------------------------------------------

    def _start(self, start: GameStart, *, sure: bool = True, resumed: bool = False) -> None:
        self._expected.pop(start.id, None)
        if start.id in self._games or start.id in self._over:
            return
        if start.variant and start.variant not in FOG_VARIANTS:
            logger.info("game %s is %s, left alone", start.id, start.variant)
            return
        if len(self._games) >= max(MOST_AT_ONCE, self._policy.games):
            logger.warning("game %s: left alone, %d games go on", start.id, len(self._games))
            return
        self._underway.add(start.id)
        game = ServerGame(
            start.id,
            self._user,
            self._settings,
            resumed=resumed,
            refuse=lambda opponent: self._opponents.refuse(opponent, start.id),
        )
        live = LiveGame(game, self._server, self._movers, self._over_now, sure=sure)
        self._games[start.id] = live
        live.start()

    def _over_now(self, live: LiveGame) -> None:
        """Take note of a game's end at once, since the bridge may be leaving. Any thread."""
        self._underway.remove(live.game.id)
        game = live.game
        if self._archive is not None and live.result is not None and game.view is not None:
            self._archive.save(game.id, game.view, game.log, live.result.verdict)
        self._inbox.put(live)

    def _game_over(self, live: LiveGame) -> None:
        name = live.game.id
        self._games.pop(name, None)
        if live.result is None or live.result.known:
            self._over.add(name)
        self._ended = [live, *(each for each in self._ended if each.busy)]
        if self._games_left is not None and live.game.view is not None:
            self._games_left -= 1
            if self._games_left <= 0:
                self._finish()

    # -- the event stream -------------------------------------------------------------------

    def _read(self) -> None:
        """Read the event stream, and open it again when it ends."""
        failures, refusals = 0, 0
        while not self._cancel.is_set():
            stream: EventStream | None = None
            try:
                stream = self._server.events(self._cancel)
                refusals = 0
                self._read_once(stream)
                reason = "it ended"
            except ApiError as error:
                reason = str(error)
                refusals = refusals + 1 if isinstance(error, Refused) else 0
                if isinstance(error, Refused) and refusals >= MOST_REFUSALS:
                    self._inbox.put(error)
                    return
            except Exception as error:
                reason = type(error).__name__
                logger.exception("reading the event stream failed")
            lived = stream is not None and self._server.has_lived(stream)
            failures = 0 if lived else failures + 1
            if not self._cancel.is_set():
                logger.info("the event stream is gone (%s), opening it again", reason)
                if failures:
                    self._server.pause(failures, self._cancel)

    def _read_once(self, stream: EventStream) -> None:
        """Read one stream to its end."""
        with self._stream_lock:
            self._stream = stream
            if self._cancel.is_set():
                stream.close()
        for message in stream:
            event = Ping() if message is None else parse_event(message, self._user)
            if event is not None:
                self._wait_for_room()
                self._inbox.put(event)

    def _wait_for_room(self) -> None:
        """Wait while too many events wait, and so let the server wait too."""
        while not self._room.acquire(timeout=1.0):
            if self._cancel.is_set():
                return


class ChallengeAnswers:
    """Sends answers to challenges, one after the other, in a thread of its own.

    most: how many may wait. Any thread may call its methods.
    """

    def __init__(self, name: str, most: int) -> None:
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue(most)
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, answer: Callable[[], None]) -> bool:
        """Send an answer after those that wait; return whether there is room for it."""
        try:
            self._queue.put_nowait(answer)
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        """End the thread after what it sends now. It waits for that a second at most."""
        with contextlib.suppress(queue.Full):  # else what waits is many short failures
            self._queue.put_nowait(None)
        self._thread.join(1.0)

    def _work(self) -> None:
        while (answer := self._queue.get()) is not None:
            try:
                answer()
            except Exception:
                logger.exception("a challenge could not be answered")


class Opponents:
    """Whom we play, and how often. Names are compared without case. Any thread may call this."""

    def __init__(self, policy: Policy, clock: Callable[[], float]) -> None:
        self._blocked = frozenset(name.casefold() for name in policy.block)
        self._most = policy.opponent_games
        self._clock = clock
        self._lock = threading.Lock()
        self._games: dict[str, tuple[str, float]] = {}  # by id, the oldest first

    def refuse(self, name: str, game: str) -> str | None:
        """Return why we don't play a game with an opponent; None: we do, and it is counted."""
        name = name.casefold()
        if name in self._blocked:
            return "the opponent is blocked"
        if name in NAMELESS:
            return None
        with self._lock:
            now = self._clock()
            while self._games and self._oldest() < now - OPPONENT_SECONDS:
                del self._games[next(iter(self._games))]
            if game not in self._games:
                count = sum(other == name for other, _ in self._games.values())
                if self._most is not None and count >= self._most:
                    return f"{count} games with this opponent within a day"
                self._games[game] = (name, now)
                if len(self._games) > REMEMBERED:
                    del self._games[next(iter(self._games))]
            return None

    def forget(self, game: str) -> None:
        """Count a game no more: it did not begin."""
        with self._lock:
            self._games.pop(game, None)

    def _oldest(self) -> float:
        return next(iter(self._games.values()))[1]


class AccountInUse(Exception):  # noqa: N818 - it is the name of the thing
    """Another bridge plays with the same account, or keeps its games in the same file."""


class StateLock:
    """A lock that one process holds as long as it lives, or until `release`.

    path: a file that stays where it is; it holds nothing. Raises AccountInUse if another process
    has the lock. Where the file can't be made, there is one warning, and no lock.
    """

    def __init__(self, path: Path) -> None:
        self._file: TextIO | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise AccountInUse(str(path)) from None
        except OSError as error:
            self.release()
            logger.warning("a second bridge would go unnoticed: %s: %s", path, error.strerror)

    def release(self) -> None:
        """Let the next one have it. A second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None


class GamesUnderway:
    """The ids of one account's games that go on, kept on disk for the next start.

    A server may tell of a game again only once it has a first move (pychess.org), or may lose the
    event that tells of it. The bridge then asks for the game by its id. Any thread may call this.
    path: None keeps nothing. A file that can't be read or written is one warning, and no more.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._ids = _read_ids(path)

    def ids(self) -> tuple[str, ...]:
        """Return the games, the oldest first."""
        with self._lock:
            return tuple(self._ids)

    def add(self, game: str) -> None:
        """Remember a game."""
        with self._lock:
            if game not in self._ids:
                self._ids = [*self._ids, game][-MOST_UNDERWAY:]
                self._write()

    def remove(self, game: str) -> None:
        """Forget a game that is over."""
        with self._lock:
            if game in self._ids:
                self._ids.remove(game)
                self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(self._path, json.dumps({"games": self._ids}) + "\n")
        except OSError as error:
            logger.warning("games are not remembered: %s: %s", self._path, error.strerror)
            self._path = None


def _read_ids(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("can't read %s: %s", path, error)
        return []
    games = stored.get("games") if isinstance(stored, dict) else None
    return [game for game in games if isinstance(game, str)] if isinstance(games, list) else []


class RecentIds:
    """The last ids that were added, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self._ids: dict[str, None] = {}  # the oldest first
        self._most = most

    def add(self, name: str) -> bool:
        """Add an id; return whether it is new."""
        if name in self._ids:
            return False
        self._ids[name] = None
        if len(self._ids) > self._most:
            del self._ids[next(iter(self._ids))]
        return True

    def discard(self, name: str) -> None:
        """Forget an id."""
        self._ids.pop(name, None)

    def __contains__(self, name: str) -> bool:
        """Return whether an id is remembered."""
        return name in self._ids
