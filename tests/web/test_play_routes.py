"""Pages, files, and requests that start games; and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from obscuro.engine.strength import LEVELS
from tests.web.rooms import QUICK, browser, is_over, join, my_turn, quick_app, start_game, until


def test_the_pages_and_all_that_they_name_are_there(tmp_path: Path) -> None:
    app = quick_app(tmp_path)
    with browser(app) as client:
        for path in ("/", "/play/abcdefghijkl"):
            page = client.get(path)
            assert page.status_code == 200
            assert page.headers["content-type"].startswith("text/html")
            assert "$" not in page.text
        for name, file in app.state.context.statics.files.items():
            answer = client.get(f"/{name}")
            assert (answer.status_code, answer.content) == (200, file.body)
            again = client.get(f"/{name}", headers={"if-none-match": answer.headers["etag"]})
            assert again.status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/js/../../web_app.py",
        "/js/%2e%2e/web_app.py",
        "/js/..%2f..%2fweb_app.py",
        "/parts//etc/passwd",
        "/js/start.html",
        "/play/ABC",
        "/nothing",
        "/api/nothing",
    ],
)
def test_nothing_else_is_there(tmp_path: Path, path: str) -> None:
    with browser(quick_app(tmp_path)) as client:
        answer = client.get(path)
        assert answer.status_code == 404
        assert list(answer.json()) == ["error"]


def test_the_settings_are_those_of_the_engine(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        settings = client.get("/api/settings").json()
    assert [level["number"] for level in settings["levels"]] == [each.number for each in LEVELS]
    assert settings["limits"]["max_games"] == QUICK.games


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"[" * 4000, b'{"color": NaN}', b"\xff", b'{"color": "red"}']
)
def test_a_body_that_makes_no_sense_is_one_line(tmp_path: Path, body: bytes) -> None:
    with browser(quick_app(tmp_path)) as client:
        for path in ("/api/games", "/api/matches"):
            answer = client.post(path, content=body)
            assert answer.status_code == 400
            assert "\n" not in answer.json()["error"]
        assert client.get("/api/games").json() == []


def test_a_body_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        assert client.post("/api/games", content=b" " * 5000).status_code == 413


def test_a_match_of_two_engines_is_played_and_told_to_everybody(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        answer = client.post("/api/matches", json={"move": 0.05})
        assert answer.status_code == 201
        game = answer.json()["game"]
        client.cookies.clear()
        while "unfinished" in (pgn := client.get(f"/api/games/{game}/pgn").text):
            pass
        assert '[White "Obscuro' in pgn
        with join(client, game) as socket:
            assert "two engines" in socket.receive_json()["error"]


def games_refused(tmp_path: Path, wanted: int, **limits: Any) -> list[int]:
    """Return the statuses of so many new games."""
    with browser(quick_app(tmp_path, limits=replace(QUICK, **limits))) as client:
        return [client.post("/api/games", json={}).status_code for _ in range(wanted)]


def test_a_visitor_has_so_many_unfinished_games(tmp_path: Path) -> None:
    assert games_refused(tmp_path, 3, visitor_games=2) == [201, 201, 429]


def test_new_games_come_so_fast_at_most(tmp_path: Path) -> None:
    assert games_refused(tmp_path, 3, created_burst=2, created_rate=0) == [201, 201, 429]


def test_a_visitor_asks_so_often_at_most(tmp_path: Path) -> None:
    # The first request has no visitor yet.
    assert games_refused(tmp_path, 4, post_burst=2, post_rate=0) == [201, 201, 201, 429]


def test_a_game_that_nobody_looks_at_makes_place_for_another(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path, limits=replace(QUICK, games=1))) as client:
        first = start_game(client)
        with join(client, first) as socket:
            until(socket, my_turn)
            full = client.post("/api/games", json={})
            assert full.status_code == 503
            assert "1 games go on" in full.json()["error"]
        second = start_game(client)
        with join(client, second) as socket:
            until(socket, my_turn)
            with join(client, first) as other:  # it can't wake now
                assert "games go on" in other.receive_json()["error"]
            socket.send_json({"type": "resign"})
            until(socket, is_over)
        with join(client, first) as socket:  # it does as soon as there is a place
            assert until(socket, my_turn)["game"] == first
