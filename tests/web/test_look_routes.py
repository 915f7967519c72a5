"""Looking at games over HTTP and sockets: who sees what, files, watching, advice, analyses."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from obscuro.client.engine import Think
from obscuro.viewer.game_file import (
    KEPT_LIMITS,
    TEXT_LIMITS,
    GamesOfText,
    TextLimits,
    games_of_text,
)
from obscuro.viewer.make_document import make_document
from obscuro.web.look import watched_games
from obscuro.web.look.file_reader import FileReader, ReadFile
from obscuro.web.look.look_store import FILE
from obscuro.web.look.watched_game import LookLimits
from obscuro.web.web_requests import TOO_BUSY, UNKNOWN_GAME
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.viewer.recorded import ADVICE, SHORT_GAME
from tests.web.rooms import (
    ORIGIN,
    QUICK,
    QuickAnalyst,
    browser,
    is_over,
    join,
    move,
    my_turn,
    quick_app,
    scripted,
    start_game,
    until,
)

MOVES = ["e2e4", "f7f6", "d1h5", "a7a6", "h5e8"]
HOSTILE = "<img src=x onerror=alert(1)></script>"


def look(client: TestClient, game: str) -> WebSocketTestSession:
    """Return the socket of one who looks, for a `with` statement."""
    return client.websocket_connect(f"ws://localhost/ws/look/{game}")


def first(socket: WebSocketTestSession, kind: str) -> dict[str, Any]:
    """Return the first message of a kind; no error may come before it."""
    while True:
        message: dict[str, Any] = socket.receive_json()
        if message["type"] == kind:
            return message
        assert message["type"] != "error", message


def document_of(client: TestClient, game: str) -> dict[str, Any]:
    response = client.get(f"/api/games/{game}/document")
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def stranger(app: Starlette) -> TestClient:
    """Another visitor of the same server."""
    return TestClient(app, base_url=ORIGIN, headers={"origin": ORIGIN})


def opened(client: TestClient, text: str = SHORT_GAME) -> str:
    """Open a file and return the id of its first game."""
    response = client.post("/api/files", content=text)
    assert response.status_code == 201, response.text
    return str(response.json()["games"][0]["game"])


class Stepper:
    """Two engines that make the moves of MOVES, each when it may, and all after a `with` block."""

    def __init__(self) -> None:
        self.left = list(MOVES)
        self.may = threading.Semaphore(0)

    def mover(self) -> QuickMover:
        return QuickMover(self._pick)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.may.release(len(self.left))

    def _pick(self, think: Think) -> str:
        assert self.may.acquire(timeout=HANG_SECONDS)
        return self.left.pop(0)


def assert_outside_of_a_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


def start_match(client: TestClient) -> str:
    response = client.post("/api/matches", json={"move": 0.05})
    assert response.status_code == 201, response.text
    return str(response.json()["game"])


class TestAPersonsGame:
    def test_is_shown_to_nobody_while_it_goes_on(self, tmp_path: Path) -> None:
        app = quick_app(tmp_path, make_analyst=QuickAnalyst)
        with browser(app) as client:
            game = start_game(client)
            answers = [
                client.get(f"/api/games/{game}/document"),
                client.get(f"/api/games/{game}/pgn"),
                client.post(f"/api/games/{game}/advice", json={"ply": 0}),
                client.post(f"/api/games/{game}/analysis"),
            ]
            for answer in answers:
                assert (answer.status_code, answer.json()) == (
                    409,
                    {"error": "the game is not over"},
                )
            with look(client, game) as socket:
                assert socket.receive_json() == {"type": "error", "error": "the game is not over"}
                with pytest.raises(WebSocketDisconnect) as closed:
                    socket.receive_json()
            assert closed.value.code == UNKNOWN_GAME

    def test_is_shown_to_its_player_once_it_is_over(self, tmp_path: Path) -> None:
        app = quick_app(tmp_path, lambda: QuickMover(scripted(MOVES[1::2])))
        with browser(app) as client:
            game = start_game(client)
            with join(client, game) as socket:
                for uci in MOVES[::2]:
                    socket.send_json(move(until(socket, my_turn), uci))
                until(socket, is_over)
            pgn = client.get(f"/api/games/{game}/pgn").text
            document = document_of(client, game)
            (of_text,) = games_of_text(pgn).games
            assert document == make_document(of_text, LookLimits().finished)
            assert [each["uci"] for each in document["moves"]] == MOVES
            with look(client, game) as socket:
                assert first(socket, "document")["document"] == document
            for path in ("document", "pgn"):
                assert stranger(app).get(f"/api/games/{game}/{path}").status_code == 404


class TestFiles:
    def test_are_games_of_the_visitor(self, tmp_path: Path) -> None:
        app = quick_app(tmp_path)
        with browser(app) as client:
            text = f'{SHORT_GAME}\n[Variant "Atomic"]\n\n1. e4 *\n\n1. d4 *\n'
            answer = client.post("/api/files", content=text).json()
            assert [(each["white"], each["result"]) for each in answer["games"]] == [
                ("A & <b>B</b>", "1-0"),
                ("?", "*"),
            ]
            assert answer["faults"] == ["game 2: its variant is 'Atomic', not 'Fog of War'"]
            game = answer["games"][0]["game"]
            document = document_of(client, game)
            (of_text,) = games_of_text(SHORT_GAME).games
            assert document == make_document(of_text, LookLimits().finished)
            rows = client.get("/api/games").json()
            assert {row["game"] for row in rows} == {each["game"] for each in answer["games"]}
            assert {row["plies"] for row in rows} == {5, 1}
            king = {"ply": 4, "text": "3. Qxe8# captured Black's king, unseen"}
            assert [each["moments"] for each in answer["games"]] == [[king], []]
            (worst, then) = next(row["moments"] for row in rows if row["game"] == game)
            assert then == king and worst["text"].endswith(" points of 100")
            assert stranger(app).get(f"/api/games/{game}/document").status_code == 404
        with browser(quick_app(tmp_path)) as later:  # the server has been started again
            later.cookies = client.cookies
            assert document_of(later, game) == document

    def test_texts_of_strangers_stay_texts(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path)) as client:
            game = opened(client, f'[White "{HOSTILE}"]\n\n1. e4 {{ {HOSTILE} }} *\n')
            document = document_of(client, game)
            assert document["white"] == document["moves"][0]["text"] == HOSTILE
            assert HOSTILE not in client.get(f"/look/{game}").text

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            (b"", 400, "the text holds no game"),
            (b"\xff\x00\xfe<script>", 400, "neither headers nor moves"),
            (b"1. e4 e5 2. Ke3 *", 400, "game 1, ply 3: 'Ke3' can't be played here"),
            (b"x" * ((1 << 20) + 1), 413, "the most is 1048576 bytes"),
        ],
    )
    def test_that_are_none_are_refused_in_a_line(
        self, tmp_path: Path, body: bytes, status: int, error: str
    ) -> None:
        with browser(quick_app(tmp_path)) as client:
            answer = client.post("/api/files", content=body)
            assert answer.status_code == status
            assert error in answer.json()["error"] and "\n" not in answer.json()["error"]

    def test_can_be_opened_again_however_long_their_lines_become(self, tmp_path: Path) -> None:
        """Each line of the file is short enough; a single line with all of them is not."""
        comment = "x" * (TEXT_LIMITS.line - 100)
        text = "".join(f"{ply}\n{{{comment}}}\n" for ply in ("1. e4", "1... e5", "2. Nf3")) + "*\n"
        with browser(quick_app(tmp_path, make_analyst=QuickAnalyst)) as client:
            game = opened(client, text)
            document = document_of(client, game)
            assert [each["text"] for each in document["moves"]] == [comment] * 3
            pgn = client.get(f"/api/games/{game}/pgn")
            assert (pgn.status_code, pgn.text.count(comment)) == (200, 3)
            assert client.post(f"/api/games/{game}/advice", json={"ply": 1}).status_code == 200
        with browser(quick_app(tmp_path)) as later:
            later.cookies = client.cookies
            with look(later, game) as socket:
                assert first(socket, "document")["document"] == document

    @pytest.mark.parametrize(
        "damaged",
        ["", "1. e4 e5 2. Ke3 *", '[Variant "Atomic"]\n\n1. e4 *', "x" * (KEPT_LIMITS.line + 1)],
        ids=["nothing", "illegal", "variant", "line"],
    )
    def test_that_can_no_longer_be_read_are_told_in_a_line(
        self, tmp_path: Path, damaged: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        with browser(quick_app(tmp_path, make_analyst=QuickAnalyst)) as client:
            game = opened(client)
            with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
                file.execute("UPDATE games_of_files SET pgn = ?", (damaged,))
            for answer in (
                client.get(f"/api/games/{game}/document"),
                client.get(f"/api/games/{game}/pgn"),
                client.post(f"/api/games/{game}/advice", json={"ply": 0}),
                client.post(f"/api/games/{game}/analysis"),
            ):
                assert answer.status_code == 409
                assert answer.json()["error"].startswith("the game can't be read: ")
            with look(client, game) as socket:
                assert "the game can't be read: " in socket.receive_json()["error"]
                with pytest.raises(WebSocketDisconnect) as closed:
                    socket.receive_json()
            assert closed.value.code == UNKNOWN_GAME
            assert client.get("/api/games").status_code == 200
        assert "Traceback" not in caplog.text

    def test_are_read_outside_of_the_event_loop(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A stranger's file by another process, a kept game by a thread: moves do not wait."""
        read = FileReader.read

        def read_file(reader: FileReader, text: bytes) -> ReadFile:
            assert_outside_of_a_loop()
            return read(reader, text)

        def read_kept(text: str, limits: TextLimits) -> GamesOfText:
            assert_outside_of_a_loop()
            return games_of_text(text, limits)

        monkeypatch.setattr(FileReader, "read", read_file)
        monkeypatch.setattr(watched_games, "games_of_text", read_kept)
        with browser(quick_app(tmp_path)) as client:
            game = opened(client)
            document_of(client, game)
            assert client.get(f"/api/games/{game}/pgn").status_code == 200

    @pytest.mark.parametrize("game", ["abcdefghijkl", "x", "..%2f..%2fetc", "ABCDEFGHIJKL"])
    def test_there_is_no_game_of_an_unknown_id(self, tmp_path: Path, game: str) -> None:
        with browser(quick_app(tmp_path)) as client:
            assert client.get(f"/api/games/{game}/document").status_code == 404


class TestLimits:
    def test_games_of_two_engines_are_opened_so_often_at_most(self, tmp_path: Path) -> None:
        """Each time both beliefs are worked out anew."""
        limits = replace(QUICK, look_burst=3, look_rate=0)
        stepper = Stepper()
        with browser(quick_app(tmp_path, stepper.mover, limits=limits)) as client, stepper:
            game = start_match(client)
            paths = ["document", "pgn", "document", "document", "pgn"]
            answers = [client.get(f"/api/games/{game}/{path}") for path in paths]
            assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
            assert answers[-1].json() == {"error": "too many games were opened; wait a little"}
            with look(client, game) as socket:
                assert socket.receive_json()["error"] == answers[-1].json()["error"]
                with pytest.raises(WebSocketDisconnect) as closed:
                    socket.receive_json()
            assert closed.value.code == TOO_BUSY

    def test_a_game_that_is_open_is_not_worked_out_again(self, tmp_path: Path) -> None:
        limits = replace(QUICK, look_burst=1, look_rate=0)
        stepper = Stepper()
        with browser(quick_app(tmp_path, stepper.mover, limits=limits)) as client, stepper:
            game = start_match(client)
            with look(client, game) as socket:
                first(socket, "document")
                for _ in range(3):
                    document_of(client, game)

    def test_an_address_looks_at_so_many_games_at_most(self, tmp_path: Path) -> None:
        limits = replace(QUICK, looked_at=2)
        app = quick_app(tmp_path, limits=limits)
        with browser(app) as client, ExitStack() as sockets:
            games = [opened(client) for _ in range(3)]
            for game in games[:2]:
                first(sockets.enter_context(look(client, game)), "document")
            refused = client.get(f"/api/games/{games[2]}/document")
            assert refused.status_code == 429
            assert refused.json() == {"error": "you look at 2 games, which is the most; close one"}
            assert client.get(f"/api/games/{games[0]}/document").status_code == 200
            sockets.close()
            assert document_of(client, games[2])

    def test_the_address_that_looks_at_most_games_makes_place_for_others(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watched_games, "MOST_WATCHED", 2)
        with browser(quick_app(tmp_path)) as client, ExitStack() as sockets:
            games = [opened(client) for _ in range(3)]
            seen = [sockets.enter_context(look(client, game)) for game in games[:2]]
            for socket in seen:
                first(socket, "document")
            other = TestClient(
                client.app, base_url=ORIGIN, headers={"origin": ORIGIN}, client=("10.1.1.1", 1)
            )
            other.cookies = client.cookies
            other.portal = client.portal  # one event loop for both
            document_of(other, games[2])
            with pytest.raises(WebSocketDisconnect):
                seen[1].receive_json()
            assert client.get(f"/api/games/{games[0]}/document").status_code == 200


class TestTwoEngines:
    def test_all_who_watch_get_each_ply_as_it_is_played(self, tmp_path: Path) -> None:
        stepper = Stepper()
        app = quick_app(tmp_path, stepper.mover, make_analyst=QuickAnalyst)
        with browser(app) as client:
            game = start_match(client)
            with look(client, game) as one, look(client, game) as other:
                start = first(one, "document")
                assert start["live"] and not start["can_ask"]
                assert len(start["document"]["positions"]) == 1
                assert first(other, "document") == start
                positions, moves = start["document"]["positions"], []
                for uci in MOVES[:3]:
                    stepper.may.release()
                    ply = first(one, "ply")
                    assert first(other, "ply") == ply
                    assert ply["move"]["uci"] == uci
                    positions.append(ply["position"])
                    moves.append(ply["move"])
                with look(client, game) as late:
                    so_far = first(late, "document")["document"]
                    assert so_far["positions"] == positions
                    assert so_far["moves"] == moves
                assert client.post(f"/api/games/{game}/advice", json={"ply": 0}).json() == {
                    "error": "the game is not over"
                }
                for _ in MOVES[3:]:
                    stepper.may.release()
                    positions.append(first(one, "ply")["position"])
                end = first(one, "end")
                assert (end["result"], end["ending"]) == ("1-0", "king captured")
                assert end["can_ask"]
                assert first(other, "end") == end
                whole = document_of(client, game)
                assert (whole["positions"], whole["moves"]) == (positions, end["moves"])

    def test_are_watched_by_anybody_who_knows_the_game(self, tmp_path: Path) -> None:
        stepper = Stepper()
        app = quick_app(tmp_path, stepper.mover)
        with browser(app) as client:
            game = start_match(client)
            client.cookies.clear()
            with look(client, game) as socket:
                first(socket, "document")
                stepper.may.release()
                first(socket, "ply")
            assert len(document_of(client, game)["moves"]) == 1
            stepper.may.release(10)


class TestTheEngine:
    def test_says_what_it_would_play(self, tmp_path: Path) -> None:
        analyst = QuickAnalyst()
        with browser(quick_app(tmp_path, make_analyst=lambda: analyst)) as client:
            game = opened(client)
            answer = client.post(f"/api/games/{game}/advice", json={"ply": 3})
            assert (answer.status_code, answer.json()) == (200, ADVICE)
            assert analyst.asked == [3]
            refused = client.post(f"/api/games/{game}/advice", json={"ply": 99})
            assert refused.status_code == 409
            assert refused.json() == {"error": "the game has 5 plies, and no ply 99"}

    @pytest.mark.parametrize(
        "wish", [None, [], {}, {"ply": "3"}, {"ply": True}, {"ply": 1, "x": 1}]
    )
    def test_is_asked_about_a_ply(self, tmp_path: Path, wish: object) -> None:
        with browser(quick_app(tmp_path, make_analyst=QuickAnalyst)) as client:
            game = opened(client)
            assert client.post(f"/api/games/{game}/advice", json=wish).status_code == 400

    def test_is_not_asked_too_often(self, tmp_path: Path) -> None:
        app = quick_app(tmp_path, make_analyst=QuickAnalyst, clock=lambda: 0.0)
        with browser(app) as client:
            game = opened(client)
            codes = [
                client.post(f"/api/games/{game}/advice", json={"ply": 0}).status_code
                for _ in range(round(LookLimits().advice_burst) + 1)
            ]
            assert codes == [200] * (len(codes) - 1) + [429]

    def test_analyses_a_game_and_the_analysis_is_kept(self, tmp_path: Path) -> None:
        with browser(quick_app(tmp_path, make_analyst=QuickAnalyst)) as client:
            game = opened(client)
            with look(client, game) as socket:
                assert first(socket, "document")["can_ask"]
                assert client.post(f"/api/games/{game}/analysis").status_code == 202
                assert first(socket, "progress") == {
                    "type": "progress",
                    "what": "analysis",
                    "done": 0,
                    "of": 5,
                }
                assert first(socket, "moves")["moves"][0]["advice"] == ADVICE
                told = first(socket, "analysed")
                assert told["analysis"] == {"by": "Quick", "limit": "1 s a move"}
                assert [each["advice"] for each in told["moves"]] == [ADVICE] * 5
                assert any(each["loss"] and each["loss"]["analysed"] for each in told["moves"])
            again = client.post(f"/api/games/{game}/analysis")
            assert (again.status_code, again.json()) == (
                409,
                {"error": "the game has been analysed"},
            )
        with browser(quick_app(tmp_path)) as later:
            later.cookies = client.cookies
            document = document_of(later, game)
            assert document["moves"] == told["moves"]
            assert later.post(f"/api/games/{game}/analysis").status_code == 409

    def test_that_fails_is_told_and_may_be_tried_again(self, tmp_path: Path) -> None:
        analyst = QuickAnalyst(fails=True)
        with browser(quick_app(tmp_path, make_analyst=lambda: analyst)) as client:
            game = opened(client)
            with look(client, game) as socket:
                first(socket, "document")
                for _ in range(2):
                    assert client.post(f"/api/games/{game}/analysis").status_code == 202
                    first(socket, "progress")
                    assert socket.receive_json() == {
                        "type": "error",
                        "error": "can't start the engine",
                        "analysing": False,
                    }

    def test_who_comes_during_an_analysis_gets_what_is_found(self, tmp_path: Path) -> None:
        analyst = QuickAnalyst(hold=True)
        with browser(quick_app(tmp_path, make_analyst=lambda: analyst)) as client:
            game = opened(client)
            assert client.post(f"/api/games/{game}/analysis").status_code == 202
            with look(client, game) as socket:
                assert first(socket, "document")["analysing"]
                analyst.go_on.set()
                first(socket, "analysed")

    def test_is_ended_when_nobody_looks_and_when_the_server_ends(self, tmp_path: Path) -> None:
        made: list[QuickAnalyst] = []

        def make() -> QuickAnalyst:
            made.append(QuickAnalyst())
            return made[-1]

        with browser(quick_app(tmp_path, make_analyst=make)) as client:
            game = opened(client)
            with look(client, game) as socket:
                first(socket, "document")
                assert client.post(f"/api/games/{game}/advice", json={"ply": 0}).is_success
            assert client.post(f"/api/games/{game}/advice", json={"ply": 0}).is_success
        assert [each.closed for each in made] == [1] * len(made)
