"""The test server's answers to lichess-bot are those that lichess-bot reads."""

from __future__ import annotations

import io
import json
import random
import urllib.request
from collections.abc import Iterator
from typing import Any

import chess
import chess.pgn
import pytest

from obscuro.rules.board import FogOfWarBoard
from tests.bots.lichess_server import LichessGame, LichessServer, lichess_serving
from tests.bots.server import TOKEN

MOVES = ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4")


@pytest.fixture(scope="module")
def server() -> Iterator[LichessServer]:
    with lichess_serving() as server:
        yield server


def ask(server: LichessServer, path: str, data: bytes | None = None) -> str:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(server.url + path, data, headers)
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
    return text


def begun(server: LichessServer, moves: tuple[str, ...] = MOVES) -> LichessGame:
    game = server.new_game()
    assert isinstance(game, LichessGame)
    for move in moves:
        game.board.push_uci(move)
    return game


def test_the_token_has_the_scope_that_lichess_bot_wants(server: LichessServer) -> None:
    answer = json.loads(ask(server, "/api/token/test", TOKEN.encode()))
    assert "bot:play" in answer[TOKEN]["scopes"].split(",")


def test_games_that_go_on_are_listed(server: LichessServer) -> None:
    game, over = begun(server), begun(server)
    over.end("resign", chess.WHITE)
    playing = json.loads(ask(server, "/api/account/playing"))["nowPlaying"]
    named = {each["gameId"]: each for each in playing}
    assert game.id in named and over.id not in named
    assert named[game.id]["opponent"]["username"] == "Guest"
    assert named[game.id]["isMyTurn"] is False


@pytest.mark.parametrize(("word", "left"), [("yes", MOVES[:3]), ("no", MOVES)])
def test_a_takeback_is_answered(server: LichessServer, word: str, left: tuple[str, ...]) -> None:
    game = begun(server)
    game.offer("takeback")
    assert game.state()["btakeback"]
    ask(server, f"/api/bot/game/{game.id}/takeback/{word}", b"")
    assert game.moves == list(left)
    assert "btakeback" not in game.state()
    assert game.takebacks == [word]


@pytest.mark.parametrize(
    ("offered", "taken", "status"),
    [(True, "true", "draw"), (True, "false", "started"), (False, "true", "started")],
)
def test_a_move_takes_an_offered_draw(
    server: LichessServer, offered: bool, taken: str, status: str
) -> None:
    game = begun(server, MOVES[:4])
    if offered:
        game.offer("draw")
    ask(server, f"/api/bot/game/{game.id}/move/f1c4?offeringDraw={taken}", b"")
    assert game.moves == list(MOVES)
    assert game.status == status


def test_the_opponent_plays_on_by_chance(server: LichessServer) -> None:
    game = begun(server, MOVES[:4])
    game.play_on(random.Random(1))
    ask(server, f"/api/bot/game/{game.id}/move/f1c4", b"")
    assert len(game.moves) == 6


def test_chat_is_kept_with_its_room(server: LichessServer) -> None:
    game = begun(server)
    ask(server, f"/api/bot/game/{game.id}/chat", b"room=spectator&text=Hi+there")
    assert game.chats == [("spectator", "Hi there")]


def test_a_game_is_exported_in_its_variant(server: LichessServer) -> None:
    text = ask(server, f"/game/export/{begun(server).id}")
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert isinstance(game.board(), FogOfWarBoard)
    assert [move.uci() for move in game.mainline_moves()] == list(MOVES)


def test_an_outage_breaks_all_streams_in_mid_line(server: LichessServer) -> None:
    game = begun(server)
    heard: list[Any] = []
    for path in ("/api/stream/event", f"/api/bot/game/stream/{game.id}"):
        request = urllib.request.Request(
            server.url + path, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        heard.append(urllib.request.urlopen(request))
    server.until(lambda: server.events.queues and game.feed.queues)
    server.outage()
    for stream in heard:
        with stream, pytest.raises(Exception, match="IncompleteRead"):
            stream.read()
