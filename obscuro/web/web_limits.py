"""The limits of the web server, how they are counted, and the error for a request past them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

BAD_REQUEST = 400
NOT_FOUND = 404
CONFLICT = 409
TOO_LARGE = 413
TOO_MANY = 429
UNAVAILABLE = 503


class WebError(Exception):
    """A request that can't be done: one line for the user, and the status of the HTTP answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class WebLimits:
    """What browsers may ask of the server. Times are seconds, sizes bytes.

    games: awake at the same time; each has an engine's process, a match of two engines has two.
    visitor_games: unfinished games of one visitor. stored: games that are kept. sockets: of all
    browsers. game_sockets: of one player's game. body, file, message: the most bytes. body_seconds,
    send_seconds: after these a slow browser is given up. sleep_after: a game without a browser
    sleeps after this.

    post_burst, post_rate: requests that change something, of one visitor. created_burst,
    created_rate: new games of all visitors together. message_burst, message_rate: messages on one
    socket. strikes: refused messages in a row that close a socket. pause: an engine's move is shown
    no sooner than this after its turn began. pause_clock: it waits only if its clock shows more.
    """

    games: int = 8
    visitor_games: int = 20
    stored: int = 10_000
    sockets: int = 256
    game_sockets: int = 32
    body: int = 4096
    file: int = 1 << 20
    message: int = 4096
    body_seconds: float = 10.0
    send_seconds: float = 20.0
    post_burst: float = 20
    post_rate: float = 0.5
    created_burst: float = 30
    created_rate: float = 0.5
    message_burst: float = 20
    message_rate: float = 5
    strikes: int = 100
    sleep_after: float = 600.0
    pause: float = 0.5
    pause_clock: float = 10.0


class TokenBucket:
    """Allows `burst` actions at once and `rate` actions a second. clock: seconds."""

    def __init__(self, burst: float, rate: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._tokens = burst
        self._since = clock()

    def take(self) -> bool:
        """Return whether an action is allowed now; it then counts."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._since) * self._rate)
        self._since = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class BucketTable:
    """A bucket for each name, such as a visitor's; at most `most`, the last used ones."""

    def __init__(
        self, burst: float, rate: float, clock: Callable[[], float], most: int = 10_000
    ) -> None:
        self._make = partial(TokenBucket, burst, rate, clock)
        self._most = most
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Return whether this name may act now; it then counts."""
        known = name in self._buckets
        bucket = self._buckets[name] = self._buckets.pop(name) if known else self._make()
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return bucket.take()
