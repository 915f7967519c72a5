"""`obscuro web`: what it refuses, what it says, and that it starts and ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from obscuro.cli import web_command
from obscuro.cli.arguments import parse
from obscuro.cli.command_support import CommandError
from obscuro.cli.web_command import announce, data_folder, engine_options, run
from tests.hanging import HANG_SECONDS


def refusal(*words: str) -> str:
    """Return the line with which a command is refused."""
    with pytest.raises(CommandError) as caught:
        run(parse(["web", *words]))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--option", "Stockfish=/bin/sh"], "--option Stockfish"),
        (["--option", "UCI_Elo=1000"], "--option UCI_Elo"),
        (["--option", "Stalemate=draw"], "--option Stalemate"),
        (["--option", "Threads"], "NAME=VALUE"),
        (["--option", "No Such=1"], "No Such"),
        (["--port", "70000"], "ports end at 65535"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str) -> None:
    """A game sets its own options, and no option may name a program."""
    assert message in refusal(*words)


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = refusal("--port", port, "--data", str(tmp_path))
    assert f"can't listen on 127.0.0.1, port {port}" in line


def test_a_folder_that_can_not_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "can't keep games in" in refusal("--port", "0", "--data", str(tmp_path / "file"))


def test_a_game_has_one_thread_unless_another_number_is_given() -> None:
    assert engine_options({})["Threads"] == "1"
    assert engine_options({"threads": "2"})["Threads"] == "2"


def test_games_are_kept_in_the_users_folder_unless_another_is_given(tmp_path: Path) -> None:
    assert data_folder(str(tmp_path)) == tmp_path
    assert data_folder(None).parts[-2:] == ("obscuro", "web")


def test_the_address_is_printed_and_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(web_command.webbrowser, "open", opened.append)
    announce("http://127.0.0.1:1/", open_browser=True)
    announce("http://127.0.0.1:2/", open_browser=False)
    assert opened == ["http://127.0.0.1:1/"]
    assert capsys.readouterr().out.splitlines() == [
        "obscuro: the board is at http://127.0.0.1:1/ (Ctrl-C ends)",
        "obscuro: the board is at http://127.0.0.1:2/ (Ctrl-C ends)",
    ]


def test_it_serves_the_start_page_until_a_signal(tmp_path: Path) -> None:
    words = ["web", "--port", "0", "--no-browser", "--data", str(tmp_path), "--host", "0.0.0.0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "obscuro.cli.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].split()[0]
        assert httpx.get(url).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=HANG_SECONDS)
        assert process.returncode == 0
        assert "whoever reaches 0.0.0.0 can play" in said
    finally:
        process.kill()
        process.wait()


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "uvicorn is not installed; run: " in refusal()
