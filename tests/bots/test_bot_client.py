"""The client against a real HTTP server: what is tried again, what is not, and what is never said."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from urllib.parse import unquote

import chess
import pytest

from obscuro import __version__
from obscuro.bots.bot_client import (
    LARGEST_ANSWER,
    LONGEST_SILENCE_SECONDS,
    TOO_MANY_REQUESTS_SECONDS,
    ApiError,
    BotClient,
    EventStream,
    Patience,
    Refused,
    Unauthorized,
    Unreachable,
)
from tests.bots.fake_time import FakeTime
from tests.bots.server import BOT, TOKEN, BotServer, Cut, Fault, serving

NOBODY = threading.Event()


@pytest.fixture
def server() -> Iterator[BotServer]:
    with serving() as running:
        yield running


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def client(server: BotServer, time: FakeTime) -> Iterator[BotClient]:
    patience = Patience(answer=5.0, silence=5.0, pauses=(1.0, 2.0), attempts=4)
    made = timed_client(server.url, time, patience)
    yield made
    made.close()


def timed_client(url: str, time: FakeTime, patience: Patience) -> BotClient:
    return BotClient(
        url, TOKEN, patience=patience, wait=time.wait, clock=time.clock, chance=lambda: 0.0
    )


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
    client: BotClient, server: BotServer, time: FakeTime
) -> None:
    server.fail("/account", Fault(status=500), Fault(drop=True), Fault(status=503))
    assert client.account(NOBODY)["username"] == BOT
    assert time.waits == [1.0, 2.0, 2.0]
    server.fail("/account", *[Fault(status=500, body='{"error": "tired"}')] * 4)
    with pytest.raises(Unreachable, match="/api/account: 500 tired"):
        client.account(NOBODY)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({}, TOO_MANY_REQUESTS_SECONDS),
        ({"Retry-After": "x"}, TOO_MANY_REQUESTS_SECONDS),
        ({"Retry-After": "nan"}, TOO_MANY_REQUESTS_SECONDS),
        ({"Retry-After": "-5"}, 1.0),
        ({"Retry-After": "3600"}, 3600.0),
        ({"Retry-After": "9" * 400}, LONGEST_SILENCE_SECONDS),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 1.0),
        ({"Retry-After": "Wed, 21 Oct 9015 07:28:00 GMT"}, LONGEST_SILENCE_SECONDS),
    ],
)
def test_after_too_many_requests_nothing_is_asked_before_its_time(
    client: BotClient, server: BotServer, time: FakeTime, header: dict[str, str], seconds: float
) -> None:
    server.fail("/account", Fault(status=429, headers=header))
    client.account(NOBODY)
    assert sum(time.waits) == seconds or seconds == 1.0 == time.waits[0]


Request = Callable[[BotClient, str, threading.Event], object]
REQUESTS: dict[str, tuple[str, Request]] = {
    "move": ("/move/", lambda client, game, cancel: client.move(game, "e2e4", cancel)),
    "game": ("/stream/game", lambda client, game, cancel: client.game_events(game, cancel).close()),
    "events": ("/stream/event", lambda client, game, cancel: client.events(cancel).close()),
    "chat": ("/chat", lambda client, game, cancel: client.say(game, "hello", cancel)),
    "decline": ("/decline", lambda client, game, cancel: client.decline(game, "later", cancel)),
    "resign": ("/resign", lambda client, game, cancel: client.ask(game, "resign", cancel)),
}


@pytest.mark.parametrize(
    ("refused", "waits", "goes_on"),
    [
        ("chat", ["chat", "decline", "events", "resign"], ["move", "game"]),
        ("decline", ["chat", "decline", "events", "resign"], ["move", "game"]),
        ("resign", ["chat", "decline", "events", "resign"], ["move", "game"]),
        ("events", ["chat", "decline", "events", "resign"], ["move", "game"]),
        ("game", ["chat", "decline", "events", "resign", "game"], ["move"]),
        ("move", ["chat", "decline", "events", "resign", "game", "move"], []),
    ],
)
def test_moves_wait_for_no_other_request(
    server: BotServer, refused: str, waits: list[str], goes_on: list[str]
) -> None:
    """After a 429, its own kind of request waits for its time, and what matters less."""
    for other in [*waits, *goes_on]:
        time, given_up = FakeTime(), threading.Event()

        def wait(cancel: threading.Event, seconds: float) -> bool:
            if cancel is given_up:  # noqa: B023 - it is called within this round
                cancel.set()
                return True
            return time.wait(cancel, seconds)  # noqa: B023

        client = BotClient(server.url, TOKEN, wait=wait, clock=time.clock, chance=lambda: 0.0)
        game = server.new_game()
        server.fail(REQUESTS[refused][0], Fault(status=429, headers={"Retry-After": "100"}))
        with pytest.raises(Unreachable):
            REQUESTS[refused][1](client, game.id, given_up)
        with contextlib.suppress(Refused):
            REQUESTS[other][1](client, game.id, NOBODY)
        assert (time.clock() >= 100.0) == (other in waits), other
        client.close()


def test_streams_are_opened_twice_a_second_at_most(
    client: BotClient, server: BotServer, time: FakeTime
) -> None:
    game = server.new_game()
    opened = []
    for _ in range(3):
        client.events(NOBODY).close()
        opened.append(time.clock())
        client.game_events(game.id, NOBODY).close()
        opened.append(time.clock())
    assert opened == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]


def test_pauses_differ_by_chance(server: BotServer, time: FakeTime) -> None:
    chances = iter([0.0, 0.5, 1.0])
    client = BotClient(server.url, TOKEN, wait=time.wait, chance=lambda: next(chances))
    for _ in range(3):
        client.pause(8, NOBODY)
    assert time.waits == [20.0, 22.5, 25.0]
    client.close()


@pytest.mark.parametrize("name", ["Jürgen", "李", "a%b", "x" * 100])
def test_an_account_of_any_name(client: BotClient, server: BotServer, name: str) -> None:
    server.fail("/account", Fault(status=200, body=json.dumps({"username": name})))
    assert client.account(NOBODY)["username"] == name
    client.account(NOBODY)
    agent = server.requests[-1].agent
    assert agent.isascii() and unquote(agent).endswith(f"user:{name}")


def test_a_name_without_end_is_none(client: BotClient, server: BotServer) -> None:
    server.fail("/account", Fault(status=200, body=json.dumps({"username": "x" * 101})))
    with pytest.raises(Unreachable, match="does not say who we are"):
        client.account(NOBODY)


@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_an_answer_without_end_is_an_error(
    client: BotClient, server: BotServer, status: int
) -> None:
    fault = Fault(status=status, body="x" * (LARGEST_ANSWER + 1))
    server.fail("/accept", *[fault] * 3)
    with pytest.raises(Unreachable, match="an answer of more than 1 MiB"):
        client.accept("game", NOBODY)
    server.fail("/stream/event", fault)
    if status != 200:
        with pytest.raises(Unreachable, match="an answer of more than 1 MiB"):
            client.events(NOBODY)


def test_no_answer_is_larger_than_it_comes(client: BotClient, server: BotServer) -> None:
    """A few bytes of gzip may be gigabytes; we ask for none, and unpack none."""
    packed = gzip.compress(json.dumps({"username": BOT}).encode()).decode("latin-1")
    server.fail("/account", Fault(status=200, body=packed, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(Unreachable, match="does not say who we are"):
        client.account(NOBODY)


@pytest.mark.parametrize("status", [408, 425])
def test_a_refusal_of_the_moment_is_tried_again(
    client: BotClient, server: BotServer, time: FakeTime, status: int
) -> None:
    server.fail("/account", Fault(status=status))
    assert client.account(NOBODY)["username"] == BOT
    assert time.waits == [1.0]


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


def test_a_refusal_is_not_tried_again(client: BotClient, server: BotServer, time: FakeTime) -> None:
    with pytest.raises(Refused, match=r"/api/challenge/nowhere/accept: 404 Not found\.") as caught:
        client.accept("nowhere", NOBODY)
    assert caught.value.status == 404
    assert time.waits == [] and len(server.requests) == 1


def test_a_move_that_may_have_arrived_is_not_sent_again(
    client: BotClient, server: BotServer, time: FakeTime
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
    assert time.waits == []


def test_a_move_that_did_not_arrive_is_sent_until_it_does(
    client: BotClient, server: BotServer, time: FakeTime
) -> None:
    game = server.new_game()
    server.fail("/move/", *[Fault(status=429, headers={"Retry-After": "1"})] * 9)
    client.move(game.id, "e2e4", NOBODY)
    assert game.moves == ["e2e4"]


def test_nobody_there(time: FakeTime) -> None:
    with serving() as server:
        url = server.url
    client = timed_client(url, time, Patience(pauses=(1.0,), attempts=2))
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


def test_unreadable_lines_are_one_warning_a_stream(
    client: BotClient, server: BotServer, caplog: pytest.LogCaptureFixture
) -> None:
    stream = client.events(NOBODY)
    with server.news:
        server.events.send(b"nonsense\n" * 50)
        server.events.send(Cut())
    assert list(stream) == [None] * 50
    assert len(caplog.records) == 1


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


def test_the_connection_of_a_stream_is_used_for_nothing_else(
    client: BotClient, server: BotServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = EventStream.close

    def ask_and_close(stream: EventStream) -> None:
        client.account(NOBODY)  # as another thread may, between the stream's end and this
        close(stream)

    monkeypatch.setattr(EventStream, "close", ask_and_close)
    stream = client.events(NOBODY)
    with server.news:
        server.events.send(Cut())
    assert list(stream) == []
    opened, asked = server.requests
    assert opened.port != asked.port


def test_a_stream_that_is_refused(client: BotClient, server: BotServer) -> None:
    with pytest.raises(Refused) as caught:
        client.game_events("nowhere", NOBODY)
    assert caught.value.status == 404
    server.fail("/stream/event", Fault(status=401), Fault(status=502))
    with pytest.raises(Unauthorized):
        client.events(NOBODY)
    with pytest.raises(Unreachable):
        client.events(NOBODY)
