"""The lichess bot API over HTTP: short requests that are tried again, and the opening of streams.

The token is in one place: the header that httpx sends. No error and no log line has it. Every read
has a time limit. Servers send a sign of life every few seconds, so a silent stream is a dead one.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from obscuro import __version__
from obscuro.bots.events import FOG_VARIANTS

logger = logging.getLogger(__name__)

ERROR_CHARACTERS = 200
"""How many characters of a server's or a library's words about an error the user gets to see."""

_TOKEN_ADVICE = "OBSCURO_BOT_TOKEN must be the token of a bot account, with the scope bot:play"
_ADVICE = {
    400: "the server wants what this version of the bridge does not send; try a newer one",
    401: _TOKEN_ADVICE,
    403: _TOKEN_ADVICE,
    404: "is --url the address of a server with the bot API?",
}

TOO_MANY_REQUESTS_SECONDS = 60.0
"""How long we send nothing after a 429 that names no time; lichess asks for a full minute."""
LONGEST_SILENCE_SECONDS = 600.0
"""How long we send nothing after a 429 at most."""

Wait = Callable[[threading.Event, float], bool]
LONGEST_LINE = 1 << 20
"""Bytes of a line at most; a game of 5,000 moves has 30,000."""
CAPABILITIES_HEADER = "X-PyChess-Bot-Capabilities"
CAPABILITIES_VERSION = 1


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

    def __init__(self, response: httpx.Response, what: str) -> None:
        self._response = response
        self._what = what
        self._closed = False

    def __iter__(self) -> Iterator[Mapping[str, Any] | None]:
        """Yield the objects as they come."""
        pending = bytearray()
        try:
            for chunk in self._response.iter_bytes():
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
            logger.warning("%s: a line that can't be read: %r", self._what, line[:ERROR_CHARACTERS])
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

    connect: for a connection. answer: for an answer. silence: for the next sign of life of a
    stream. pauses: before the second, third … attempt; the last one is used from then on. attempts:
    how often a request is sent at most, unless the caller says otherwise.
    """

    connect: float = 10.0
    answer: float = 30.0  # pychess.org takes 10 if a challenger has left
    silence: float = 30.0
    pauses: tuple[float, ...] = (0.5, 1.0, 1.0, 2.0, 2.0, 5.0, 10.0, 20.0)
    attempts: int = 6

    def pause(self, failures: int) -> float:
        """Return how long to wait after this number of failures in a row, at least one."""
        return self.pauses[min(failures, len(self.pauses)) - 1] if self.pauses else 0.0


class BotClient:
    """The connection of a bot account to its server. Any thread may call its methods.

    cancel: an event that ends waiting; Unreachable is raised then. wait, clock: for tests.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience: Patience | None = None,
        wait: Wait = threading.Event.wait,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience = patience or Patience()
        self._wait = wait
        self._clock = clock
        self._silent_until = 0.0  # when the server will take requests again, by the clock
        self._http = httpx.Client(
            base_url=url,
            headers={
                "Authorization": f"Bearer {token}",
                "User-Agent": f"obscuro/{__version__}",
                "Accept": "application/json, application/x-ndjson",
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
        if not isinstance(name, str) or not name.isprintable():
            raise Unreachable("the server does not say who we are; is it one with the bot API?")
        # pychess.org and lichess ask bots to name their account.
        self._http.headers["User-Agent"] = f"obscuro/{__version__} user:{name}"
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
        self._request("POST", path, cancel, attempts=None, repeat=_CERTAINLY_UNDONE)

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
        return self._stream("/api/stream/event", "the event stream", cancel, headers)

    def game_events(self, game: str, cancel: threading.Event) -> EventStream:
        """Open the stream of a game. Raises ApiError."""
        return self._stream(
            f"/api/bot/game/stream/{_part(game)}", f"the stream of game {game}", cancel
        )

    def pause(self, failures: int, cancel: threading.Event) -> None:
        """Wait before the next attempt, after this number of failures in a row."""
        self._wait(cancel, self._patience.pause(failures))

    # -- inside -----------------------------------------------------------------------------

    def _request(
        self,
        method: str,
        path: str,
        cancel: threading.Event,
        form: Mapping[str, str] | None = None,
        attempts: int | None = 0,
        repeat: tuple[type[Exception], ...] = (Exception,),
    ) -> Mapping[str, Any]:
        """Send a request and return the object of the answer.

        attempts: how often at most; None: any number; 0: as `Patience` says. repeat: the failures
        after which another attempt is made.
        """
        most = self._patience.attempts if attempts == 0 else attempts
        failures = 0
        while True:
            self._be_silent(cancel)
            try:
                response = self._http.request(method, path, data=form)
                self._check(response, path)
                return _object(response)
            except Refused:
                raise
            except (httpx.HTTPError, httpx.InvalidURL, Unreachable) as error:
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
        headers: Mapping[str, str] | None = None,
    ) -> EventStream:
        self._be_silent(cancel)
        patience = self._patience
        timeout = httpx.Timeout(patience.silence, connect=patience.connect)
        request = self._http.build_request("GET", path, headers=headers, timeout=timeout)
        try:
            response = self._http.send(request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise Unreachable(f"{what}: {first_line(error)}") from None
        try:
            if response.status_code != httpx.codes.OK:
                response.read()
                self._check(response, path)
        except ApiError:
            response.close()
            raise
        except httpx.HTTPError as error:
            response.close()
            raise Unreachable(f"{what}: {first_line(error)}") from None
        return EventStream(response, what)

    def _be_silent(self, cancel: threading.Event) -> None:
        """Wait until the server takes requests again. Raises Unreachable if cancelled."""
        seconds = self._silent_until - self._clock()
        if seconds > 0:
            self._wait(cancel, seconds)
        if cancel.is_set():
            raise Unreachable("broken off")

    def _check(self, response: httpx.Response, path: str) -> None:
        """Raise the error that an HTTP status stands for; nothing for success."""
        status = response.status_code
        if response.is_success:
            return
        if status == httpx.codes.TOO_MANY_REQUESTS:
            seconds = _seconds(response.headers.get("Retry-After"))
            self._silent_until = self._clock() + seconds
            logger.warning("the server wants no requests for %.0f s (429)", seconds)
            raise TooMany("too many requests (429)")
        if response.is_redirect:
            where = response.headers.get("Location", "elsewhere")[:ERROR_CHARACTERS]
            raise Refused(status, f"{path} is redirected to {where!r}; give the right --url")
        words = _error_text(response).removeprefix(f"{status}: ")
        text = f"{path}: {status} {words}".rstrip()
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise Unauthorized(status, text)
        if response.is_client_error and status not in _PASSING:
            raise Refused(status, text)
        raise Unreachable(text)


def _object(response: httpx.Response) -> Mapping[str, Any]:
    try:
        answer = response.json()
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _error_text(response: httpx.Response) -> str:
    """Return the server's own words about an error, fit for one line."""
    error = _object(response).get("error", response.text)
    text = error if isinstance(error, str) else json.dumps(error)
    if "<html" in text.lower():
        return ""
    line = " ".join(text.split())[:ERROR_CHARACTERS]
    return "".join(character if character.isprintable() else "?" for character in line)


def _seconds(retry_after: str | None) -> float:
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return TOO_MANY_REQUESTS_SECONDS
    return min(max(seconds, 1.0), LONGEST_SILENCE_SECONDS)


def _part(text: str) -> str:
    """Return an id as a part of a path. Raises Refused if it could lead to another path."""
    if not text or not text.isascii() or not text.replace("-", "").replace("_", "").isalnum():
        raise Refused(400, f"{text[:20]!r} is no id")
    return text


def capabilities() -> str:
    """Return the value of the header: one line of JSON with the version and the variants."""
    content = {"version": CAPABILITIES_VERSION, "variants": list(FOG_VARIANTS)}
    return json.dumps(content, separators=(",", ":"))
