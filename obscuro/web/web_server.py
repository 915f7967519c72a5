"""The web server: the application with its games and routes, its guard, and the port it is on."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import ipaddress
import logging
import re
import resource
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from obscuro.client.engine import Mover
from obscuro.client.uci_process import EngineError
from obscuro.engine.strength import LEVELS, Level, level_numbered
from obscuro.rules.stalemate import LOSS
from obscuro.signal_handlers import leaving_signals_handled
from obscuro.web.data_folder import DataFolder, StoreError
from obscuro.web.look.consultant import GameAnalyst
from obscuro.web.look.look_routes import LookRoutes
from obscuro.web.look.watched_games import WatchedGames
from obscuro.web.play.game_engines import GameEngines
from obscuro.web.play.game_lobby import GameLobby
from obscuro.web.play.game_room import GameServices
from obscuro.web.play.game_store import GameStore
from obscuro.web.play.play_routes import PlayRoutes
from obscuro.web.web_connections import FORWARDED, server_config
from obscuro.web.web_limits import UNAVAILABLE, WebError, WebLimits, address_key
from obscuro.web.web_requests import WebContext, json_response

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_SAFE = {"GET", "HEAD"}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_HOST = re.compile(r"(?:(?P<name>[A-Za-z0-9._-]+)|\[(?P<v6>[0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")
"""A name or an address and a port, and nothing else that an address of the web may have."""
_POLICY = "Content-Security-Policy"
CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For all that is not a page."""
BACKLOG = 256
RECEIVED_BYTES = 1 << 15
"""The system keeps so many bytes of a connection that we have not read."""
SWITCH_SECONDS = 0.001
"""A thread that works gives the event loop Python's lock after this."""
OTHER_FILES = 256
"""Files and pipes that are no connections."""
LEAVING_SECONDS = 3
"""A request under way may take this long once a signal has come."""

logger = logging.getLogger("obscuro.web")


def game_options(level: int | None, stalemate: str) -> Mapping[str, str]:
    """Return the engine's options for a side of a game. level: None for full strength."""
    strength = {"UCI_LimitStrength": "false"} if level is None else level_numbered(level).settings
    return {"Stalemate": stalemate, **strength}


def make_app(
    make: Callable[[], Mover],
    folder: Path,
    *,
    limits: WebLimits | None = None,
    hosts: Iterable[str] = (),
    any_address: bool = False,
    levels: Sequence[Level] = LEVELS,
    clock: Callable[[], float] = time.monotonic,
    make_analyst: Callable[[], GameAnalyst] | None = None,
    root: str = "",
    proxy: str | None = None,
) -> Starlette:
    """Return the application.

    make: makes an engine. folder: for the file of the games. hosts: names that the server goes by
    beside this machine's own. any_address: whether it goes by every address in numbers. clock:
    seconds. make_analyst: makes an engine that looks at games that are over; None: there is none.
    root: what all paths begin with, such as `/fog`; a proxy may pass it on or take it off. proxy: the
    address whose header `X-Forwarded-For` is believed. Raises StoreError, and MissingPartsError if
    files of the pages are not there.
    """
    limits = limits or WebLimits()
    data = DataFolder(folder)
    try:
        store = GameStore(folder)
        pool = GameEngines(make, limits.games)
        lobby = GameLobby(GameServices(store, pool, game_options, limits, clock))
        context = WebContext(levels, limits, clock, data.secret, root)
        watched = WatchedGames(lobby, folder, make_analyst, own=limits.looked_at)
        look = LookRoutes(context, watched)
    except BaseException:
        data.close()
        raise

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(_warm_up(pool)),
            asyncio.create_task(lobby.keep_tidy()),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            lobby.close()
            await watched.close()
            await pool.close()
            store.close()
            data.close()

    guard = Middleware(
        RequestGuard, hosts=tuple(hosts), any_address=any_address, root=root, proxy=proxy
    )
    app = Starlette(
        routes=[*look.routes(), *PlayRoutes(context, lobby, look.summaries).routes()],
        lifespan=lifespan,
        middleware=[guard],
        exception_handlers={
            WebError: _web_error,
            StoreError: _store_error,
            HTTPException: _http_error,
            Exception: _fault,
        },
    )
    app.state.context = context
    app.state.lobby = lobby
    return app


async def _warm_up(pool: GameEngines) -> None:
    """Have an engine ready before the first game; a game tells its player if that fails.

    The code of the beliefs is loaded too: later it would keep players' moves waiting.
    """
    await asyncio.to_thread(importlib.import_module, "obscuro.belief.belief")
    try:
        await pool.warm_up(game_options(None, LOSS))
    except EngineError as error:
        logger.warning("the engine does not start: %s", error)


async def _web_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebError)
    return json_response({"error": str(error)}, error.status)


async def _store_error(request: Request, error: Exception) -> Response:
    logger.error("%s", error)
    return json_response({"error": str(error)}, UNAVAILABLE)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = json_response({"error": error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _fault(request: Request, error: Exception) -> Response:
    return json_response({"error": "the server has made a mistake; its log says which"}, 500)


# -- the guard ------------------------------------------------------------------------------


class RequestGuard:
    """Checks `Host` and `Origin` before the application sees a request.

    A page of another site can make a browser send requests here. It can't choose their `Origin`.
    With a name of its own that leads to this machine it could make `Origin` and `Host` agree; so
    the name must be one of ours.

    hosts: the names that this server goes by. any_address: whether all addresses in numbers do too.
    root: put before paths that lack it. proxy: the address whose word on the client's is taken.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        any_address: bool = False,
        root: str = "",
        proxy: str | None = None,
    ) -> None:
        self._app = app
        self._root = root
        self._proxy = None if proxy is None else address_key(proxy)
        self._warned = False
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        self._set_client(scope)
        scope["root_path"] = self._root
        if not f"{scope['path']}/".startswith(f"{self._root}/"):
            scope["path"] = self._root + scope["path"]
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, _protected(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # before `accept`: HTTP 403
        else:
            answer = JSONResponse({"error": refusal}, 403)
            await answer(scope, receive, _protected(send))

    def _set_client(self, scope: Scope) -> None:
        """Put the address of the browser into a request that comes from the proxy."""
        told = Headers(scope=scope).getlist(FORWARDED)
        if not told:
            return
        peer = address_key(scope["client"][0]) if scope["client"] else ""
        if peer == self._proxy:
            scope["client"] = (told[-1].rpartition(",")[2].strip(), 0)
        elif not self._warned:
            self._warned = True
            logger.warning(
                "a proxy at %s passes requests on; without --proxy %s all its visitors share the "
                "limits of one address",
                *(peer, peer),
            )

    def _refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused; None: it is not."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return "this server does not go by that name; see --allowed-host"
        if scope["type"] == "http" and scope["method"] in _SAFE:
            return None
        if _netloc(headers.get("origin", "")) != host.lower():
            return "the request comes from another site"
        return None

    def _is_ours(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = (found["v6"] or found["name"]).lower()
        return name in self._hosts or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _netloc(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""


def _protected(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault(_POLICY, CLOSED_POLICY)
        await send(message)

    return protected


# -- the port -------------------------------------------------------------------------------


class ListenError(Exception):
    """The server can't listen there; the text is one line for the user."""


class WebService:
    """Holds the port from the start on, so that a port in use is noticed before anything else.

    port: 0 for any. Raises ListenError.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except OSError as error:
            raise ListenError(
                f"can't listen on {host}, port {port}: {error.strerror or error}; choose another "
                "--host or --port"
            ) from None

    @property
    def url(self) -> str:
        """The address for a browser on this machine."""
        port = self._socket.getsockname()[1]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def serve(
        self,
        app: ASGIApp,
        limits: WebLimits,
        on_ready: Callable[[], None],
        proxy: str | None = None,
    ) -> None:
        """Serve until SIGINT or SIGTERM. on_ready: called when the first request may come."""
        config = server_config(
            app,
            replace(limits, connections=min(limits.connections, possible_connections())),
            proxy,
            lifespan="on",
            log_config=None,
            log_level="error",  # or every request that is none makes a line
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LEAVING_SECONDS,
        )
        sys.setswitchinterval(SWITCH_SECONDS)
        with self._socket:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
            _SignalServer(config, on_ready).run(sockets=[self._socket])


def possible_connections() -> int:
    """Return how many connections the system lets us have beside our other files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WebLimits().connections + OTHER_FILES
    enough = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))
        soft = enough
    files = wanted if soft == resource.RLIM_INFINITY else soft
    return max(1, files - OTHER_FILES)


class _SignalServer(uvicorn.Server):
    """Says when it is ready. A signal is a wish to leave, and no failure."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with leaving_signals_handled(lambda number: self.handle_exit(number, None)):
            yield
