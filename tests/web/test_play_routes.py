"""Pages, files, and requests that start games; and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obscuro.engine.strength import LEVELS
from obscuro.web.static_table import StaticTable
from obscuro.web.web_limits import BucketTable, TokenBucket
from tests.web.rooms import (
    ORIGIN,
    QUICK,
    browser,
    is_over,
    join,
    my_turn,
    quick_app,
    start_game,
    until,
)


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


# -- the table of files ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> StaticTable:
    return StaticTable()


def test_the_import_map_of_a_page_is_the_only_script_in_it(table: StaticTable) -> None:
    for page in table.pages.values():
        inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page.body.decode(), re.S)
        assert len(inline) == 1
        digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
        assert page.policy is not None
        assert f"script-src 'self' 'sha256-{digest}'" in page.policy
        for address in json.loads(inline[0])["imports"].values():
            assert address.removeprefix("/") in table.files


def test_a_page_names_files_of_the_table_only(table: StaticTable) -> None:
    for page in table.pages.values():
        named = re.findall(r'(?:src|href)="(/(?:js|css|parts)/[^"]+)"', page.body.decode())
        assert named
        assert [name for name in named if name.removeprefix("/") not in table.files] == []


def test_every_module_that_a_module_imports_is_in_the_map(table: StaticTable) -> None:
    page = next(iter(table.pages.values())).body.decode()
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.S)
    assert found is not None
    known = json.loads(found[1])["imports"]
    for name, file in table.files.items():
        if name.startswith("js/"):
            imports = re.findall(r'^import[^"]*"([^"]+)"', file.body.decode(), re.M)
            assert [each for each in imports if each not in known] == [], name


# -- the guard: only our own pages get through ----------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000", "chess.example.org"]
)
def test_names_of_ours_are_answered(tmp_path: Path, host: str) -> None:
    with browser(quick_app(tmp_path, hosts=["chess.example.org"])) as client:
        assert client.get("/api/games", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "192.168.1.5", "", "["])
def test_other_names_are_refused(tmp_path: Path, host: str) -> None:
    with browser(quick_app(tmp_path)) as client:
        response = client.get("/api/games", headers={"host": host})
        assert response.status_code == 403
        assert "--allowed-host" in response.json()["error"]


def test_addresses_in_numbers_are_answered_where_all_may_come(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path, any_address=True)) as client:
        for host, status in (("192.168.1.5:8000", 200), ("evil.example", 403)):
            assert client.get("/api/games", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://evil.example", "http://localhost:81", "file://localhost", "http://["],
)
def test_a_request_from_another_site_changes_nothing(tmp_path: Path, origin: str) -> None:
    with browser(quick_app(tmp_path)) as client:
        for path in ("/api/games", "/api/matches"):
            response = client.post(path, json={}, headers={"origin": origin})
            assert response.status_code == 403
        assert client.cookies.get("obscuro_visitor") is None


def test_a_request_without_an_origin_changes_nothing(tmp_path: Path) -> None:
    with TestClient(quick_app(tmp_path), base_url=ORIGIN) as client:
        assert client.post("/api/games", json={}).status_code == 403


def test_every_answer_is_protected(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        answers = [
            client.get(path) for path in ("/", "/api/settings", "/nothing", "/js/nothing.js")
        ]
        answers.append(client.get("/", headers={"host": "evil.example"}))
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        cookie = client.post("/api/games", json={}).headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "secure" not in cookie
        # Who has one keeps it.
        assert "set-cookie" not in client.post("/api/games", json={}).headers


def test_by_https_the_cookie_stays_on_https(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        answer = client.post("/api/games", json={}, headers={"origin": "https://localhost"})
        assert "secure" in answer.headers["set-cookie"].lower()


# -- how often something is allowed ---------------------------------------------------------


class Seconds:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_so_many_at_once_and_then_so_many_a_second() -> None:
    clock = Seconds()
    bucket = TokenBucket(3, 2, clock)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    clock.now = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
    clock.now = 1000.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_names_do_not_share() -> None:
    table = BucketTable(1, 0, Seconds())
    assert [table.take(name) for name in ("a", "b", "a")] == [True, True, False]


def test_a_table_forgets_the_names_not_used_for_longest() -> None:
    table = BucketTable(1, 0, Seconds(), most=2)
    for name in ("a", "b", "c"):
        assert table.take(name)
    assert not table.take("c")
    assert table.take("a")
