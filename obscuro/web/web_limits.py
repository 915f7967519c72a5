"""The limits of the web server, how they are counted, and the error for a request past them."""

from __future__ import annotations

import functools
import ipaddress
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

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

    An address is a network address that requests come from (`address_key`).

    games: engines' processes; a game of a person has one, a match of two engines has two. matches:
    whether there are matches. visitor_games: unfinished games of one visitor. stored, stored_bytes:
    games that are kept. visitor_stored: those of one visitor. body, file, message: the most bytes.
    files_at_once:
    addresses whose files are read at the same time. body_seconds, send_seconds: after these a
    slow browser is given up. sleep_after: a game in which nothing happens gives its engine back.

    connections: of all. address_connections: of one address. request_seconds: a connection without
    a whole request is closed after this. request_burst, request_rate: requests of one address;
    others wait. sockets: of all browsers. address_sockets: of one address. game_sockets: of one
    player's game. socket_burst, socket_rate: bytes that one socket may send; others wait.

    Of one address: post_*: requests that change something. created_*: new games. file_*: files.
    look_*: games that are opened to look at. looked_at: games that are looked at. message_*: the
    messages on one socket. strikes: refused messages in a row that close a socket. pause: an
    engine's move is shown no sooner than this after its turn began. pause_clock: it waits only if
    its clock shows more.
    """

    games: int = 8
    matches: bool = True
    visitor_games: int = 20
    stored: int = 10_000
    stored_bytes: int = 2 << 30
    visitor_stored: int = 500
    body: int = 4096
    file: int = 1 << 20
    files_at_once: int = 16
    message: int = 4096
    body_seconds: float = 10.0
    send_seconds: float = 20.0
    sleep_after: float = 600.0
    connections: int = 4096
    address_connections: int = 128
    request_seconds: float = 10.0
    request_burst: float = 200
    request_rate: float = 20
    sockets: int = 1024
    address_sockets: int = 64
    game_sockets: int = 32
    socket_burst: float = 8192
    socket_rate: float = 4096
    post_burst: float = 30
    post_rate: float = 1
    created_burst: float = 20
    created_rate: float = 0.2
    file_burst: float = 10
    file_rate: float = 0.1
    look_burst: float = 20
    look_rate: float = 0.2
    looked_at: int = 8
    message_burst: float = 20
    message_rate: float = 5
    strikes: int = 100
    pause: float = 0.5
    pause_clock: float = 10.0


@functools.lru_cache(maxsize=4096)
def address_key(host: str) -> str:
    """Return the name under which an address is counted: IPv6 by its network of 64 bits.

    One subscriber has all addresses of such a network. A text that is no address stands for itself.
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False))


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

    def reserve(self, amount: float) -> float:
        """Count an action of this size in any case; return the seconds it has to wait.

        These are at most burst / rate, however much has been counted.
        """
        now = self._clock()
        tokens = min(self._burst, self._tokens + (now - self._since) * self._rate)
        self._tokens = max(-self._burst, tokens - amount)
        self._since = now
        return max(0.0, -self._tokens / self._rate)


class BucketTable:
    """A bucket for each name, such as a visitor's; at most `most`, the last used ones."""

    def __init__(
        self, burst: float, rate: float, clock: Callable[[], float], most: int = 10_000
    ) -> None:
        self._make = functools.partial(TokenBucket, burst, rate, clock)
        self._most = most
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Return whether this name may act now; it then counts."""
        return self._bucket(name).take()

    def reserve(self, name: str, amount: float) -> float:
        """Count an action of a name in any case; return the seconds it has to wait."""
        return self._bucket(name).reserve(amount)

    def _bucket(self, name: str) -> TokenBucket:
        known = name in self._buckets
        bucket = self._buckets[name] = self._buckets.pop(name) if known else self._make()
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return bucket
