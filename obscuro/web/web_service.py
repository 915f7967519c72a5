"""Serves the application on a port until a signal ends it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from obscuro.signal_handlers import leaving_signals_handled
from obscuro.web.web_limits import WebLimits

BACKLOG = 128
LEAVING_SECONDS = 3
"""So long a request that is under way may take once a signal has come."""


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

    def serve(self, app: ASGIApp, limits: WebLimits, on_ready: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM. on_ready: called when the first request may come."""
        config = uvicorn.Config(
            app,
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="websockets-sansio",
            ws_max_size=limits.message,
            ws_per_message_deflate=False,
            limit_concurrency=2 * limits.sockets,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LEAVING_SECONDS,
        )
        with self._socket:
            _SignalServer(config, on_ready).run(sockets=[self._socket])


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
