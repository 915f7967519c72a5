"""The application on a port, in a thread of the tests, with an engine that they hold in hand."""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn

from obscuro.client.engine import STARTING_ANEW, Think
from obscuro.web.web_connections import server_config
from obscuro.web.web_server import make_app
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.web.rooms import QUICK, QuickAnalyst

LIMITS = replace(QUICK, games=200, request_burst=1e9)


class EngineControl:
    """All engines of a server: each plays the first legal move, at once unless it is frozen."""

    def __init__(self) -> None:
        self._movers: list[QuickMover] = []
        self._may_move = threading.Condition()
        self._allowed = math.inf  # moves
        self._dies = False

    def make(self) -> QuickMover:
        """Return an engine."""
        self._movers.append(QuickMover(self._pick))
        return self._movers[-1]

    @contextlib.contextmanager
    def frozen(self, *, dies: bool = False) -> Iterator[None]:
        """Let no engine move for the length of the block. dies: each reports a new process."""
        self._dies = dies
        self._allowed = 0
        try:
            yield
        finally:
            self._dies = False
            self.allow(math.inf)

    def allow(self, moves: float) -> None:
        """Let frozen engines make some moves more."""
        with self._may_move:
            self._allowed += moves
            self._may_move.notify_all()

    def _pick(self, think: Think) -> str:
        if self._dies:
            for mover in self._movers:
                mover.on_warning(f"engine: Obscuro was killed by SIGKILL; {STARTING_ANEW}")
        with self._may_move:
            assert self._may_move.wait_for(lambda: self._allowed > 0, HANG_SECONDS)
            self._allowed -= 1
        return think.moves[0]


class ServedApp:
    """A server that can be stopped at once, and started again at the same address.

    engine: of all games. skipped: seconds by which the server's clock is ahead. url: without a
    slash at its end.
    """

    def __init__(self, data: Path, **others: Any) -> None:
        self.engine = EngineControl()
        self.skipped = 0.0
        self._data = data
        self._others = others
        self._port = 0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        listener = socket.create_server(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        app = make_app(
            self.engine.make,
            self._data,
            limits=LIMITS,
            clock=lambda: time.monotonic() + self.skipped,
            make_analyst=QuickAnalyst,
            **self._others,
        )
        proxy = self._others.get("proxy")
        config = server_config(app, LIMITS, proxy, lifespan="on", log_config=None, access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],))
        self._thread.start()

    def stop(self) -> None:
        """End it without waiting for its browsers."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(HANG_SECONDS)
        assert not self._thread.is_alive()


@contextlib.contextmanager
def served_app(data: Path, **others: Any) -> Iterator[ServedApp]:
    """Run a server for the length of the block. others: of `make_app`."""
    server = ServedApp(data, **others)
    try:
        yield server
    finally:
        server.stop()
