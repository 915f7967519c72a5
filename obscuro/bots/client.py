"""The lichess bot API over HTTP: short requests that are tried again, and the opening of streams.

The token is in one place: the header that httpx sends. No error and no log line has it. Every read
has a time limit. Servers send a sign of life every few seconds, so a silent stream is a dead one.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from obscuro import __version__
from obscuro.bots.api_errors import (
    ERROR_CHARACTERS,
    ApiError,
    Refused,
    TooMany,
    Unauthorized,
    Unreachable,
    first_line,
)
from obscuro.bots.capabilities import CAPABILITIES_HEADER, capabilities
from obscuro.bots.event_stream import EventStream

logger = logging.getLogger(__name__)

TOO_MANY_REQUESTS_SECONDS = 60.0
"""How long we send nothing after a 429 that names no time; lichess asks for a full minute."""
LONGEST_SILENCE_SECONDS = 600.0
"""How long we send nothing after a 429 at most."""

Wait = Callable[[threading.Event, float], bool]


_PASSING = (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_EARLY)
"""Statuses of 4xx that are about the moment, not about the request."""
_CERTAINLY_UNDONE = (TooMany, httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


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
