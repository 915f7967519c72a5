"""The lichess bot API over HTTP: short requests that are tried again, and the opening of streams.

The token is in one place: the header that httpx sends. No error and no log line has it. Every read
has a time limit, and every answer a limit of its size. Servers send a sign of life every few
seconds, so a silent stream is a dead one.

Requests have lanes. A 429 silences the lane of the request, and the lanes below it: a 429 on a chat
or a decline makes no move late, and a 429 on a move is meant for all.
"""

from __future__ import annotations

import contextlib
import datetime
import email.utils
import json
import logging
import math
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from urllib.parse import quote

import httpx

from obscuro import __version__
from obscuro.bots.events import FOG_VARIANTS

logger = logging.getLogger(__name__)

ERROR_CHARACTERS = 200
"""How many characters of a server's or a library's words about an error the user gets to see."""
LONGEST_ERROR = 10_000
"""Bytes of an error's body that are read; a page of HTML says in them that it is one."""

_TOKEN_ADVICE = "OBSCURO_BOT_TOKEN must be the token of a bot account, with the scope bot:play"
_ADVICE = {
    400: "the server wants what this version of the bridge does not send; try a newer one",
    401: _TOKEN_ADVICE,
    403: _TOKEN_ADVICE,
    404: "is --url the address of a server with the bot API?",
}

TOO_MANY_REQUESTS_SECONDS = 60.0
"""How long we send nothing after a 429 that names no time; lichess asks for a full minute."""
LONGEST_SILENCE_SECONDS = 86_400.0
"""How long we send nothing after a 429 at most; a server that says more is mistaken."""

Wait = Callable[[threading.Event, float], bool]
LONGEST_LINE = 1 << 20
"""Bytes of a line at most; a game of 5,000 moves has 30,000."""
LARGEST_ANSWER = 1 << 20
"""Bytes of the answer to a short request at most."""
LONGEST_NAME = 100
"""Characters of our own name at most."""
JITTER = 0.25
"""Pauses are longer by up to this share, by chance, so that bridges do not keep in step."""
CAPABILITIES_HEADER = "X-PyChess-Bot-Capabilities"
CAPABILITIES_VERSION = 1


class Lane(IntEnum):
    """Which requests wait for which: a 429 silences its own lane and those with a higher number."""

    MOVES = 0
    GAMES = 1  # the streams of games
    REST = 2  # challenges, chat, offers, the event stream


_SILENCED = {
    Lane.MOVES: "requests",
    Lane.GAMES: "requests but moves",
    Lane.REST: "requests but moves and the streams of games",
}


class ApiError(Exception):
    """The server refused a request or was out of reach; the text is one line without secrets."""


class Refused(ApiError):  # noqa: N818 - it is the name of the thing
    """The server said no (4xx), so that asking again would not help. status: the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status

    @property
    def advice(self) -> str:
        """What the user can do about it; empty if there is nothing to say."""
        return _ADVICE.get(self.status, "")


class Unauthorized(Refused):
    """The token is invalid, or does not allow the request (401, 403)."""


class Unreachable(ApiError):  # noqa: N818 - it is the name of the thing
    """The server gave no sensible answer, also not when asked again."""


class TooMany(Unreachable):
    """The server got too many requests (429), and did not do this one."""


def first_line(error: Exception) -> str:
    """Return the first line of an error's text. httpx writes the address there, but no header."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text[:ERROR_CHARACTERS]


_PASSING = (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_EARLY)
"""Statuses of 4xx that are about the moment, not about the request."""
_CERTAINLY_UNDONE = (TooMany, httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class EventStream:
    """The objects that come on an open stream, with None for a sign of life.

    It ends when the server ends it. It raises ApiError when it breaks, also between two lines. Any
    thread may call `close`, which wakes the reading thread.
    """

    def __init__(
        self,
        response: httpx.Response,
        what: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._response = response
        self._what = what
        self._clock = clock
        self._opened = clock()
        self._closed = False
        self._warned = False

    @property
    def age(self) -> float:
        """Seconds since it was opened."""
        return self._clock() - self._opened

    def __iter__(self) -> Iterator[Mapping[str, Any] | None]:
        """Yield the objects as they come."""
        pending = bytearray()
        try:
            for chunk in self._response.iter_raw():
                *ended, rest = chunk.split(b"\n")
                for piece in ended:
                    pending += piece
                    yield self._read(bytes(pending))
                    pending.clear()
                pending += rest
                if len(pending) > LONGEST_LINE:
                    raise Unreachable(f"{self._what}: a line without end")
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            if not self._closed:
                raise Unreachable(f"{self._what}: {first_line(error)}") from None
        finally:
            self.close()
            with contextlib.suppress(Exception):
                self._response.close()

    def _read(self, line: bytes) -> Mapping[str, Any] | None:
        if not line.strip():
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            if not self._warned:  # a server may send any number of them
                unread = line[:ERROR_CHARACTERS]
                logger.warning("%s: a line that can't be read: %r", self._what, unread)
            self._warned = True
            return None
        return message

    def close(self) -> None:
        """End the stream. Any thread may call this, and call it again."""
        if self._closed:
            return
        self._closed = True
        # Shutting the socket down wakes a thread that waits in `recv`; closing it does not.
        network = self._response.extensions.get("network_stream")
        connection = network.get_extra_info("socket") if network is not None else None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds.

    connect: for a connection. answer: for the next part of an answer, and twice as long for all of
    it. silence: for the next sign of life of a stream. pauses: before the second, third … attempt;
    the last one is used from then on. between_opens: from the opening of a stream to that of the
    next one, of whatever kind. long_life: a stream that lives so long has not failed. attempts: how
    often a request is sent at most, unless the caller says otherwise.
    """

    connect: float = 10.0
    answer: float = 30.0  # pychess.org takes 10 if a challenger has left
    silence: float = 30.0
    pauses: tuple[float, ...] = (0.5, 1.0, 1.0, 2.0, 2.0, 5.0, 10.0, 20.0)
    between_opens: float = 0.5
    long_life: float = 10.0
    attempts: int = 6

    def pause(self, failures: int) -> float:
        """Return how long to wait after this number of failures in a row, at least one."""
        return self.pauses[min(failures, len(self.pauses)) - 1] if self.pauses else 0.0


class BotClient:
    """The connection of a bot account to its server. Any thread may call its methods.

    cancel: an event that ends waiting; Unreachable is raised then. wait, clock, chance: for tests;
    chance returns a number from 0 to 1.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience: Patience | None = None,
        wait: Wait = threading.Event.wait,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._patience = patience or Patience()
        self._wait = wait
        self._clock = clock
        self._chance = chance
        self._lock = threading.Lock()  # of the two that follow
        # By the clock: when the server takes requests of a lane again, and the next stream.
        self._silent_until = dict.fromkeys(Lane, -math.inf)
        self._next_open = -math.inf
        self._http = httpx.Client(
            base_url=url,
            headers={
                "Authorization": f"Bearer {token}",
                "User-Agent": f"obscuro/{__version__}",
                "Accept": "application/json, application/x-ndjson",
                "Accept-Encoding": "identity",  # so that no answer is larger than it comes
            },
            timeout=httpx.Timeout(self._patience.answer, connect=self._patience.connect),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=30.0),
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    # -- requests ---------------------------------------------------------------------------

    def account(self, cancel: threading.Event) -> Mapping[str, Any]:
        """Return who we are: `id`, `username`, `title`. Raises ApiError."""
        answer = self._request("GET", "/api/account", cancel)
        name = answer.get("username") or answer.get("id")
        if not isinstance(name, str) or not name.isprintable() or len(name) > LONGEST_NAME:
            raise Unreachable("the server does not say who we are; is it one with the bot API?")
        # pychess.org and lichess ask bots to name their account. A header is ASCII.
        readable = quote(name, safe=" !#$&'()*+,/:;=?@[]", errors="replace")
        self._http.headers["User-Agent"] = f"obscuro/{__version__} user:{readable}"
        return {**answer, "username": name}

    def accept(self, challenge: str, cancel: threading.Event) -> None:
        """Accept a challenge. Raises ApiError."""
        self._request("POST", f"/api/challenge/{_part(challenge)}/accept", cancel, attempts=3)

    def decline(self, challenge: str, reason: str, cancel: threading.Event) -> None:
        """Decline a challenge. Raises ApiError."""
        path = f"/api/challenge/{_part(challenge)}/decline"
        self._request("POST", path, cancel, {"reason": reason}, attempts=3)

    def move(self, game: str, move: str, cancel: threading.Event) -> None:
        """Make a move. It is sent again only if it can't have arrived.

        Raises Refused, or Unreachable if the move may have arrived: a second copy could be taken
        for the next move.
        """
        path = f"/api/bot/game/{_part(game)}/move/{_part(move)}"
        self._request(
            "POST", path, cancel, attempts=None, repeat=_CERTAINLY_UNDONE, lane=Lane.MOVES
        )

    def ask(self, game: str, what: str, cancel: threading.Event) -> None:
        """Ask something else in a game: `resign`, `abort`, `draw/no` … Raises ApiError."""
        parts = "/".join(_part(part) for part in what.split("/"))
        self._request("POST", f"/api/bot/game/{_part(game)}/{parts}", cancel)

    def say(self, game: str, text: str, cancel: threading.Event) -> None:
        """Say something in the chat that the players see. Raises ApiError."""
        path = f"/api/bot/game/{_part(game)}/chat"
        self._request("POST", path, cancel, {"room": "player", "text": text}, attempts=1)

    # -- streams ----------------------------------------------------------------------------

    def events(self, cancel: threading.Event) -> EventStream:
        """Open the stream of challenges and games. Raises ApiError."""
        headers = {CAPABILITIES_HEADER: capabilities()}
        return self._stream("/api/stream/event", "the event stream", cancel, Lane.REST, headers)

    def game_events(self, game: str, cancel: threading.Event) -> EventStream:
        """Open the stream of a game. Raises ApiError."""
        path = f"/api/bot/game/stream/{_part(game)}"
        return self._stream(path, f"the stream of game {game}", cancel, Lane.GAMES)

    def has_lived(self, stream: EventStream) -> bool:
        """Return whether a stream has lived so long that its end is no failure."""
        return stream.age >= self._patience.long_life

    def pause(self, failures: int, cancel: threading.Event) -> None:
        """Wait before the next attempt, after this number of failures in a row."""
        seconds = self._patience.pause(failures) * (1 + JITTER * self._chance())
        self._wait(cancel, seconds)

    # -- inside -----------------------------------------------------------------------------

    def _request(
        self,
        method: str,
        path: str,
        cancel: threading.Event,
        form: Mapping[str, str] | None = None,
        attempts: int | None = 0,
        repeat: tuple[type[Exception], ...] = (Exception,),
        lane: Lane = Lane.REST,
    ) -> Mapping[str, Any]:
        """Send a request and return the object of the answer.

        attempts: how often at most; None: any number; 0: as `Patience` says. repeat: the failures
        after which another attempt is made.
        """
        most = self._patience.attempts if attempts == 0 else attempts
        failures = 0
        while True:
            self._be_silent(cancel, lane)
            try:
                with self._http.stream(method, path, data=form) as response:
                    return _object(self._checked(response, path, lane))
            except Refused:
                raise
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, Unreachable) as error:
                failures += 1
                reason = first_line(error)
                again = isinstance(error, repeat)
            if not again or (most is not None and failures >= most):
                raise Unreachable(f"{path}: {reason}") from None
            logger.info("%s: %s; trying again", path, reason)
            self.pause(failures, cancel)

    def _stream(
        self,
        path: str,
        what: str,
        cancel: threading.Event,
        lane: Lane,
        headers: Mapping[str, str] | None = None,
    ) -> EventStream:
        self._wait_to_open(cancel, lane)
        patience = self._patience
        timeout = httpx.Timeout(patience.silence, connect=patience.connect)
        # A stream shuts its connection down when it ends, so no other request may have it by then.
        headers = {**(headers or {}), "Connection": "close"}
        request = self._http.build_request("GET", path, headers=headers, timeout=timeout)
        try:
            response = self._http.send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise Unreachable(f"{what}: {first_line(error)}") from None
        try:
            if response.status_code != httpx.codes.OK:
                self._checked(response, path, lane)
                raise Unreachable(f"{what}: {response.status_code} is no stream")
        except ApiError:
            response.close()
            raise
        except httpx.HTTPError as error:
            response.close()
            raise Unreachable(f"{what}: {first_line(error)}") from None
        return EventStream(response, what, self._clock)

    def _wait_to_open(self, cancel: threading.Event, lane: Lane) -> None:
        """Wait until a stream may be opened. Raises Unreachable if cancelled."""
        while True:
            self._be_silent(cancel, lane)
            with self._lock:
                now = self._clock()
                if now >= self._next_open:
                    self._next_open = now + self._patience.between_opens
                    return
                seconds = self._next_open - now
            self._wait(cancel, seconds)

    def _be_silent(self, cancel: threading.Event, lane: Lane) -> None:
        """Wait until the server takes requests of a lane again. Raises Unreachable if cancelled."""
        while not cancel.is_set():
            with self._lock:
                seconds = self._silent_until[lane] - self._clock()
            if seconds <= 0:
                return
            self._wait(cancel, seconds)
        raise Unreachable("broken off")

    def _fall_silent(self, seconds: float, lane: Lane) -> None:
        """Send nothing more in a lane, nor in those that wait for it, for this time."""
        with self._lock:
            until = self._clock() + seconds
            for each in Lane:
                if each >= lane:
                    self._silent_until[each] = max(self._silent_until[each], until)
        logger.warning("the server wants no %s for %.0f s (429)", _SILENCED[lane], seconds)

    def _body(self, response: httpx.Response) -> bytes:
        """Read the rest of an answer. Raises Unreachable if it is too large, or takes too long."""
        body = bytearray()
        until = self._clock() + 2 * self._patience.answer
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > LARGEST_ANSWER:
                raise Unreachable(f"an answer of more than {LARGEST_ANSWER >> 20} MiB")
            if self._clock() > until:
                raise Unreachable("an answer that does not end")
        return bytes(body)

    def _checked(self, response: httpx.Response, path: str, lane: Lane) -> bytes:
        """Return the body of an answer; raise the error that its HTTP status stands for."""
        status = response.status_code
        if status == httpx.codes.TOO_MANY_REQUESTS:  # before a body, which may never end
            self._fall_silent(_seconds(response.headers.get("Retry-After")), lane)
            raise TooMany("too many requests (429)")
        body = self._body(response)
        if response.is_success:
            return body
        if response.is_redirect:
            where = response.headers.get("Location", "elsewhere")[:ERROR_CHARACTERS]
            raise Refused(status, f"{path} is redirected to {where!r}; give the right --url")
        words = _error_text(body).removeprefix(f"{status}: ")
        text = f"{path}: {status} {words}".rstrip()
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise Unauthorized(status, text)
        if response.is_client_error and status not in _PASSING:
            raise Refused(status, text)
        raise Unreachable(text)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _error_text(body: bytes) -> str:
    """Return the server's own words about an error, fit for one line."""
    error = _object(body).get("error", body[:LONGEST_ERROR].decode("utf-8", "replace"))
    text = error if isinstance(error, str) else json.dumps(error)
    if "<html" in text.lower():
        return ""
    line = " ".join(text[:LONGEST_ERROR].split())[:ERROR_CHARACTERS]
    return "".join(character if character.isprintable() else "?" for character in line)


def _seconds(retry_after: str | None) -> float:
    """Read the header `Retry-After`: seconds, or the date when to ask again."""
    text = retry_after or ""
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text)
    if math.isnan(seconds):
        return TOO_MANY_REQUESTS_SECONDS
    return min(max(seconds, 1.0), LONGEST_SILENCE_SECONDS)


def _seconds_until(date: str) -> float:
    """Return the seconds from now to a date of a header; NaN if it is none."""
    try:
        at = email.utils.parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return math.nan
    return (at.astimezone(datetime.UTC) - datetime.datetime.now(datetime.UTC)).total_seconds()


def _part(text: str) -> str:
    """Return an id as a part of a path. Raises Refused if it could lead to another path."""
    if not text or not text.isascii() or not text.replace("-", "").replace("_", "").isalnum():
        raise Refused(400, f"{text[:20]!r} is no id")
    return text


def capabilities() -> str:
    """Return the value of the header: one line of JSON with the version and the variants."""
    content = {"version": CAPABILITIES_VERSION, "variants": list(FOG_VARIANTS)}
    return json.dumps(content, separators=(",", ":"))
