"""The service on HTTP: what it answers, what it refuses, and games over it."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest
from starlette.testclient import TestClient

from obscuro.bots.mistboard.engine_service import (
    MOST_BYTES,
    RESERVATION_SECONDS,
    EngineRoutes,
    EngineService,
)
from obscuro.client.engine_pool import MoverPool
from obscuro.rules.board import FogOfWarBoard
from tests.bots.mistboard.wire import Message, make, played, push, turn
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS

TOKEN = "token-of-the-tests"
ENGINE = "/internal/engine"


class Server:
    """What a Mistboard server does with the service."""

    def __init__(self, service: EngineService) -> None:
        host, port = service.url.removeprefix("http://").split(":")
        self.address = host, int(port)

    def send(
        self, method: str, path: str, body: Any = None, token: str = TOKEN, **headers: str
    ) -> tuple[int, Message]:
        connection = HTTPConnection(*self.address, timeout=HANG_SECONDS)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, data, {"Authorization": f"Bearer {token}"} | names)
        answer = connection.getresponse()
        said = json.loads(answer.read())
        connection.close()
        return answer.status, said

    def turn(self, board: FogOfWarBoard, **headers: str) -> Message:
        status, answer = self.send("POST", f"{ENGINE}/turn", turn(board), **headers)
        assert status == 200
        return answer


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Server, QuickMover]]:
    mover = QuickMover()
    with EngineService(0, TOKEN, MoverPool(lambda: mover, 1), games=1) as service:
        yield Server(service), mover


@pytest.fixture
def server(running: tuple[Server, QuickMover]) -> Server:
    return running[0]


@pytest.fixture
def mover(running: tuple[Server, QuickMover]) -> QuickMover:
    running[1].asked.clear()
    return running[1]


def test_whole_games(server: Server) -> None:
    for _ in range(2):
        board = FogOfWarBoard()
        while board.outcome() is None and len(board.move_stack) < 40:
            make(board, server.turn(board))
            status, ack = server.send("POST", f"{ENGINE}/observe", push(board))
            assert (status, ack["received"]) == (200, True)


def test_a_reservation_that_no_turn_uses_ends() -> None:
    now = [0.0]
    routes = EngineRoutes(TOKEN, MoverPool(QuickMover, 1), 1, clock=lambda: now[0])
    client = TestClient(routes.app, headers={"Authorization": f"Bearer {TOKEN}"})

    def reserve() -> int:
        wanted = {"engineId": "obscuro", "color": "black"}
        return client.post(f"{ENGINE}/reservations", json=wanted).status_code

    assert (reserve(), reserve()) == (201, 429)
    now[0] = RESERVATION_SECONDS
    assert (reserve(), reserve()) == (201, 429)


def test_the_time_comes_in_headers(server: Server, mover: QuickMover) -> None:
    named = {
        "x_mistboard_engine_compute_budget_ms": "250",
        "X_Mistboard_Engine_Timeout_Ms": "60000",
    }
    server.turn(played("d2d4 e7e5"), **named)
    server.turn(played("e2e4 e7e5"), x_mistboard_engine_timeout_ms="soon")
    assert [think.movetime for _, think in mover.asked] == [250, 1000]


def test_seats(server: Server) -> None:
    wanted = {"engineId": "obscuro", "color": "white"}
    status, seat = server.send("POST", f"{ENGINE}/reservations", wanted)
    assert status == 201 and seat["engineId"] == "obscuro"
    assert seat["capacity"] == {"activeSeats": 1, "maxSeats": 1}
    assert isinstance(seat["expiresAt"], int)
    assert server.send("POST", f"{ENGINE}/reservations", wanted)[0] == 429
    server.turn(FogOfWarBoard(), x_mistboard_engine_reservation_id=seat["reservationId"])
    release = f"{ENGINE}/reservations/{seat['reservationId']}/release"
    assert server.send("POST", release, {"reason": "over"})[0] == 200
    assert server.send("GET", f"{ENGINE}/capacity")[1]["activeSeats"] == 0
    assert server.send("POST", f"{ENGINE}/reservations", {"engineId": 1})[0] == 400


def test_a_turn_without_a_seat_is_played(server: Server) -> None:
    """A service that was started anew knows no seats; the game goes on all the same."""
    server.turn(FogOfWarBoard(), x_mistboard_engine_reservation_id="of-before")


def test_health_needs_no_token(server: Server) -> None:
    assert server.send("GET", "/health", token="") == (200, {"ok": True})


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", "ä"])
def test_a_wrong_token(server: Server, mover: QuickMover, token: str) -> None:
    token = token.encode().decode("latin-1")
    assert server.send("POST", f"{ENGINE}/turn", turn(FogOfWarBoard()), token)[0] == 401
    assert server.send("GET", f"{ENGINE}/capacity", token=token)[0] == 401
    assert not mover.asked


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/internal/engine/turn", b"{", 400),
        ("POST", "/internal/engine/turn", b"", 400),
        ("POST", "/internal/engine/turn", b"[" * 50_000, 400),
        ("POST", "/internal/engine/turn", {"protocolVersion": "9"}, 400),
        ("POST", "/internal/engine/turn", {"protocolVersion": "1", "gameSpecId": "jieqi"}, 400),
        ("POST", "/internal/engine/observe", {"protocolVersion": "1"}, 400),
        ("POST", "/internal/engine/analyze", {}, 404),
        ("POST", "/", {}, 404),
        ("GET", "/internal/engine/turn", None, 404),
    ],
)
def test_what_is_refused(server: Server, method: str, path: str, body: Any, status: int) -> None:
    got, said = server.send(method, path, body)
    assert got == status and isinstance(said["error"], str)
    server.turn(FogOfWarBoard())  # and the next request is answered


@pytest.mark.parametrize(
    ("length", "status"),
    [(str(MOST_BYTES + 1), b"413"), (None, b"413"), ("-1", b"400"), ("many", b"400")],
)
def test_a_body_of_a_size_that_is_not_read(
    server: Server, length: str | None, status: bytes
) -> None:
    with socket.create_connection(server.address, HANG_SECONDS) as connection:
        header = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\n"
        header += "" if length is None else f"Content-Length: {length}\r\n"
        connection.sendall(f"POST {ENGINE}/turn HTTP/1.1\r\n{header}\r\n".encode())
        assert connection.makefile("rb").readline().split()[1] == status


def test_connections_that_break_off(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    for text in (
        b"",
        b"GET",
        b"\x16\x03\x01\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
    ):
        with socket.create_connection(server.address, HANG_SECONDS) as connection:
            connection.sendall(text)
    server.turn(FogOfWarBoard())
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_an_error_of_ours_is_an_answer(
    server: Server, mover: QuickMover, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(mover, "choose", lambda *arguments: 1 / 0)
        assert server.send("POST", f"{ENGINE}/turn", turn(played("e2e4 c7c5")))[0] == 500
    server.turn(FogOfWarBoard())


def test_where_all_engines_think_the_server_is_told_to_ask_again(
    server: Server, mover: QuickMover, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(*arguments: Any) -> Any:
        other = turn(FogOfWarBoard(), game="other")
        budget = {"x_mistboard_engine_compute_budget_ms": "1"}
        answers.append(server.send("POST", f"{ENGINE}/turn", other, **budget)[0])
        return QuickMover.choose(mover, *arguments)

    answers: list[int] = []
    monkeypatch.setattr(mover, "choose", choose)
    server.turn(played("d2d4 d7d5"))
    assert answers == [503]
