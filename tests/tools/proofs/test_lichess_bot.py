"""The proof with the real lichess-bot, as far as it goes without one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest
import yaml

from obscuro.engine.options import Options
from tests.bots.lichess_server import lichess_serving
from tests.bots.server import TOKEN
from tools.common import ROOT
from tools.proofs.bot_scenarios import (
    SCENARIOS,
    BotClient,
    BridgeClient,
    CheckoutError,
    ClientStage,
    LichessBotClient,
    StageError,
)
from tools.proofs.lichess_bot import main, render

URL = "http://127.0.0.1:1"
HANDLERS = ROOT / "docs" / "examples" / "lichess_bot" / "extra_game_handlers.py"


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the files that the tool looks for."""
    folder = tmp_path / "checkout"
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    (folder / "lichess-bot.py").write_text("print('hello')\n")
    (folder / "extra_game_handlers.py").write_text("theirs = True\n")
    git(folder, "init", "-q")
    git(folder, "add", "lichess-bot.py", "extra_game_handlers.py")
    git(folder, "commit", "-qm", "all")
    return folder


@pytest.fixture
def client(checkout: Path, tmp_path: Path) -> LichessBotClient:
    return LichessBotClient(tmp_path / "copy", checkout, checkout / ".venv/bin/python")


def test_only_the_handlers_of_the_copy_are_ours(client: LichessBotClient, checkout: Path) -> None:
    assert (client.folder / "lichess-bot.py").read_text() == "print('hello')\n"
    assert (client.folder / "extra_game_handlers.py").read_text() == HANDLERS.read_text()
    assert (checkout / "extra_game_handlers.py").read_text() == "theirs = True\n"
    assert not (client.folder / ".venv").exists()


def test_a_changed_checkout_is_refused(client: LichessBotClient, checkout: Path) -> None:
    assert " of 20" in client.version()
    (checkout / "lichess-bot.py").write_text("print('changed')\n")
    with pytest.raises(CheckoutError, match="changed files"):
        client.version()


@pytest.mark.parametrize("missing", ["lichess-bot.py", ".venv/bin/python"])
def test_what_is_missing_is_one_line(
    checkout: Path, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / missing).unlink()
    with pytest.raises(SystemExit) as left:
        main(["--lichess-bot", str(checkout)])
    assert left.value.code == 2
    assert str(checkout) in capsys.readouterr().err.splitlines()[-1]


def test_the_configuration_has_the_engine_and_not_the_token(client: LichessBotClient) -> None:
    client.configure(URL)
    text = (client.folder / "config.yml").read_text()
    settings = yaml.safe_load(text)
    assert TOKEN not in text
    assert settings["url"] == f"{URL}/"
    assert (Path(settings["engine"]["dir"]) / settings["engine"]["name"]).is_file()
    options = Options()
    for name, value in settings["engine"]["uci_options"].items():
        if name != "go_commands":
            options.set(name, str(value))


def test_a_token_that_is_written_is_found(client: LichessBotClient) -> None:
    log = client.folder / "all.log"
    log.write_text("all is well\n")
    assert not client.shows_token()
    log.write_text(f"Bearer {TOKEN}\n")
    assert client.shows_token()


def test_no_token_is_in_a_command(client: LichessBotClient, tmp_path: Path) -> None:
    for each in (client, BridgeClient(tmp_path)):
        assert TOKEN not in " ".join(each.command(URL))
        assert TOKEN in each.environment().values()


class SilentClient(BotClient):
    """A client that does nothing."""

    name = "silent"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[ClientStage]:
    with lichess_serving() as server:
        yield ClientStage(server, SilentClient(tmp_path))


def test_a_bot_that_does_nothing_does_not_pass(stage: ClientStage) -> None:
    game = stage.server.new_game(chess.WHITE)
    with pytest.raises(StageError, match="no move within 0 s"):
        stage.expect("move", lambda: game.moves, 0.0)


def test_the_opponent_leaves_the_king_alone(stage: ClientStage) -> None:
    game = stage.server.new_game(chess.WHITE)
    for move in ("e2e4", "d7d5", "e1e2", "c8g4", "a2a3"):
        game.board.push_uci(move)
    stage.reply(game)
    assert game.board.king(chess.WHITE) is not None
    assert len(game.moves) == 6


def test_a_row_for_each_scenario_and_bold_for_what_failed() -> None:
    rows = [
        {"name": SCENARIOS[0].name, "passed": True, "said": "won"},
        {"name": SCENARIOS[1].name, "passed": False, "said": "no move"},
    ]
    lines = list(render({"version": "abc", "clients": {"one": rows, "two": rows[:1]}}))
    assert lines[0].startswith("lichess-bot abc, unchanged")
    assert f"| {SCENARIOS[0].what} | won | won |" in lines
    assert f"| {SCENARIOS[1].what} | **no move** |  |" in lines
