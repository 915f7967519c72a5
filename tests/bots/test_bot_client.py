"""The client against a real HTTP server: what is tried again, what is not, and what is never said."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import chess
import pytest

from obscuro import __version__
from obscuro.bots.bot_client import (
    TOO_MANY_REQUESTS_SECONDS,
    ApiError,
    BotClient,
    Patience,
    Refused,
    Unauthorized,
    Unreachable,
)
from tests.bots.server import BOT, TOKEN, BotServer, Cut, Fault, serving

NOBODY = threading.Event()


class Waits:
    """Waits no time, and keeps how long it should have been; its clock stands."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, cancel: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        return cancel.is_set()


@pytest.fixture
def server() -> Iterator[BotServer]:
    with serving() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client(server: BotServer, waits: Waits) -> Iterator[BotClient]:
    patience = Patience(answer=5.0, silence=5.0, pauses=(1.0, 2.0), attempts=4)
    made = BotClient(server.url, TOKEN, patience=patience, wait=waits, clock=lambda: 0.0)
    yield made
    made.close()


def test_who_we_are(client: BotClient, server: BotServer) -> None:
    assert client.account(NOBODY)["username"] == BOT
    client.account(NOBODY)
    agents = [request.agent for request in server.requests]
    assert agents == [f"obscuro/{__version__}", f"obscuro/{__version__} user:{BOT}"]


def test_a_wrong_token(server: BotServer) -> None:
    client = BotClient(server.url, "another-token")
    with pytest.raises(Unauthorized, match="/api/account: 401 No such token") as caught:
        client.account(NOBODY)
    assert "another-token" not in str(caught.value)
    client.close()


def test_what_fails_is_tried_again_after_growing_pauses(
    client: BotClient, server: BotServer, waits: Waits
) -> None:
    server.fail("/account", Fault(status=500), Fault(drop=True), Fault(status=503))
    assert client.account(NOBODY)["username"] == BOT
    assert waits.waits == [1.0, 2.0, 2.0]
    server.fail("/account", *[Fault(status=500, body='{"error": "tired"}')] * 4)
    with pytest.raises(Unreachable, match="/api/account: 500 tired"):
        client.account(NOBODY)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [({"Retry-After": "7"}, 7.0), ({}, TOO_MANY_REQUESTS_SECONDS), ({"Retry-After": "x"}, 60.0)],
)
def test_after_too_many_requests_all_are_silent(
    client: BotClient, server: BotServer, waits: Waits, header: dict[str, str], seconds: float
) -> None:
    server.fail("/account", Fault(status=429, headers=header))
    client.account(NOBODY)
    assert waits.waits == [1.0, seconds]
    client.events(NOBODY).close()
    assert waits.waits[2:] == [seconds]  # the clock of this test stands


@pytest.mark.parametrize("status", [408, 425])
def test_a_refusal_of_the_moment_is_tried_again(
    client: BotClient, server: BotServer, waits: Waits, status: int
) -> None:
    server.fail("/account", Fault(status=status))
    assert client.account(NOBODY)["username"] == BOT
    assert waits.waits == [1.0]


def test_what_we_can_play_is_said_where_pychess_wants_to_know() -> None:
    with serving("pychess") as server:
        client = BotClient(server.url, TOKEN)
        client.account(NOBODY)
        client.events(NOBODY).close()
        client.close()
    assert [request.capabilities for request in server.requests] == [
        None,
        '{"version":1,"variants":["fogofwar","darkchess"]}',
    ]


def test_a_refusal_is_not_tried_again(client: BotClient, server: BotServer, waits: Waits) -> None:
    with pytest.raises(Refused, match=r"/api/challenge/nowhere/accept: 404 Not found\.") as caught:
        client.accept("nowhere", NOBODY)
    assert caught.value.status == 404
    assert waits.waits == [] and len(server.requests) == 1


def test_a_move_that_may_have_arrived_is_not_sent_again(
    client: BotClient, server: BotServer, waits: Waits
) -> None:
    game = server.new_game()
    for fault in (Fault(status=500), Fault(drop=True), Fault(status=502)):
        server.fail("/move/", fault)
        with pytest.raises(Unreachable):
            client.move(game.id, "e2e4", NOBODY)
    assert server.count("/move/e2e4") == 3 and game.moves == []
    server.fail("/move/", Fault(lost=True))
    with pytest.raises(Unreachable):
        client.move(game.id, "e2e4", NOBODY)
    assert game.moves == ["e2e4"]
    with pytest.raises(Refused, match="Not your turn"):
        client.move(game.id, "e2e4", NOBODY)
    assert waits.waits == []


def test_a_move_that_did_not_arrive_is_sent_until_it_does(
    client: BotClient, server: BotServer, waits: Waits
) -> None:
    game = server.new_game()
    server.fail("/move/", *[Fault(status=429, headers={"Retry-After": "1"})] * 9)
    client.move(game.id, "e2e4", NOBODY)
    assert game.moves == ["e2e4"]


def test_nobody_there(waits: Waits) -> None:
    with serving() as server:
        url = server.url
    client = BotClient(url, TOKEN, patience=Patience(pauses=(1.0,), attempts=2), wait=waits)
    with pytest.raises(Unreachable, match="refused"):
        client.account(NOBODY)
    with pytest.raises(Unreachable, match="refused"):
        client.events(NOBODY)
    gone = threading.Event()
    gone.set()
    with pytest.raises(Unreachable, match="broken off"):
        client.move("game", "e2e4", gone)
    client.close()


def test_a_redirection_is_an_error_and_the_token_stays_here(
    client: BotClient, server: BotServer
) -> None:
    server.fail("/account", Fault(status=301, headers={"Location": "https://elsewhere.example/"}))
    with pytest.raises(Refused, match=r"redirected to .https://elsewhere\.example/"):
        client.account(NOBODY)


@pytest.mark.parametrize("name", ["", "../account", "a/b", "a?b", "a b", "ä", "a%2fb"])
def test_a_servers_ids_lead_nowhere_else(client: BotClient, server: BotServer, name: str) -> None:
    for use in (
        lambda: client.move(name, "e2e4", NOBODY),
        lambda: client.accept(name, NOBODY),
        lambda: client.game_events(name, NOBODY),
    ):
        with pytest.raises(Refused, match="is no id"):
            use()
    assert server.requests == []


def test_what_is_no_json_is_no_account(client: BotClient, server: BotServer) -> None:
    server.fail("/account", Fault(status=200, body="<html>hello</html>"))
    with pytest.raises(ApiError, match="does not say who we are"):
        client.account(NOBODY)


# -- streams ----------------------------------------------------------------------------------


def test_lines_come_whole_however_they_are_cut(client: BotClient, server: BotServer) -> None:
    stream = client.events(NOBODY)
    with server.news:
        for piece in (b'{"a"', b': 1}\n\n{"b": 2}\n', b"[1]\nnonsense\n", b'{"c": 3}\n'):
            server.events.send(piece)
        server.events.send(Cut())
    assert list(stream) == [{"a": 1}, None, {"b": 2}, None, None, {"c": 3}]


def test_a_stream_that_breaks_in_a_line_is_an_error(client: BotClient, server: BotServer) -> None:
    stream = client.events(NOBODY)
    with server.news:
        server.events.send(b'{"a": 1}\n')
        server.events.send(Cut(b'{"b'))
    lines = iter(stream)
    assert next(lines) == {"a": 1}
    with pytest.raises(Unreachable, match="the event stream"):
        next(lines)


def test_a_silent_stream_is_an_error(server: BotServer) -> None:
    server.ping_seconds = 1000.0
    client = BotClient(server.url, TOKEN, patience=Patience(silence=0.1))
    with pytest.raises(Unreachable, match="timed out"):
        list(client.events(NOBODY))
    client.close()


def test_a_line_without_end_is_an_error(
    client: BotClient, server: BotServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obscuro.bots.bot_client.LONGEST_LINE", 100)
    stream = client.events(NOBODY)
    with server.news:
        server.events.send(b"x" * 200)
    with pytest.raises(Unreachable, match="a line without end"):
        list(stream)


def test_closing_wakes_who_reads(client: BotClient, server: BotServer) -> None:
    server.ping_seconds = 1000.0
    game = server.new_game(chess.WHITE)
    stream = client.game_events(game.id, NOBODY)
    heard: list[object] = []
    first = threading.Event()

    def read() -> None:
        for message in stream:
            heard.append(message)
            first.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert first.wait(30)
    stream.close()
    stream.close()
    reader.join(30)
    assert not reader.is_alive() and len(heard) == 1


def test_a_stream_that_is_refused(client: BotClient, server: BotServer) -> None:
    with pytest.raises(Refused) as caught:
        client.game_events("nowhere", NOBODY)
    assert caught.value.status == 404
    server.fail("/stream/event", Fault(status=401), Fault(status=502))
    with pytest.raises(Unauthorized):
        client.events(NOBODY)
    with pytest.raises(Unreachable):
        client.events(NOBODY)
