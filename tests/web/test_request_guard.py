"""Only our own pages get through, and every answer has the headers that protect it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.rooms import ORIGIN, browser, quick_app


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
