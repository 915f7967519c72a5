"""The proof on the real pychess server, as far as it can be tried without one."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import chess
import pytest

pytest.importorskip("websockets", reason="websockets is not installed: make setup")

from websockets.sync.server import ServerConnection, serve

from obscuro.cli.arguments import parse
from obscuro.cli.bridge_file import with_file
from tests.processes import is_running
from tools.proofs import real_pychess
from tools.proofs.pychess import processes, whole_run
from tools.proofs.pychess.human import Human, HumanGame, session_cookie
from tools.proofs.pychess.processes import TOKEN, BridgeProcess, Child, NotAsExpectedError, until
from tools.proofs.pychess.stage import Row, Scenario, Stage, play
from tools.proofs.pychess.whole_run import SCENARIOS

FOG_START = "********/********/********/********/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
BLOCKED = "********/********/********/********/*7/*7/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
"""Something stands in front of the pawn on a2."""


# -- the command line and the table ---------------------------------------------------------------


def test_scenarios_have_different_names() -> None:
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS) > 30


def test_the_list_needs_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert real_pychess.main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [scenario.name for scenario in SCENARIOS]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--server and --python are needed"),
        (["--server", "/", "--python", sys.executable], "no checkout of pychess-variants"),
        (["--server", "CHECKOUT", "--python", "/none"], "there is no such file"),
        (["--server", "CHECKOUT", "--python", sys.executable, "--only", "x"], "no such scenario"),
    ],
)
def test_mistakes_are_told(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = make_checkout(tmp_path)
    with pytest.raises(SystemExit):
        real_pychess.main([str(checkout) if word == "CHECKOUT" else word for word in words])
    assert message in capsys.readouterr().err


def test_an_interpreter_without_the_servers_packages_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = make_checkout(tmp_path)
    words = ["--server", str(checkout), "--python", sys.executable, "--only", "abort"]
    assert real_pychess.main(words) == real_pychess.UNUSABLE
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("real_pychess: the server does not start: ModuleNotFoundError")


def make_checkout(tmp_path: Path) -> Path:
    (tmp_path / "checkout" / "server").mkdir(parents=True)
    (tmp_path / "checkout" / "server" / "server.py").touch()
    return tmp_path / "checkout"


def test_the_table_shows_what_failed() -> None:
    good = Row("good", "a | b", "c", "d", True, 1.4)._asdict()
    bad = Row("bad", "a", "b", "c", False, 58.6)._asdict()
    lines = list(real_pychess.render({"server": "abc of 2026-08-22", "rows": [good, bad]}))
    assert lines[2:4] == [
        "| good | a \\| b | c | d | yes | 1 |",
        "| bad | a | b | c | **no** | 59 |",
    ]
    assert lines[-2] == "1 of 2 ended as expected, in 1 minutes."


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_tells_whether_all_passed(
    passed: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_all(checkout: Path, interpreter: Path, wanted: Any, folder: Path) -> list[Row]:
        return [Row(each.name, "", "", "", passed, 0.0) for each in wanted]

    monkeypatch.setattr(whole_run, "play_all", play_all)
    words = ["--server", str(make_checkout(tmp_path)), "--python", sys.executable]
    file = tmp_path / "raw.json"
    assert real_pychess.main([*words, "--only", "abort", "chat", "--raw", str(file)]) == code
    stored = json.loads(file.read_text(encoding="utf-8"))["data"]
    assert [row["name"] for row in stored["rows"]] == ["abort", "chat"]


# -- scenarios ------------------------------------------------------------------------------------


class EmptyStage(Stage):
    """A stage on which nothing runs."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def make_ready(self) -> None:
        self.steps.append("ready")

    def clear(self) -> None:
        self.steps.append("cleared")


def failing(error: Exception) -> Callable[[Stage], str]:
    def act(stage: Stage) -> str:
        raise error

    return act


def test_what_is_expected_passes_and_leaves_the_stage() -> None:
    stage = EmptyStage()
    row = play(Scenario("a", "b", "c", lambda stage: "d"), stage)
    assert row[:5] == ("a", "b", "c", "d", True)
    assert stage.steps == ["ready"]


@pytest.mark.parametrize("error", [NotAsExpectedError("no\nmove"), OSError("no move")])
def test_what_is_not_expected_is_a_row_and_the_stage_is_cleared(error: Exception) -> None:
    stage = EmptyStage()
    row = play(Scenario("a", "b", "c", failing(error)), stage)
    assert row[3:5] == ("no move", False)
    assert stage.steps == ["ready", "cleared"]


def test_a_mistake_of_the_proof_itself_is_no_row() -> None:
    with pytest.raises(KeyError):
        play(Scenario("a", "b", "c", failing(KeyError("x"))), EmptyStage())


# -- processes ------------------------------------------------------------------------------------


PARENT = """
import signal, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print("started", flush=True)
signal.pause()
"""


def test_a_child_is_killed_with_what_it_started(tmp_path: Path) -> None:
    child = Child([sys.executable, "-c", PARENT], {}, tmp_path / "out")
    until(lambda: "started" in child.said(), 30.0, "its line")
    family = [each.pid for each in child.family()]
    assert len(family) == 2
    child.kill_all()
    assert not any(map(is_running, family))
    assert child.family() == []


def test_a_child_that_ends_in_time_has_an_exit_code(tmp_path: Path) -> None:
    code = "import os; print(os.environ['COLOUR']); raise SystemExit(3)"
    child = Child([sys.executable, "-c", code], {"COLOUR": "white"}, tmp_path / "out")
    assert child.wait(30.0) == 3
    assert child.said() == "white\n"


def test_what_does_not_come_is_named() -> None:
    with pytest.raises(NotAsExpectedError, match="the moon did not come within 0 s"):
        until(lambda: False, 0.0, "the moon")


def test_the_bridge_gets_the_token_by_its_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(
        processes, "Child", lambda command, added, output: started.append((command, added))
    )
    BridgeProcess("http://127.0.0.1:1", "secret", tmp_path, []).launch()
    ((command, added),) = started
    assert added[TOKEN] == "secret" and "secret" not in " ".join(command)
    words = with_file(parse(list(command[command.index("bridge") :])))
    assert words.url == "http://127.0.0.1:1" and words.en_passant == "hidden"


# -- the human ------------------------------------------------------------------------------------


class Table:
    """A server with one board. It refuses some moves, and lets the bot answer to the others."""

    def __init__(self, fen: str = FOG_START, refused: str = "") -> None:
        self.board = {"ply": 0, "fen": fen, "tp": "Ann", "clocks": [9, 9], "status": -1}
        self.refused = refused.split()
        self.moves: list[str] = []
        self.cookies: list[str] = []

    def handle(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.cookies.append(connection.request.headers["Cookie"])
        for text in connection:
            if text != "/n":
                for answer in self.answers(json.loads(text)):
                    connection.send(json.dumps(answer))

    def answers(self, said: dict[str, Any]) -> Iterator[dict[str, Any]]:
        board = self.board
        if said["type"] == "create_bot_challenge":
            yield {"type": "bot_challenge_created", "gameId": "abcdefgh"}
        elif said["type"] == "board":
            yield {"type": "board", "result": "*", **board}
        elif said["type"] == "move":
            if said["move"] not in self.refused:
                self.moves.append(said["move"])
                board["ply"] = said["ply"]
            yield {"type": "board", "result": "*", **board}
        elif said["type"] == "takeback":
            board["ply"] -= 2
            yield {"type": "board", "result": "*", **board, "takeback": True}
        elif said["type"] == "resign":
            board |= {"status": 2, "result": "0-1"}
            yield {"type": "gameEnd", **board}


@contextlib.contextmanager
def sitting_at(table: Table) -> Iterator[HumanGame]:
    with serve(table.handle, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        human = Human(f"http://127.0.0.1:{server.socket.getsockname()[1]}", "Ann", "Bot")
        try:
            yield human.play("w")
        finally:
            human.leave()
            server.shutdown()


def test_the_cookie_is_the_one_that_the_session_reads() -> None:
    (morsel,) = SimpleCookie(session_cookie("Ann")).values()
    assert morsel.key == "AIOHTTP_SESSION"
    assert json.loads(morsel.value)["session"] == {"user_name": "Ann"}


def test_the_human_is_logged_in_on_every_connection() -> None:
    table = Table()
    with sitting_at(table) as game:
        assert game.name == "abcdefgh"
    assert len(table.cookies) == 2 and all("Ann" in cookie for cookie in table.cookies)


def test_calm_moves_go_on_where_the_server_refuses_one() -> None:
    table = Table(refused="a2a3")
    with sitting_at(table) as game:
        assert game.calm_move() == "h2h3"
        assert game.calm_move(avoid="b2b3") == "h2h3"
    assert table.moves == ["h2h3", "h2h3"]


def test_moves_onto_squares_that_are_not_seen_are_not_tried() -> None:
    with sitting_at(Table(BLOCKED)) as game:
        assert game.calm_move() == "h2h3"


def test_any_move_may_be_a_random_one_but_none_into_the_dark() -> None:
    table = Table()
    with sitting_at(table) as game:
        for _ in range(10):
            game.random_move()
    legal = {move.uci() for move in chess.Board().legal_moves}
    assert len(set(table.moves)) > 5 and set(table.moves) <= legal


def test_the_ply_after_a_takeback_and_the_end_are_the_servers() -> None:
    with sitting_at(Table()) as game:
        game.move("a2a3")
        game.move("b2b3")
        assert (game.take_back(), game.our_turn, game.over, game.result) == (0, True, False, "*")
        game.resign()
        assert (game.over, game.result) == (True, "0-1 resigned")
        with pytest.raises(NotAsExpectedError, match="over before its time: 0-1 resigned"):
            game.wait_for_turn()
