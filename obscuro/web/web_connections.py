"""Connections of browsers, before and below the application: who has how many, and whose turn it is.

A connection that sends no whole request in time is closed, and so is one that reads nothing. Each
address has a share of the connections and of the requests. Requests are taken one after the other,
in turns of the addresses, and between two of them the server looks at all sockets of games. So
however many requests wait, a player's move does not.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from obscuro.web.web_limits import BucketTable, TokenBucket, WebLimits, address_key

SLICE = 4096
"""So many bytes of a socket are read at once."""
READ_COST = 256
"""Each read of a socket counts as so many bytes more."""
LEAST_PROGRESS = 8192
"""A browser that reads fewer bytes in `send_seconds` is given up."""
FORWARDED = "X-Forwarded-For"
"""The one header of a proxy that is trusted; its last address is the one that the proxy saw."""

_NEVER = 24 * 3600
_FORWARDED = re.compile(rb"\r\n" + FORWARDED.encode() + rb":([^\r\n]*)", re.IGNORECASE)


class RequestTurns:
    """Calls functions that wait, one in each round of the event loop, in turns of their names."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._scheduled = False

    def join(self, name: str, go: Callable[[], None]) -> None:
        """Call a function when it is this name's turn."""
        self._waiting.setdefault(name, deque()).append(go)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        name, waiting = self._waiting.popitem(last=False)
        go = waiting.popleft()
        if waiting:
            self._waiting[name] = waiting
        self._scheduled = bool(self._waiting)
        if self._scheduled:
            self._loop.call_soon(self._next)
        go()


@dataclass(eq=False, slots=True)
class Connection:
    """One connection. key: of its address; None: of the proxy, which may have any number.

    idle_since: the second since which a whole request is awaited; None: one is worked on.
    """

    transport: asyncio.Transport
    key: str | None
    idle_since: float | None
    deadline: asyncio.TimerHandle | None = None
    stalled: asyncio.TimerHandle | None = None
    pending: bytearray = field(default_factory=bytearray)

    def cancel(self) -> None:
        """Cancel the timers."""
        for timer in (self.deadline, self.stalled):
            if timer is not None:
                timer.cancel()


class ConnectionTable:
    """All connections of a server. proxy: the address of the trusted proxy; None: there is none."""

    def __init__(self, limits: WebLimits, proxy: str | None) -> None:
        self.limits = limits
        self._proxy = None if proxy is None else address_key(proxy)
        self._loop = asyncio.get_running_loop()
        self._requests = BucketTable(limits.request_burst, limits.request_rate, self._loop.time)
        self._turns = RequestTurns(self._loop)
        self._open: dict[asyncio.Transport, Connection] = {}
        self._by_key: dict[str | None, dict[Connection, None]] = {}

    def admit(self, transport: asyncio.Transport) -> Connection | None:
        """Take note of a new connection; None: there is no place, and it is closed.

        A connection that only waits makes place: of the same address if that has its share, else of
        the address that has the most connections.
        """
        peer = transport.get_extra_info("peername")
        key: str | None = address_key(str(peer[0])) if peer else ""
        if key == self._proxy:
            key = None
        mine = self._by_key.get(key, {})
        if key is not None and len(mine) >= self.limits.address_connections:
            full = [mine]
        elif len(self._open) >= self.limits.connections:
            full = sorted(self._by_key.values(), key=len, reverse=True)
        else:
            full = []
        if full and not any(self._drop_idle(connections) for connections in full):
            transport.abort()
            return None
        connection = Connection(transport, key, self._loop.time())
        self._open[transport] = connection
        self._by_key.setdefault(key, {})[connection] = None
        self.await_request(connection)
        return connection

    def find(self, transport: asyncio.Transport) -> Connection | None:
        """Return the connection of a transport; None: it was not admitted, or has gone."""
        return self._open.get(transport)

    def forget(self, transport: asyncio.Transport) -> None:
        """Forget a connection that has gone. A second call does nothing."""
        connection = self._open.pop(transport, None)
        if connection is not None:
            connection.cancel()
            mine = self._by_key[connection.key]
            del mine[connection]
            if not mine:
                del self._by_key[connection.key]

    def _drop_idle(self, connections: dict[Connection, None]) -> bool:
        """Close the oldest connection that waits for a request, if one does."""
        for connection in connections:
            if connection.idle_since is not None and not connection.pending:
                self.forget(connection.transport)
                connection.transport.abort()
                return True
        return False

    # -- time -------------------------------------------------------------------------------

    def await_request(self, connection: Connection) -> None:
        """Close a connection if no whole request comes in time from when it became idle."""
        if connection.deadline is not None:
            connection.deadline.cancel()
        connection.deadline = None
        if connection.idle_since is not None:
            until = connection.idle_since + self.limits.request_seconds
            connection.deadline = self._loop.call_at(until, connection.transport.abort)

    def watch_writing(self, connection: Connection) -> None:
        """Close a connection whose browser does not read on."""
        transport = connection.transport
        before = transport.get_write_buffer_size()

        def look() -> None:
            if transport.get_write_buffer_size() > max(0, before - LEAST_PROGRESS):
                transport.abort()
            else:
                self.watch_writing(connection)

        connection.stalled = self._loop.call_later(self.limits.send_seconds, look)

    def stop_watching(self, connection: Connection) -> None:
        """The browser has read what waited."""
        if connection.stalled is not None:
            connection.stalled.cancel()
            connection.stalled = None

    # -- turns ------------------------------------------------------------------------------

    def wait_turn(self, connection: Connection, go: Callable[[], None]) -> None:
        """Call a function when it is the turn of the connection's address to be read."""
        if connection.deadline is not None:
            connection.deadline.cancel()  # it is we who are slow
            connection.deadline = None
        name = self._name(connection)
        new = connection.idle_since is not None
        wait = self._requests.reserve(name, 1) if new else 0.0
        if wait > 0:
            self._loop.call_later(wait, self._turns.join, name, go)
        else:
            self._turns.join(name, go)

    def _name(self, connection: Connection) -> str:
        """Return whose turn it must be: behind a proxy, what its header says."""
        if connection.key is not None:
            return connection.key
        head = bytes(connection.pending).partition(b"\r\n\r\n")[0]
        told = _FORWARDED.findall(head)
        return address_key(told[-1].rpartition(b",")[2].strip().decode("latin-1")) if told else ""


class _LimitedConfig(uvicorn.Config):
    """Has the table of connections; it is made in the server's event loop."""

    def __init__(self, app: Any, limits: WebLimits, proxy: str | None, **others: Any) -> None:
        super().__init__(app, **others)
        self._limits = limits
        self._proxy = proxy
        self._table: ConnectionTable | None = None

    @property
    def table(self) -> ConnectionTable:
        """The connections."""
        if self._table is None:
            self._table = ConnectionTable(self._limits, self._proxy)
        return self._table


def server_config(app: Any, limits: WebLimits, proxy: str | None, **others: Any) -> uvicorn.Config:
    """Return how uvicorn serves an application under these limits. others: of `uvicorn.Config`."""
    return _LimitedConfig(
        app,
        limits,
        proxy,
        http=_RequestProtocol,
        ws=_SocketProtocol,
        ws_max_size=limits.message,
        ws_per_message_deflate=False,
        proxy_headers=False,  # uvicorn would trust any proxy of this machine
        timeout_keep_alive=_NEVER,  # the table ends idle connections, and none that waits its turn
        **others,
    )


class _RequestProtocol(H11Protocol):
    """HTTP under the limits of a table."""

    config: _LimitedConfig

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._table = self.config.table
        self._table.admit(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.forget(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        connection = self._table.find(self.transport)
        if connection is None:
            return
        waits = bool(connection.pending)
        connection.pending += data
        self.transport.pause_reading()
        if not waits:
            self._table.wait_turn(connection, lambda: self._read(connection))

    def _read(self, connection: Connection) -> None:
        """Read what has come; it is this connection's turn."""
        data = bytes(connection.pending)
        connection.pending.clear()
        if self.transport.is_closing():
            return
        if not self.flow.read_paused:
            self.transport.resume_reading()
        super().data_received(data)
        busy = self.cycle is not None and not self.cycle.response_complete
        upgraded = self.transport.get_protocol() is not self
        if busy or upgraded:
            connection.idle_since = None
        self._table.await_request(connection)

    def on_response_complete(self) -> None:
        connection = self._table.find(self.transport)
        if connection is not None:
            connection.idle_since = self.loop.time()
            self._table.await_request(connection)
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        _watch(self._table, self.transport)

    def resume_writing(self) -> None:
        super().resume_writing()
        _unwatch(self._table, self.transport)


class _SocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket under the limits of a table. Who sends too much is read more slowly."""

    config: _LimitedConfig

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._table = self.config.table
        limits = self._table.limits
        self._bucket = TokenBucket(limits.socket_burst, limits.socket_rate, self.loop.time)
        self._pending = bytearray()
        self._later: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.forget(self.transport)
        if self._later is not None:
            self._later.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            super().data_received(data)  # the request, which has had its turn
            return
        self._pending += data
        if self._later is None:
            self._read()
        else:
            self.transport.pause_reading()

    def _read(self) -> None:
        """Read a part of what has come; read on when the socket may send more."""
        self._later = None
        part = bytes(self._pending[:SLICE])
        del self._pending[:SLICE]
        if part and not self.transport.is_closing():
            wait = self._bucket.reserve(len(part) + READ_COST)
            super().data_received(part)
            if wait > 0 or self._pending:
                self.transport.pause_reading()
                self._later = self.loop.call_later(wait, self._read)
                return
        if not self.read_paused:
            self.transport.resume_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        _watch(self._table, self.transport)

    def resume_writing(self) -> None:
        super().resume_writing()
        _unwatch(self._table, self.transport)


def _watch(table: ConnectionTable, transport: asyncio.Transport) -> None:
    connection = table.find(transport)
    if connection is not None:
        table.watch_writing(connection)


def _unwatch(table: ConnectionTable, transport: asyncio.Transport) -> None:
    connection = table.find(transport)
    if connection is not None:
        table.stop_watching(connection)
