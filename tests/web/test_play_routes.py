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
from obscuro.web.web_limits import BucketTable, TokenBucket, address_key
from obscuro.web.web_requests import SocketPlaces
from tests.web.rooms import (
    ORIGIN,
    QUICK,
    browser,
    is_error,
    is_over,
    join,
    move,
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
        with client.websocket_connect(f"ws://localhost/ws/look/{game}") as socket:
            while (told := socket.receive_json())["type"] != "end" and told.get("live", True):
                pass
        pgn = client.get(f"/api/games/{game}/pgn").text
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


def test_an_address_asks_so_often_at_most(tmp_path: Path) -> None:
    assert games_refused(tmp_path, 3, post_burst=2, post_rate=0) == [201, 201, 429]


def test_two_games_that_are_looked_at_share_one_engine(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path, limits=replace(QUICK, games=1))) as client:
        first, second = start_game(client), start_game(client)
        with join(client, first) as one, join(client, second) as two:
            for _ in range(3):
                for socket in (one, two):
                    state = until(socket, my_turn)
                    socket.send_json(move(state, state["moves"][0]))
            assert until(one, my_turn)["ply"] >= 4


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


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "192.168.1.5", "", "[", "a@localhost"),
        *(
            "evil.example@localhost:80",
            "localhost:80@evil.example",
            "localhost/evil",
            "localhost:x",
        ),
    ],
)
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


def cookie_of(client: TestClient) -> str:
    """Start a game as a newcomer; return the cookie."""
    client.cookies.clear()
    start_game(client)
    return client.cookies["obscuro_visitor"]


def test_only_a_cookie_that_we_have_signed_is_a_visitor(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path)) as client:
        cookie = cookie_of(client)
        key, _, signature = cookie.partition(".")
        assert len(client.get("/api/games").json()) == 1
        for forged in (key, "a" * 32, f"{key}.{'0' * 32}", f"{'a' * 32}.{signature}", "ü.ü", "."):
            client.cookies.clear()
            headers = {"cookie": f"obscuro_visitor={forged}".encode()}
            assert client.get("/api/games", headers=headers).json() == []
            # Who comes with a forged cookie is a newcomer, and gets another one.
            assert "set-cookie" in client.post("/api/games", json={}, headers=headers).headers


def test_a_cookie_is_good_for_the_next_start_and_for_no_other_server(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path / "one")) as client:
        cookie = cookie_of(client)
    headers = {"cookie": f"obscuro_visitor={cookie}"}
    with browser(quick_app(tmp_path / "one")) as client:
        assert len(client.get("/api/games", headers=headers).json()) == 1
    with browser(quick_app(tmp_path / "two")) as client:
        assert "set-cookie" in client.post("/api/games", json={}, headers=headers).headers


# -- addresses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2", True),
    ],
)
def test_an_ipv6_address_counts_as_its_network(one: str, other: str, same: bool) -> None:
    assert (address_key(one) == address_key(other)) == same


def told_by(proxy: str | None, tmp_path: Path, *headers: str) -> list[int]:
    """Return the statuses of new games, one for each header of the proxy, one a visitor."""
    limits = replace(QUICK, created_burst=1, created_rate=0)
    with browser(quick_app(tmp_path, limits=limits, proxy=proxy)) as client:
        return [
            client.post("/api/games", json={}, headers={"x-forwarded-for": header}).status_code
            for header in headers
        ]


def test_the_proxys_word_counts_and_a_visitors_does_not(tmp_path: Path) -> None:
    # The test's client has the address "testclient".
    visitors = ("192.0.2.1", "192.0.2.2", "192.0.2.9, 192.0.2.1", "192.0.2.1, 192.0.2.9")
    assert told_by("testclient", tmp_path / "a", *visitors) == [201, 201, 429, 201]
    assert told_by(None, tmp_path / "b", *visitors) == [201, 429, 429, 429]
    assert told_by("192.0.2.7", tmp_path / "c", *visitors) == [201, 429, 429, 429]


def test_a_proxy_that_is_not_named_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told_by(None, tmp_path, "192.0.2.1", "192.0.2.2")
    assert [each.getMessage() for each in caplog.records if "--proxy" in each.getMessage()] == [
        "a proxy at testclient passes requests on; without --proxy testclient all its visitors "
        "share the limits of one address"
    ]


def test_a_path_before_all_others_may_be_passed_on_or_taken_off(tmp_path: Path) -> None:
    with browser(quick_app(tmp_path, root="/fog")) as client:
        for path in ("/fog/", "/", "/fog/api/games", "/api/games", "/fog/css/play.css"):
            assert client.get(path).status_code == 200, path
        assert client.get("/foggy").status_code == 404
        page = client.get("/fog/").text
        assert re.findall(r'(?:src|href)="(/(?!fog/)[^"]*)"', page) == []
        cookie = client.post("/fog/api/games", json={}).headers["set-cookie"]
        assert "path=/fog/" in cookie.lower()


def test_a_server_without_matches_starts_none(tmp_path: Path) -> None:
    for limits in (replace(QUICK, matches=False), replace(QUICK, games=1)):
        with browser(quick_app(tmp_path, limits=limits)) as client:
            assert client.get("/api/settings").json()["limits"]["matches"] is False
            answer = client.post("/api/matches", json={})
            assert answer.status_code == 409
            assert "no two engines" in answer.json()["error"]


def test_a_rematch_counts_as_a_new_game(tmp_path: Path) -> None:
    limits = replace(QUICK, created_burst=2, created_rate=0)
    with browser(quick_app(tmp_path, limits=limits)) as client:
        game = start_game(client)
        for allowed in (True, False):
            with join(client, game) as socket:
                until(socket, my_turn)
                socket.send_json({"type": "resign"})
                until(socket, is_over)
                socket.send_json({"type": "rematch"})
                if allowed:
                    told = until(socket, lambda state: state["result"]["rematch"] is not None)
                    game = told["result"]["rematch"]
                else:
                    assert "too many new games" in until(socket, is_error)["error"]


def test_the_address_with_the_most_sockets_makes_place_for_others() -> None:
    places = SocketPlaces(4, 3)
    many = [places.take("many") for _ in range(3)]
    assert places.take("many") is None
    assert places.take("one") is not None
    other = places.take("other")
    assert other is not None
    assert [lost.is_set() for lost in many if lost is not None] == [False, False, True]
    assert places.take("third") is not None
    assert [lost.is_set() for lost in many if lost is not None] == [False, True, True]
    assert places.take("fourth") is None, "all others have one socket too"
    places.leave("other", other)
    assert places.take("fourth") is not None


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


def test_who_reserves_waits_until_it_is_paid_for() -> None:
    clock = Seconds()
    bucket = TokenBucket(2, 2, clock)
    assert [bucket.reserve(1) for _ in range(4)] == [0.0, 0.0, 0.5, 1.0]
    assert bucket.reserve(1000) == 1.0, "no debt is larger than what is allowed at once"
    clock.now = 1.5
    assert bucket.reserve(1) == 0.0


def test_names_do_not_share() -> None:
    table = BucketTable(1, 0, Seconds())
    assert [table.take(name) for name in ("a", "b", "a")] == [True, True, False]


def test_a_table_forgets_the_names_not_used_for_longest() -> None:
    table = BucketTable(1, 0, Seconds(), most=2)
    for name in ("a", "b", "c"):
        assert table.take(name)
    assert not table.take("c")
    assert table.take("a")
