"""Lets people play on the web server while most of its connections are hostile.

    python -m tools.proofs.web_attack --people 100 --hostile 1900 --addresses 190 --seconds 120

People play first without hostile connections, then with them. Connections are real sockets on this
machine; each person has an address of its own, and the hostile ones share `--addresses` others. The
hostile connections are of seven kinds: idle ones; slow ones, that send a letter a second; those that
create games, press Rematch, ask for documents, send files, or flood the socket of a game. Each goes
on at once when the server has answered, and comes back when it was closed. Their processes have the
a lower priority: real attackers have machines of their own.

It measures the time from a person's move sent until the server's state with that move is there. The
engine's answer is measured apart. The server is the real one, but its engines are random movers in
its process, so engines do not decide the figures. At the end each person compares all games with the
moves that were confirmed. Exits with 1 if a game or a move is missing, or if a person could not play.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import connect

from obscuro.web.web_requests import COOKIE
from tools.common import given, publish, say, table, tool_parser
from tools.proofs.web_people import FAILURES, PATIENCE, Person, ServerUnderTest, playing

THINKS = (1.0, 3.0)
"""Seconds that a person thinks about a move."""
SETTLE_SECONDS = 15.0
"""Until everybody plays, and until the hostile connections are there."""
AGAIN_SECONDS = 0.25
"""A hostile connection that was closed comes back after this: the attackers need the same cores."""
ATTACKERS = 2
"""Processes that the hostile connections are in."""
MOST_MEDIAN, MOST_LATE = 0.2, 1.0
"""Seconds; what the server should keep to."""
FILE = "\n".join(
    f'[White "a"]\n[Black "b"]\n[Result "*"]\n\n{"1. Nf3 Nf6 2. Ng1 Ng8 " * 100}*\n'
    for _ in range(50)
)


# -- hostile connections ----------------------------------------------------------------------


class Hostile:
    """One hostile connection. done: counts what the server answered, by kind."""

    def __init__(self, url: str, address: str, done: Counter[str]) -> None:
        self._url = url
        self._port = urlsplit(url).port
        self._address = address
        self._done = done
        self._cookie = ""

    async def attack(self, kind: str) -> None:
        """Do it again and again."""
        work: Callable[[], Awaitable[None]] = getattr(self, f"be_{kind}")
        while True:
            try:
                await work()
            except FAILURES as error:
                self._done[f"{kind}: {type(error).__name__}"] += 1
            await asyncio.sleep(AGAIN_SECONDS)

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(self._address, 0), limit=1 << 22
        )

    async def be_idle(self) -> None:
        """Open a connection and say nothing."""
        reader, writer = await self._opened()
        with contextlib.closing(writer):
            await reader.read()
            self._done["idle: closed by the server"] += 1

    async def be_slow(self) -> None:
        """Send a request, a letter a second."""
        reader, writer = await self._opened()
        with contextlib.closing(writer):
            for letter in b"GET / HTTP/1.1\r\nX: " + b"a" * 1000:
                writer.write(bytes([letter]))
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(reader.read(1), 1.0)
                    break
            self._done["slow: closed by the server"] += 1

    async def be_creations(self) -> None:
        """Create games, one after the other."""
        await self._repeat("creations", lambda: ("POST", "/api/games", b"{}"))

    async def be_documents(self) -> None:
        """Ask for the document and the PGN of a long game, one after the other."""
        game = ""
        with contextlib.suppress(KeyError, IndexError):
            status, body = await self._once("POST", "/api/files", FILE[:4000].encode())
            self._done[f"documents: {status}"] += 1
            game = json.loads(body)["games"][0]["game"]
        paths = iter(["document", "pgn"] * 1000)
        await self._repeat("documents", lambda: ("GET", f"/api/games/{game}/{next(paths)}", b""))

    async def be_uploads(self) -> None:
        """Send files, one after the other."""
        await self._repeat("uploads", lambda: ("POST", "/api/files", FILE.encode()))

    async def be_rematches(self) -> None:
        """Resign, press Rematch, go to the new game, and so on."""
        game = await self._new_game()
        while game:
            async with self._socket(game) as board:
                for wish in ("abort", "rematch"):
                    await board.send(json.dumps({"type": wish}))
                game = ""
                async for text in board:
                    message = json.loads(text)
                    if message["type"] == "error":
                        self._done["rematches: refused"] += 1
                        await board.send(json.dumps({"type": "rematch"}))
                    elif message["result"] and message["result"]["rematch"]:
                        self._done["rematches: done"] += 1
                        game = message["result"]["rematch"]
                        break

    async def be_floods(self) -> None:
        """Send pings and messages that make no sense to a game."""
        game = await self._new_game()
        async with self._socket(game) as board:
            while True:
                for _ in range(20):
                    await board.send("x" * 200)
                    self._done["floods: messages"] += 1
                await (await board.ping())  # as fast as the server reads

    async def _repeat(self, kind: str, request: Callable[[], tuple[str, str, bytes]]) -> None:
        """Send requests over one connection, until the server closes it."""
        reader, writer = await self._opened()
        with contextlib.closing(writer):
            while True:
                status, _ = await self._asked(reader, writer, *request())
                self._done[f"{kind}: {status}"] += 1

    async def _once(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        reader, writer = await self._opened()
        with contextlib.closing(writer):
            return await self._asked(reader, writer, method, path, body)

    async def _asked(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        body: bytes,
    ) -> tuple[int, bytes]:
        """Send a request over an open connection; return the status and the body."""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nOrigin: {self._url}\r\n"
            f"Cookie: {COOKIE}={self._cookie}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await asyncio.wait_for(writer.drain(), PATIENCE)
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        first, *lines = answer.decode("latin-1").split("\r\n")
        fields = {
            name.lower(): value for name, _, value in (each.partition(": ") for each in lines)
        }
        if "set-cookie" in fields:
            self._cookie = fields["set-cookie"].partition(";")[0].partition("=")[2]
        length = int(fields.get("content-length", 0))
        content = await asyncio.wait_for(reader.readexactly(length), PATIENCE)
        return int(first.split()[1]), content

    async def _new_game(self) -> str:
        status, body = await self._once("POST", "/api/games", b"{}")
        self._done[f"games to attack: {status}"] += 1
        if status != 201:
            raise OSError("no game")
        return str(json.loads(body)["game"])

    def _socket(self, game: str) -> connect:
        origin: Any = self._url
        return connect(
            f"ws://127.0.0.1:{self._port}/ws/play/{game}",
            origin=origin,
            additional_headers={"Cookie": f"{COOKIE}={self._cookie}"},
            local_addr=(self._address, 0),
            open_timeout=PATIENCE,
            proxy=None,
        )


KINDS = ("idle", "slow", "creations", "rematches", "documents", "uploads", "floods")
SHARES = (6, 4, 2, 2, 2, 1, 2)
"""How many connections of 19 are of each kind."""


def hostile_address(number: int) -> str:
    """Return the address of this number."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


async def attack(url: str, first: int, count: int, addresses: int, seconds: float) -> None:
    """Make the hostile connections from number `first` on; print what the server answered."""
    done: Counter[str] = Counter()
    kinds = [kind for kind, share in zip(KINDS, SHARES, strict=True) for _ in range(share)]
    tasks = []
    for number in range(first, first + count):
        one = Hostile(url, hostile_address(number % addresses), done)
        kind = random.Random(number).choice(kinds)  # each address has connections of many kinds
        tasks.append(asyncio.create_task(one.attack(kind)))
        if number % 20 == 0:
            await asyncio.sleep(0.05)
    await asyncio.sleep(seconds)
    print(json.dumps(dict(sorted(done.items()))), flush=True)
    os._exit(0)  # the system closes the connections, as at the end of any attacker


# -- the measurement --------------------------------------------------------------------------


def start_attackers(url: str, hostile: int, addresses: int, seconds: float) -> list[Any]:
    """Start the processes with the hostile connections."""
    share = hostile // ATTACKERS
    program = ["nice", "-n", "15", sys.executable, "-m", "tools.proofs.web_attack"]
    shared = ["--hostile", share, "--addresses", addresses, "--seconds", seconds]
    return [
        subprocess.Popen(
            [*program, "--attack", url, "--first", str(i * share), *map(str, shared)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(ATTACKERS)
    ]


async def watch(
    server: ServerUnderTest, seconds: float, people: Sequence[Person]
) -> dict[str, Any]:
    """Measure for a time; return the figures of it."""
    for person in people:
        person.waits.clear()
        person.answers.clear()
        person.faults.clear()
        person.measured = True
    begin, cpu, most = time.monotonic(), server.cpu(), 0.0
    while time.monotonic() < begin + seconds:
        await asyncio.sleep(0.5)
        most = max(most, server.mebibytes())
    for person in people:
        person.measured = False
    taken = time.monotonic() - begin
    return {
        "waits": [round(1000 * each, 1) for person in people for each in person.waits],
        "answers": [round(1000 * each, 1) for person in people for each in person.answers],
        "faults": dict(sum((person.faults for person in people), Counter())),
        "idle_people": sum(not person.waits for person in people),
        "mebibytes": most,
        "core": (server.cpu() - cpu) / taken,
        "load": os.getloadavg()[0],
    }


async def measure(people: int, hostile: int, addresses: int, seconds: float) -> dict[str, Any]:
    """Return the figures of one run: milliseconds, MiB."""
    with tempfile.TemporaryDirectory() as folder:
        server = ServerUnderTest(Path(folder) / "data", games=people + 20)
        players = [
            Person(server.url, f"127.2.{i // 250}.{i % 250 + 1}", i, THINKS) for i in range(people)
        ]
        load = os.getloadavg()[0]
        try:
            async with playing(players):
                await asyncio.sleep(SETTLE_SECONDS)
                say("without hostile connections")
                quiet = await watch(server, seconds / 4, players)
                attackers = start_attackers(
                    server.url, hostile, addresses, seconds + SETTLE_SECONDS
                )
                await asyncio.sleep(SETTLE_SECONDS)
                say("with hostile connections")
                attacked = await watch(server, seconds, players)
            ended = [await asyncio.to_thread(each.communicate) for each in attackers]
            say("looking for lost moves")
            await asyncio.gather(*(player.check() for player in players))
            after = server.mebibytes()
        finally:
            server.kill()
    answers: Counter[str] = Counter()
    for text, _ in ended:
        answers.update(json.loads(text))
    return {
        "people": people,
        "hostile": hostile,
        "addresses": addresses,
        "load_before": load,
        "quiet": quiet,
        "attacked": attacked,
        "after": after,
        "games": sum(len(player.confirmed) for player in players),
        "moves": sum(len(moves) for player in players for moves in player.confirmed.values()),
        "lost": [text for player in players for text in player.lost],
        "hostile_answers": dict(answers),
    }


def late(values: Sequence[float]) -> float:
    """Return the 99th percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] if ordered else float("nan")


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the tables: a row for each run, and what the hostile connections got in the last one."""
    rows = []
    for number, run in enumerate(figures["runs"], 1):
        for name, label in (
            ("quiet", "people only"),
            ("attacked", f"and {run['hostile']} hostile"),
        ):
            part = run[name]
            waits = part["waits"]
            rows.append(
                [
                    number,
                    f"{run['people']} {label}",
                    len(waits),
                    f"{statistics.median(waits):.0f}" if waits else "-",
                    f"{late(waits):.0f}",
                    f"{max(waits, default=0):.0f}",
                    f"{statistics.median(part['answers'] or [0]):.0f}",
                    sum(part["faults"].values()),
                    f"{part['mebibytes']:.0f}",
                    f"{part['core']:.0%}",
                    f"{part['load']:.0f}",
                ]
            )
    headings = ["run", "connections", "moves", "median, ms", "99 %, ms", "most, ms", "answer, ms"]
    yield from table([*headings, "broken", "MiB", "core", "load"], rows, "rlrrrrrrrrr")
    yield ""
    yield from table(
        ["run", "games of people", "confirmed moves", "lost", "people without a move"],
        [
            [i, run["games"], run["moves"], len(run["lost"]), run["attacked"]["idle_people"]]
            for i, run in enumerate(figures["runs"], 1)
        ],
        "rrrrr",
    )
    yield ""
    answers = figures["runs"][-1]["hostile_answers"]
    yield from table(
        ["what the hostile connections got in the last run", "times"], answers.items(), "lr"
    )


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.web_attack", __doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--hostile", type=int, default=1900)
    parser.add_argument("--addresses", type=int, default=190, help="of the hostile connections")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--attack", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    random.seed()
    if told.attack:
        asyncio.run(attack(told.attack, told.first, told.hostile, told.addresses, told.seconds))
        return 0
    runs = [
        asyncio.run(measure(told.people, told.hostile, told.addresses, told.seconds))
        for _ in range(told.runs)
    ]
    publish(parser, words, told.raw, {"runs": runs}, render)
    return 1 if any(run["lost"] or run["attacked"]["idle_people"] for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
