"""The bridge against a server that does all that a server should not do, over real HTTP.

Time is faked: it goes on while the client waits, and while the server lets a stream live.
"""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import chess
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obscuro.bots.bot import Bridge
from obscuro.bots.bot_client import ApiError, BotClient, Patience
from obscuro.bots.bot_settings import GameSettings, Policy
from obscuro.bots.events import parse_event, parse_game_event
from obscuro.client.engine_pool import MoverPool
from tests.bots.fake_time import FakeTime
from tests.bots.movers import QuickMover
from tests.bots.server import BOT, TOKEN, Cut, Fault, line, serving
from tests.hanging import HANG_SECONDS

NOBODY = threading.Event()
HUGE = "9" * 400
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


FULL = {
    "type": "gameFull",
    "id": "game0001",
    "variant": {"name": "fogofwar"},
    "white": {"name": BOT},
    "black": {"name": "Guest"},
    "initialFen": chess.STARTING_FEN,
    "state": {"type": "gameState", "moves": "e2e4 e7e5", "wtime": 60000, "btime": 60000},
}
CHALLENGE = {
    "type": "challenge",
    "challenge": {
        "id": "game0001",
        "challenger": {"name": "Gäst"},
        "variant": {"key": "fogofwar"},
        "timeControl": {"type": "clock", "limit": 60, "increment": 2},
    },
}
GOOD = HEAD + chunk(line(CHALLENGE)) + chunk(b"\n") + chunk(line(FULL)) + chunk(b"")


class RawServer:
    """Answers each connection with the next bytes, whatever was asked, and closes it."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.answer = b""
        self.reply: Callable[[], bytes] = lambda: self.answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection, suppress(OSError):
                    while b"\r\n\r\n" not in connection.recv(1 << 16):
                        pass
                    connection.sendall(self.reply())
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):
                        pass

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def raw() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


@contextmanager
def asking(server: RawServer, time: FakeTime) -> Iterator[BotClient]:
    """Yield a client of the server; its pauses take no time."""
    client = BotClient(
        server.url, TOKEN, patience=Patience(answer=5.0), wait=time.wait, clock=time.clock
    )
    try:
        yield client
    finally:
        client.close()


def hear(client: BotClient) -> list[dict[str, Any] | None]:
    """Return what a stream says before it ends or breaks, also while it is opened."""
    heard: list[dict[str, Any] | None] = []
    with suppress(ApiError):
        for message in client.events(NOBODY):
            heard.append(message)
            if message is not None:
                parse_event(message, BOT)
                parse_game_event(message)
    return heard


def check_cut(server: RawServer, at: int) -> None:
    """Break the connection after so many bytes: whole lines are heard, and no error is another's."""
    server.answer = GOOD[:at]
    with asking(server, FakeTime()) as client:
        heard = hear(client)
        assert heard == [CHALLENGE, None, FULL][: len(heard)]
        with suppress(ApiError):
            client.accept("game0001", NOBODY)
        with suppress(ApiError):
            client.move("game0001", "e2e4", NOBODY)


CUTS = sorted({*range(0, len(GOOD), 37), len(GOOD) - 1, len(GOOD)})


@pytest.mark.parametrize("at", CUTS)
def test_a_connection_may_break_anywhere(raw: RawServer, at: int) -> None:
    check_cut(raw, at)


@pytest.mark.slow
def test_a_connection_may_break_at_every_byte(raw: RawServer) -> None:
    for at in range(len(GOOD) + 1):
        check_cut(raw, at)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=4))
def test_any_bytes_may_come_in_place_of_others(raw: RawServer, at: int, other: bytes) -> None:
    raw.answer = GOOD[:at] + other + GOOD[at + len(other) :]
    with asking(raw, FakeTime()) as client:
        hear(client)
        with suppress(ApiError):
            client.account(NOBODY)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\r\n\r\n",
        b"<html>502</html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + HUGE.encode() + b"\r\n\r\n{}",
        b"HTTP/1.1 " + HUGE.encode() + b" OK\r\n\r\n",
        b"HTTP/1.1 429 No\r\nRetry-After: " + HUGE.encode() + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 20_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 2_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        HEAD + chunk(b"[" * 100_000 + b"\n") + chunk(b""),
        HEAD + chunk(b'{"type": "challenge", "challenge": ' + HUGE.encode() * 20 + b"}\n"),
        HEAD + b"ffffffffffffffffffff\r\n",
        HEAD + chunk(b"x" * 3_000_000),
        HEAD + chunk("\ud800".encode("utf-8", "surrogatepass") + b"\n") + chunk(b""),
    ],
    ids=range(15),
)
def test_what_is_no_answer_is_an_error_of_ours(raw: RawServer, answer: bytes) -> None:
    raw.answer = answer
    with asking(raw, FakeTime()) as client:
        hear(client)
        for ask in (client.account, lambda cancel: client.decline("a", "later", cancel)):
            with suppress(ApiError):
                ask(NOBODY)


# -- when it asks ---------------------------------------------------------------------------------


@dataclass
class Script:
    """What becomes of the next requests: a status, and seconds that go by before the answer ends.

    asked: when each request came. too_early: those that came before a 429 allowed it.
    """

    time: FakeTime
    steps: list[tuple[int, float]]
    enough: int
    done: threading.Event
    asked: list[float] = field(default_factory=list)
    too_early: list[float] = field(default_factory=list)
    silent_until: float = 0.0

    def answer(self) -> bytes:
        """Answer a request; the one before the last says that it is enough."""
        status, seconds = self.steps[len(self.asked) % len(self.steps)]
        now = self.time.clock()
        self.asked.append(now)
        if now < self.silent_until:
            self.too_early.append(now)
        if len(self.asked) >= self.enough:
            self.done.set()
        if status == 429:
            retry = max(1, round(seconds))
            self.silent_until = now + retry - 1e-6
            return b"HTTP/1.1 429 No\r\nRetry-After: %d\r\nContent-Length: 0\r\n\r\n" % retry
        self.time.pass_by(seconds)
        if status == 200:
            return HEAD + chunk(b'{"type": "ping"}\n') + chunk(b"")
        return b"HTTP/1.1 %d No\r\nContent-Length: 6\r\n\r\n<html>" % status


STEPS = st.lists(
    st.tuples(
        st.sampled_from([200, 200, 200, 429, 500, 502, 408]),
        st.sampled_from([0.0, 0.1, 1.0, 9.0, 10.0, 60.0, 700.0]),
    ),
    min_size=1,
    max_size=6,
)
OPENS = 25


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS)
def test_no_stream_is_opened_too_soon(raw: RawServer, steps: list[tuple[int, float]]) -> None:
    time, done = FakeTime(), threading.Event()
    script = Script(time, steps, OPENS, done)
    raw.reply = script.answer
    with asking(raw, time) as client:
        pool = MoverPool(QuickMover)
        bridge = Bridge(BOT, client, pool, Policy(), GameSettings())
        bridge._cancel = done
        bridge._read()
    assert len(script.asked) == OPENS and not script.too_early
    gaps = [later - earlier for earlier, later in pairwise(script.asked)]
    assert min(gaps) >= 0.5
    if all(seconds < 10.0 for _, seconds in steps):  # then every stream has failed
        assert min(gaps[7:]) >= 20.0


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS.filter(lambda steps: any(status != 429 for status, _ in steps)))
def test_no_move_is_sent_before_its_time(raw: RawServer, steps: list[tuple[int, float]]) -> None:
    time, done = FakeTime(), threading.Event()
    script = Script(time, steps, 1000, done)
    raw.reply = script.answer
    with asking(raw, time) as client:
        for _ in range(10):
            with suppress(ApiError):
                client.move("game0001", "e2e4", NOBODY)
    assert script.asked and not script.too_early


# -- a bridge that lives through it -----------------------------------------------------------------


OTHERS = [
    {"type": "gameStart", "game": {"id": "another1", "variant": {"key": "fogofwar"}}},
    {"type": "gameStart", "game": {"id": "../../a"}},
    {"type": "gameEnd", "game": {"id": "another1"}},
    {"type": "challenge", "challenge": {"id": "another2", "destUser": {"name": "Another"}}},
    {"type": "challengeCanceled", "challenge": {"id": "another2"}},
    {"type": "challenge", "challenge": None},
    {"type": ["challenge"]},
    {"type": "challenge", "challenge": {"id": "c", "timeControl": {"limit": float("nan")}}},
    {"type": "chatLine", "text": "x" * 10_000},
]
FAULTS = [
    Fault(status=429, headers={"Retry-After": "30"}),
    Fault(status=500, body="<html>no</html>"),
    Fault(status=502),
    Fault(drop=True),
    Fault(lost=True),
    Fault(status=200, body="<html>hello</html>"),
]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dialect", ["lichess", "pychess"])
def test_a_game_is_played_to_its_end_all_the_same(dialect: Any, seed: int) -> None:
    """Streams break at every turn, others' events come, every second request goes wrong."""
    rng, time = random.Random(seed), FakeTime()
    with serving(dialect) as server:
        patience = Patience(between_opens=0.0, silence=5.0, answer=5.0)

        def wait(cancel: threading.Event, seconds: float) -> bool:
            time.wait(cancel, seconds)
            return cancel.wait(0.005)

        client = BotClient(server.url, TOKEN, patience=patience, wait=wait, clock=time.clock)
        pool = MoverPool(QuickMover, spare=1)
        policy = Policy(leave_after=1)
        bridge = Bridge(BOT, client, pool, policy, GameSettings(greeting="Hello", farewell="Bye"))
        errors: list[BaseException] = []

        def run() -> None:
            try:
                bridge.run()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        server.until(lambda: server.events.queues)
        game = server.game(server.challenge())
        game.most_plies = 16
        while game.status == "started":
            server.until(lambda: game.status != "started" or game.board.turn != game.bot)
            if game.status != "started":
                break
            with server.news:
                server.fail("/move/", *rng.sample(FAULTS[:5], rng.randrange(2)))
                server.fail("/chat", rng.choice(FAULTS))
                for message in rng.sample(OTHERS, 3):
                    server.events.say(message)
                if rng.random() < 0.3:
                    server.events.send(Cut(b'{"type": "cha'))
                if rng.random() < 0.3:
                    game.feed.send(b"nonsense\n" + line({"type": "gameState", "winc": 10**400}))
                if rng.random() < 0.5:
                    game.drop(rng.choice([b"", b'{"type": "gameState", "mo']))
            game.play(rng.choice(sorted(map(str, game.board.legal_moves))))
        thread.join(HANG_SECONDS)
        assert not thread.is_alive() and not errors
        bridge.leave()
        pool.close()
        client.close()
    assert game.status != "started" and server.count("/resign") == 0
