"""The file of `obscuro bridge --config`."""

from __future__ import annotations

import logging
import threading
import tomllib
from pathlib import Path

import pytest

from obscuro.cli.arguments import parse
from obscuro.cli.bridge_file import keys, template, with_file, write_template
from obscuro.cli.command_support import CommandError, logged
from obscuro.cli.main import main
from tests.bots.server import BOT, TOKEN, serving
from tests.hanging import HANG_SECONDS


def read(tmp_path: Path, text: str, *words: str) -> dict[str, object]:
    path = tmp_path / "bridge.toml"
    path.write_text(text)
    return vars(with_file(parse(["bridge", "--config", str(path), *words])))


def test_without_a_file_nothing_changes() -> None:
    arguments = parse(["bridge", "--games", "3"])
    assert with_file(arguments) is arguments


def test_the_command_line_comes_first(tmp_path: Path) -> None:
    text = 'games = 2\nmost_base = 600\nrated = "casual"\nunlimited = true\nblock = ["A", "B"]'
    found = read(tmp_path, text, "--games", "1", "--block", "C")
    assert (found["games"], found["most_base"], found["rated"]) == (1, 600, "casual")
    assert found["unlimited"] is True and found["quiet"] is False
    assert found["block"] == ["A", "B", "C"]


def test_options_of_the_engine(tmp_path: Path) -> None:
    text = '[engine]\nThreads = 2\n"Move Overhead" = "300"\nUCI_LimitStrength = true'
    found = read(tmp_path, text, "--option", "Threads=1")
    assert found["option"] == [
        "Threads=2",
        "Move Overhead=300",
        "UCI_LimitStrength=true",
        "Threads=1",
    ]


def test_files_lie_beside_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, 'pgn = "games"\nlog = "/var/log/bridge"\ntoken_file = "../token"')
    assert found["pgn"] == str(tmp_path / "games")
    assert found["log"] == "/var/log/bridge"
    assert found["token_file"] == str(tmp_path / "../token")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamez = 1", "unknown key 'gamez'; did you mean games?"),
        ("Most-Base = 1", "unknown key 'Most-Base'; did you mean most_base?"),
        ("token = 'abc'", "unknown key 'token'; did you mean token_file?"),
        ("xyz = 1", "unknown key 'xyz'; the keys are: url, games, "),
        ("games = 0", "games: 0 is less than 1"),
        ("games = 1.5", "games: a text or a whole number, please"),
        ("games = " + "9" * 5000, "bridge.toml: a number has too many digits"),
        ("games = " + "[" * 5000, "bridge.toml: its lists and tables are nested too deep"),
        ("games = true", "games: a text or a whole number, please"),
        ('rated = "never"', "rated: invalid choice: 'never'"),
        ("unlimited = 1", "unlimited: true or false, please"),
        ('block = "one"', "block: a list of texts, please"),
        ('draw_score = "low"', "draw_score: 'low' is neither a whole number nor never"),
        ("engine = 1", "engine: a table of the engine's options, please"),
        ("[engine]\nThreads = []", "engine: Threads: a text, a number, true or false, please"),
        ("games = 1\ngames = 2", "line 2: cannot overwrite a value"),
        ("games", "line 1: "),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bridge.toml"
    path.write_text(text)
    assert main(["bridge", "--config", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"obscuro: {path}") and message in line


def test_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin").write_bytes(b"\xff")
    for name in ("nothing", "latin"):
        assert main(["bridge", "--config", str(tmp_path / name)]) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_template_shows_every_option_and_its_default(tmp_path: Path) -> None:
    path = tmp_path / "bridge.toml"
    assert main(["bridge", "--write-config", str(path)]) == 0
    assert tomllib.loads(path.read_text()) == {}  # it sets nothing
    lines = [line[1:] for line in template().splitlines() if line and not line.startswith("# ")]
    shown = tomllib.loads("\n".join(lines))
    assert shown.pop("engine") == {"Threads": 2}
    assert list(shown) == list(keys())
    path.write_text("\n".join(lines))
    found = vars(with_file(parse(["bridge", "--config", str(path)])))
    defaults = vars(parse(["bridge"]))
    differ = {key for key, default in keys().items() if default is None}
    assert {key for key in keys() if found[key] != defaults[key]} == differ
    with pytest.raises(CommandError, match="is there already"):
        write_template(path)


def test_the_template_tells_units_once_and_examples_from_defaults() -> None:
    paragraphs = [each.splitlines() for each in template().split("\n\n")]
    abouts = {each[-1].split(" = ")[0][1:]: " ".join(each[:-1]) for each in paragraphs[1:-1]}
    assert abouts["movetime"].count("milliseconds") == 1
    assert abouts["most_base"].endswith(", in seconds")
    examples = {key for key, about in abouts.items() if about.endswith("For example:")}
    assert examples == {key for key, default in keys().items() if default is None}


def test_doctor_asks_the_server_who_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("obscuro.cli.doctor_command.CHECKS", ())
    path = tmp_path / "bridge.toml"
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    with serving("pychess") as server:
        path.write_text(f'url = "{server.url}"\ntoken_file = "token"')
        assert bridge_report(path, capsys) == (0, f"{BOT}, a bot account of {server.url}")
        server.title = ""
        code, line = bridge_report(path, capsys)
        assert code == 1 and f"{BOT} is not a bot account" in line
        (tmp_path / "token").write_text("wrong")
        code, line = bridge_report(path, capsys)
        assert code == 1 and "the server refuses the token" in line
    path.write_text("gamez = 1")
    code, line = bridge_report(path, capsys)
    assert code == 1 and "unknown key 'gamez'" in line


def bridge_report(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["doctor", "--bridge", str(path)])
    (line,) = (each for each in capsys.readouterr().out.splitlines() if "  bridge  " in each)
    return code, line.split("  bridge  ")[1].strip()


# -- the log --------------------------------------------------------------------------------------


def test_a_log_that_cannot_be_written_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a terminal that was stopped by Ctrl-S; what does not fit any more is dropped."""
    monkeypatch.setattr("obscuro.cli.command_support.MOST_LINES", 10)
    goes_on, written = threading.Event(), list[str]()

    def emit(handler: logging.StreamHandler[object], record: logging.LogRecord) -> None:
        assert goes_on.wait(HANG_SECONDS)
        written.append(record.getMessage())

    monkeypatch.setattr("logging.StreamHandler.emit", emit)
    logger = logging.getLogger("obscuro.tests.log")
    with logged(logger, quiet=False):
        for number in range(100):
            logger.info("line %d", number)
        goes_on.set()
    assert 10 <= len(written) <= 12 and written[0] == "line 0"
