"""`obscuro replay` with the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from obscuro.cli.main import main
from obscuro.cli.replay_command import differences, read_session
from tests.cli.conftest import written
from tests.uci.dialogue import Process

OPTIONS = ("Evaluator value material", "Hash value 16", "Threads value 1")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a short session with three searches; its seed came from the clock."""
    path = tmp_path_factory.mktemp("log") / "session.log"
    with Process("--log", str(path)) as process:
        process.ask("uci", *(f"setoption name {option}" for option in OPTIONS))
        moves = ""
        for reply in ("e7e5", "b8c6", "a7a6"):
            process.say(f"position startpos{' moves' if moves else ''}{moves}", "go nodes 400")
            best = process.until("bestmove")[-1].split()[1]
            moves += f" {best} {reply}"
        assert process.leave()[0] == 0
    return path


@pytest.fixture(scope="module")
def random_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a session of the player `random`, which starts at once."""
    path = tmp_path_factory.mktemp("log") / "session.log"
    with Process("--player", "random", "--log", str(path)) as process:
        process.say("setoption name Seed value 5", "position startpos", "go nodes 1")
        process.until("bestmove")
        assert process.leave()[0] == 0
    return path


def test_the_log_of_another_player_is_replayed_by_that_player(
    random_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(random_log), "--option", "Seed=5"]) == 0
    assert capsys.readouterr().out.splitlines()[-2].endswith(" same")
    assert main(["replay", str(random_log), "--option", "Hash=16"]) == 2
    assert capsys.readouterr().err == "obscuro: no such option: 'Hash'\n"
    path = tmp_path / "other.log"
    path.write_text(random_log.read_text().replace("# player random", "# player nobody"))
    assert main(["replay", str(path)]) == 1
    assert "there is no player 'nobody'; there are obscuro, random" in capsys.readouterr().err


def test_a_session_repeats_itself_and_a_difference_is_shown(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = log.read_text().split("\n")
    last = max(i for i, line in enumerate(lines) if " < bestmove" in line)
    lines[last] = lines[last].replace("bestmove ", "bestmove h7h8q was ")
    other = tmp_path / "other.log"
    other.write_text("\n".join(lines).replace("# numba ", "# numba 9"))
    assert main(["replay", str(other), "--compare"]) == 1
    out = capsys.readouterr().out
    assert "numba: 9" in out and out.count("DIFFERENT") == 1 and "h7h8q" in out
    assert sum(line.endswith(" same") for line in out.splitlines()[:-1]) == 2
    assert out.endswith("3 repeatable searches, 2 came out the same\n")


def test_a_search_that_cannot_be_repeated_is_no_fault(
    random_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.log"
    other.write_text(random_log.read_text().replace("bestmove ", "bestmove h7h8q was "))
    assert main(["replay", str(other), "--compare"]) == 0
    assert "different (not repeatable)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", [], "is not a log of a session"),
        ("10:00:00.000 # log 1\n", ["--session", "2"], "has 1 sessions"),
        ("10:00:00.000 # log 1\n", ["--option", "Nothing=1"], "no such option"),
        (None, [], "can't read"),
    ],
)
def test_mistakes_are_one_line(
    text: str | None,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "log"
    if text is not None:
        path.write_text(text)
    assert main(["replay", str(path), *arguments]) == (2 if "--option" in arguments else 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_what_is_not_here_as_it_was_then(log: Path, console: Console) -> None:
    assert differences(read_session(str(log), None)) == []
    assert written(console) == ""
