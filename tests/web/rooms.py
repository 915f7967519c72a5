"""What the tests of the web server share: quick engines, an application, and a player."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import chess.pgn
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession

from obscuro.client.engine import Think
from obscuro.viewer.analysis import AnalysisError
from obscuro.viewer.document import ShownAdvice, ShownAnalysis
from obscuro.web.web_limits import WebLimits
from obscuro.web.web_server import make_app
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.viewer.recorded import ADVICE

Result = TypeVar("Result")

ORIGIN = "http://localhost"
QUICK = replace(
    WebLimits(),
    pause=0.0,
    post_burst=1e9,
    created_burst=1e9,
    file_burst=1e9,
    look_burst=1e9,
    message_burst=1e9,
)
"""Limits under which tests can hurry."""


def run_alone(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: Playwright keeps a loop in the tests' thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


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


class QuickAnalyst:
    """Gives the same advice everywhere. hold: it waits with each answer until `go_on` is set."""

    def __init__(self, hold: bool = False, fails: bool = False) -> None:
        self.asked: list[int] = []
        self.closed = 0
        self.go_on = threading.Event()
        self._fails = fails
        if not hold:
            self.go_on.set()

    @property
    def description(self) -> ShownAnalysis:
        return ShownAnalysis(by="Quick", limit="1 s a move")

    def advise(self, game: chess.pgn.Game, ply: int) -> ShownAdvice:
        plies = self._think(game)
        if ply > plies:
            raise AnalysisError(f"the game has {plies} plies, and no ply {ply}")
        self.asked.append(ply)
        return ADVICE

    def analyse(
        self,
        game: chess.pgn.Game,
        on_ply: Callable[[int, ShownAdvice | None], None],
        cancel: threading.Event,
    ) -> list[ShownAdvice | None]:
        plies = self._think(game)
        for ply in range(plies):
            on_ply(ply, ADVICE)
        return [ADVICE] * plies

    def explain(
        self,
        game: chess.pgn.Game,
        advice: Sequence[ShownAdvice | None],
        turns: Collection[int],
        *,
        cancel: threading.Event,
    ) -> list[ShownAdvice | None]:
        """Leave the advice as it is but for its reasons, which it has already."""
        return list(advice)

    def close(self) -> None:
        self.closed += 1
        self.go_on.set()

    def _think(self, game: chess.pgn.Game) -> int:
        """Wait, and return how many plies the game has."""
        assert self.go_on.wait(HANG_SECONDS)
        if self._fails:
            raise AnalysisError("can't start the engine")
        return sum(1 for _ in game.mainline())
