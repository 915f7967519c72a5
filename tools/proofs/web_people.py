"""What the proofs of the web server share: the server as a process, and people who play on it.

The server is the real one, with all its limits, but its engines are random movers in its own process:
these proofs are about the server, and a hundred engines would not fit into this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import psutil
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from obscuro.client.engine import PlayResult, Think
from obscuro.machine import MEBIBYTE
from obscuro.web.web_limits import WebLimits
from obscuro.web.web_requests import COOKIE
from obscuro.web.web_server import WebService, make_app

PATIENCE = 60.0
"""Seconds; a person gives up a connection that says nothing for so long."""
_STARTER = """
import sys
from pathlib import Path
from tools.proofs.web_people import serve
serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""
FAILURES = (OSError, WebSocketException, httpx.HTTPError, EOFError, asyncio.TimeoutError)


class RandomMover:
    """An engine of the server under test: it makes any legal move at once."""

    def __init__(self) -> None:
        self.on_warning: Callable[[str], None] = lambda text: None

    def configure(self, options: Mapping[str, str]) -> None:
        """Take no notice."""

    def prepare(self) -> None:
        """Be ready."""

    def choose(self, game: str, think: Think, cancel: threading.Event) -> PlayResult:
        """Choose any move."""
        return PlayResult(random.choice(think.moves))

    def stop(self) -> None:
        """Do nothing: no search takes long."""

    def watch(self, game: str, position: str) -> None:
        """Take no notice."""

    def close(self) -> None:
        """Have nothing to release."""


def serve(folder: Path, port: int, games: int) -> None:
    """Run the server under test until a signal ends it; print its address when it is ready."""
    limits = WebLimits(games=games)
    service = WebService("127.0.0.1", port)
    app = make_app(RandomMover, folder, limits=limits)
    service.serve(app, limits, lambda: print(service.url, flush=True))


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class ServerUnderTest:
    """The server as a process at one port; it may be killed and started again."""

    def __init__(self, folder: Path, games: int) -> None:
        self._folder = folder
        self._games = games
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        words = [str(self._folder), str(self.port), str(self._games)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _STARTER, *words],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("http"):
            raise OSError("the server does not start")

    def kill(self) -> None:
        """End it as a crash would, and wait until it is gone."""
        self.process.kill()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def mebibytes(self) -> float:
        """Return the memory of the process."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / MEBIBYTE

    def cpu(self) -> float:
        """Return the seconds of a core that the process has used."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


class Person:
    """Somebody who plays games one after the other, and remembers each move that was confirmed.

    address: on this machine, from which all connections come. thinks: seconds for a move, from and
    to. waits: seconds from a move sent until the server's state has it. answers: seconds from there
    until the person is to move again. lost: confirmed moves that the server did not have later.
    """

    def __init__(self, url: str, address: str, seed: int, thinks: tuple[float, float]) -> None:
        self._url = url
        self._address = address
        self._random = random.Random(seed)
        self._thinks = thinks
        self._cookie = ""
        self.measured = False
        self.waits: list[float] = []
        self.answers: list[float] = []
        self.confirmed: dict[str, list[str]] = {}  # own moves by game
        self.faults: Counter[str] = Counter()
        self.lost: list[str] = []

    async def play(self) -> None:
        """Play until cancelled; after a lost connection go on where the game stands."""
        game: str | None = None
        while True:
            try:
                game = game or await self._create()
                async with self._socket(game) as board:
                    await self._play_on(board, game)
                game = None
            except FAILURES as error:
                self.faults[type(error).__name__] += 1
                await asyncio.sleep(0.5 + self._random.random())

    async def check(self) -> None:
        """Look at all games once more, for moves that have got lost."""
        for game, moves in self.confirmed.items():
            for _ in range(20):
                try:
                    async with self._socket(game) as board:
                        state = await _state(board)
                    self._compare(game, moves, state)
                    break
                except FAILURES:
                    await asyncio.sleep(1.0)
            else:
                self.lost.append(f"game {game} is not there")

    def _compare(self, game: str, moves: list[str], state: dict[str, Any]) -> None:
        there = [move["uci"] for move in state["sheet"] if move["mover"] == state["you"]]
        if there[: len(moves)] != moves:
            self.lost.append(f"game {game}: {moves} were confirmed, {there} are there")
        else:
            moves[:] = there  # a move may be there whose confirmation did not arrive

    async def _create(self) -> str:
        transport = httpx.AsyncHTTPTransport(local_address=self._address)
        async with httpx.AsyncClient(transport=transport, timeout=PATIENCE) as client:
            answer = await client.post(
                f"{self._url}/api/games",
                json={"color": "random", "level": 1, "time": {"move": 0.05}},
                headers={"Origin": self._url, "Cookie": f"{COOKIE}={self._cookie}"},
            )
        if answer.status_code != httpx.codes.CREATED:
            raise httpx.HTTPError(f"status {answer.status_code}")
        self._cookie = answer.cookies.get(COOKIE) or self._cookie
        game = str(answer.json()["game"])
        self.confirmed[game] = []
        return game

    def _socket(self, game: str) -> connect:
        origin: Any = self._url
        return connect(
            f"{self._url.replace('http', 'ws', 1)}/ws/play/{game}",
            origin=origin,
            additional_headers={"Cookie": f"{COOKIE}={self._cookie}"},
            local_addr=(self._address, 0),
            open_timeout=PATIENCE,
            proxy=None,
        )

    async def _play_on(self, board: ClientConnection, game: str) -> None:
        """Play a game to its end."""
        moves = self.confirmed[game]
        state = await _state(board)
        self._compare(game, moves, state)
        while state["status"] != "over":
            if state["turn"] != state["you"]:
                begin = time.perf_counter()
                while state["turn"] != state["you"] and state["status"] != "over":
                    state = await _state(board)
                if self.measured:
                    self.answers.append(time.perf_counter() - begin)
                continue
            await asyncio.sleep(self._random.uniform(*self._thinks))
            uci, ply = self._random.choice(state["moves"]), state["ply"]
            begin = time.perf_counter()
            await board.send(json.dumps({"type": "move", "uci": uci, "ply": ply}))
            while state["ply"] <= ply:
                state = await _state(board)
            if self.measured:
                self.waits.append(time.perf_counter() - begin)
            moves.append(uci)


async def _state(board: ClientConnection) -> dict[str, Any]:
    """Return the next state of a game. Raises OSError if the server says something else."""
    async with asyncio.timeout(PATIENCE):
        message: dict[str, Any] = json.loads(await board.recv())
    if message["type"] != "state":
        raise OSError(message["error"])
    return message


@contextlib.asynccontextmanager
async def playing(people: list[Person]) -> Any:
    """Let people play for the length of the block."""
    tasks = [asyncio.create_task(person.play()) for person in people]
    try:
        yield
    finally:
        pending = set(tasks)
        while pending:  # one that is about to get a message may miss that it is cancelled
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=1.0)
    for task in tasks:
        if not task.cancelled():
            task.result()
