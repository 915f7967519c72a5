"""What the tests of the web server share: quick engines, an application, and a player."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession

from obscuro.client.engine import Think
from obscuro.web.web_app import make_app
from obscuro.web.web_limits import WebLimits
from tests.bots.movers import QuickMover

ORIGIN = "http://localhost"
QUICK = replace(
    WebLimits(),
    pause=0.0,
    post_burst=1e9,
    created_burst=1e9,
    message_burst=1e9,
)
"""Limits under which tests can hurry."""


def scripted(moves: list[str]) -> Callable[[Think], str]:
    """Return what plays these moves in their order, from the first on."""
    left = list(moves)
    return lambda think: left.pop(0) if left else think.moves[0]


def quick_app(
    folder: Path,
    mover: Callable[[], QuickMover] = QuickMover,
    *,
    limits: WebLimits = QUICK,
    **others: Any,
) -> Starlette:
    """Return the application with quick engines."""
    return make_app(mover, folder, limits=limits, **others)


@contextlib.contextmanager
def browser(app: Starlette) -> Iterator[TestClient]:
    """Serve the application, to one visitor."""
    with TestClient(app, base_url=ORIGIN, headers={"origin": ORIGIN}) as client:
        yield client


def start_game(client: TestClient, **wish: Any) -> str:
    """Start a game and return its id."""
    response = client.post("/api/games", json=wish)
    assert response.status_code == 201, response.text
    return str(response.json()["game"])


def until(socket: WebSocketTestSession, is_due: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the first message that is due; errors before it fail the test."""
    while True:
        message: dict[str, Any] = socket.receive_json()
        if is_due(message):
            return message
        assert message["type"] == "state", message


def my_turn(message: dict[str, Any]) -> bool:
    """Tell whether the player is to move, and the engine is ready."""
    return message["type"] == "state" and (
        message["status"] == "over"
        or (message["status"] == "playing" and message["turn"] == message["you"])
    )


def is_over(message: dict[str, Any]) -> bool:
    return message["type"] == "state" and message["status"] == "over"


def is_error(message: dict[str, Any]) -> bool:
    return message["type"] == "error"


def move(state: dict[str, Any], uci: str) -> dict[str, Any]:
    """Return the message of a move."""
    return {"type": "move", "uci": uci, "ply": state["ply"]}


def join(client: TestClient, game: str, **headers: str) -> WebSocketTestSession:
    """Return the socket of a game, for a `with` statement."""
    return client.websocket_connect(f"ws://localhost/ws/play/{game}", headers=headers)
