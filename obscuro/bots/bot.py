"""The bot account as a whole: it answers challenges and plays games until it is told to leave."""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from pathlib import Path
from typing import Literal, Protocol

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


_Item = Event | LiveGame | Literal["finish", "leave"] | Refused


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
    ) -> None:
        self._user = user
        self._underway = underway or GamesUnderway(None)
        self._archive = archive
        self._server = server
        self._movers = movers
        self._policy = policy
        self._settings = settings
        self._games_left = policy.leave_after
        self._clock = time.monotonic
        self._inbox: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._games: dict[str, LiveGame] = {}
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
            for live in self._games.values():
                live.join()
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

    def _finish(self) -> None:
        if not self._finishing:
            self._finishing = True
            if self._games:
                logger.info("leaving when %d games are over", len(self._games))

    # -- challenges -------------------------------------------------------------------------

    def _judge(self, challenge: Challenge) -> None:
        if challenge.ours or challenge.id in self._games or not self._answered.add(challenge.id):
            return
        playing = sum(not live.game.ended for live in self._games.values())
        running = playing + len(self._expected)
        reason: str | None = self._policy.judge(challenge, running)
        if reason is None and (self._finishing or self._is_enough(running)):
            reason = "later"
        who = f"challenge {challenge.id} of {challenge.challenger}"
        try:
            if reason is not None:
                self._server.decline(challenge.id, reason, self._cancel)
                logger.info("%s: declined (%s)", who, reason)
                return
            self._expected[challenge.id] = self._clock()
            self._underway.add(challenge.id)  # which is the game's id too
            self._server.accept(challenge.id, self._cancel)
            logger.info("%s: accepted", who)
        except Refused as error:
            self._forget(challenge.id)
            logger.info("%s: %s", who, error)
        except ApiError as error:
            self._forget(challenge.id)
            self._answered.discard(challenge.id)  # it may come again
            logger.info("%s: %s", who, error)

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
        self._underway.add(start.id)
        game = ServerGame(start.id, self._user, self._settings, resumed=resumed)
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
        live.join()
        if self._games_left is not None and live.game.view is not None:
            self._games_left -= 1
            if self._games_left <= 0:
                self._finish()

    # -- the event stream -------------------------------------------------------------------

    def _read(self) -> None:
        """Read the event stream, and open it again when it ends."""
        failures, refusals = 0, 0
        while not self._cancel.is_set():
            try:
                received = self._read_once()
                failures, refusals = (0 if received else failures + 1), 0
                reason = "it ended"
            except ApiError as error:
                failures += 1
                reason = str(error)
                refusals = refusals + 1 if isinstance(error, Refused) else 0
                if isinstance(error, Refused) and refusals >= MOST_REFUSALS:
                    self._inbox.put(error)
                    return
            except Exception as error:
                failures += 1
                reason = type(error).__name__
                logger.exception("reading the event stream failed")
            if not self._cancel.is_set():
                logger.info("the event stream is gone (%s), opening it again", reason)
                if failures:
                    self._server.pause(failures, self._cancel)

    def _read_once(self) -> bool:
        """Read one stream to its end; return whether anything came."""
        stream = self._server.events(self._cancel)
        with self._stream_lock:
            self._stream = stream
            if self._cancel.is_set():
                stream.close()
        received = False
        for message in stream:
            event = Ping() if message is None else parse_event(message, self._user)
            received = True
            if event is not None:
                self._inbox.put(event)
        return received


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
    except (OSError, ValueError) as error:
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
