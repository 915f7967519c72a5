"""The web server as a process of its own, with scripted engines, and a player for it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from tests.hanging import HANG_SECONDS

STARTER = """
import sys
from pathlib import Path
from obscuro.client.engine import Engine
from obscuro.web.web_server import make_app
from obscuro.web.web_limits import WebLimits
from obscuro.web.web_server import WebService
folder, *engine = sys.argv[1:]
limits = WebLimits(pause=0.0)
service = WebService("127.0.0.1", 0)
app = make_app(lambda: Engine(engine), Path(folder), limits=limits)
service.serve(app, limits, lambda: print(service.url, flush=True))
"""
FOG_ENGINE = Path(__file__).parents[1] / "bots" / "fog_engine.py"


def scripted_engine(folder: Path, *modes: str) -> list[str]:
    """Return the command of an engine that misbehaves so, a process for each word, then is good."""
    script = folder / "modes"
    script.write_text("\n".join(modes))
    return [sys.executable, str(FOG_ENGINE), str(script)]


class ServerProcess:
    """A server. url: where it answers."""

    def __init__(self, folder: Path, engine: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", STARTER, str(folder), *engine],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip().rstrip("/")
        assert self.url.startswith("http://127.0.0.1:")

    def end(self) -> int:
        """Kill the server at once, if it is there; return its exit code."""
        self.process.kill()
        code = self.process.wait(HANG_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@contextlib.contextmanager
def server_process(folder: Path, engine: list[str]) -> Iterator[ServerProcess]:
    """Run a server within this context."""
    server = ServerProcess(folder, engine)
    try:
        yield server
    finally:
        server.end()


class WebPlayer:
    """A visitor of a server, who keeps the cookie when the server is another one."""

    def __init__(self) -> None:
        self.cookies: dict[str, str] = {}

    def start(self, url: str, **wish: Any) -> str:
        """Start a game and return its id."""
        response = httpx.post(
            f"{url}/api/games", json=wish, headers={"Origin": url}, cookies=self.cookies
        )
        assert response.status_code == 201, response.text
        self.cookies |= dict(response.cookies)
        return str(response.json()["game"])

    def join(self, url: str, game: str) -> ClientConnection:
        """Return the socket of a game, for a `with` statement."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return connect(
            f"{url.replace('http', 'ws', 1)}/ws/play/{game}",
            origin=url,  # type: ignore[arg-type]
            additional_headers={"Cookie": cookie},
        )


def my_turn_at(socket: ClientConnection, ply: int) -> dict[str, Any]:
    """Return the state in which the player is to move after so many plies."""
    while True:
        state: dict[str, Any] = json.loads(socket.recv(HANG_SECONDS))
        assert state["type"] == "state", state
        assert "does not start" not in (state["note"] or "")
        ready = state["status"] == "playing" and state["turn"] == state["you"]
        if ready and state["ply"] == ply:
            return state


def send_move(socket: ClientConnection, state: dict[str, Any], uci: str) -> None:
    """Make a move."""
    socket.send(json.dumps({"type": "move", "uci": uci, "ply": state["ply"]}))
