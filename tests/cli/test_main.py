"""The command line as a whole: what it loads, help, versions, and errors of one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from obscuro.cli.arguments import parse
from obscuro.cli.main import main
from obscuro.players.roster import PLAYERS
from obscuro.version import full_version
from tests.hanging import HANG_SECONDS

COMMAND = [sys.executable, "-P", "-m", "obscuro.cli.main"]


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )


UCI_IS_ANSWERED_WITHOUT = {"numba", "numpy", "rich", "chess.engine", "llvmlite"}


@pytest.mark.parametrize(
    ("arguments", "not_loaded"),
    [
        ([], {*UCI_IS_ANSWERED_WITHOUT, "argparse"}),
        (["uci"], {*UCI_IS_ANSWERED_WITHOUT, "argparse"}),
        *((["uci", "--player", name], UCI_IS_ANSWERED_WITHOUT) for name in PLAYERS),
    ],
)
def test_uci_is_answered_before_anything_heavy_is_loaded(
    arguments: list[str], not_loaded: set[str]
) -> None:
    code = (
        "import sys\n"
        "from obscuro.cli.main import main\n"
        f"main({arguments})\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        input="uci\nquit\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert "uciok" in result.stdout
    loaded = set(result.stderr.split())
    assert not loaded & not_loaded


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"obscuro {full_version()}\n"


COMMANDS = (
    *("uci", "play", "demo", "match", "tournament", "show", "bridge", "mistboard", "web"),
    *("replay", "bench", "warmup", "doctor"),
)


def test_help_names_every_command_and_each_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], *([command] for command in COMMANDS)):
        with pytest.raises(SystemExit, match="0"):
            main([*words, "--help"])
    text = capsys.readouterr().out
    assert "examples:" in text
    for command in COMMANDS:
        assert re.search(rf"\n    {command}\s", text)
        assert f"usage: obscuro {command} " in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--movetime", "fast"], "'fast' is not a whole number"),
        (["demo", "--movetime", "0"], "0 is less than 1"),
        (["play", "--side", "blue"], "'blue' is none of"),
        (["plya"], "'plya' is none of"),
        (["bench", "beleif"], "'beleif' is none of"),
        (["bench", "belief", "--repeat", "0"], "0 is less than 1"),
        (["match", "random"], "the following arguments are required: B"),
    ],
)
def test_bad_arguments_end_with_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_the_log_file_may_stand_before_or_after_uci() -> None:
    for arguments in (["--log", "x"], ["--log", "x", "uci"], ["uci", "--log", "x"]):
        parsed = parse(arguments)
        assert (parsed.command, parsed.log) == ("uci", "x")
    assert parse(["uci"]).log is None


def test_an_error_of_the_user_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "random", "/nowhere/engine", "--games", "1"]) == 2
    captured = capsys.readouterr()
    assert captured.err == (
        "obscuro: '/nowhere/engine' is neither a built-in player "
        "(obscuro, random, greedy, depth1, zs21) nor a program\n"
    )


def test_a_missing_package_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.delitem(sys.modules, "obscuro.cli.warmup_command", raising=False)
    monkeypatch.setattr(
        "importlib.import_module",
        lambda name: (_ for _ in ()).throw(ModuleNotFoundError("no", name="rich")),
    )
    assert main(["warmup"]) == 1
    assert capsys.readouterr().err == "obscuro: rich is not installed; see: obscuro doctor\n"


def test_ctrl_c_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("obscuro.cli.demo_command.run", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "\n"


def test_a_closed_pipe_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [*COMMAND, "match", "random", "random", "--games", "2"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
        cwd=Path(__file__).parents[2],
    )
    os.close(writer)
    assert result.returncode == 1
    assert result.stderr == ""


@pytest.mark.parametrize("words", ["bench --json belief", "bench belief --json"])
def test_bench_takes_json_before_and_after_the_name(words: str) -> None:
    assert parse(words.split()).json
    assert not parse(["bench", "belief"]).json


@pytest.mark.parametrize("arguments", [["doctor"], ["completion", "bash"]])
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, *arguments],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1
