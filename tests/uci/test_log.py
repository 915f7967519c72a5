"""The log: what is in it, and what happens if it can't be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from obscuro.engine.options import OPTIONS, Options
from obscuro.uci.log import Entry, Log, facts, read_sessions
from obscuro.version import version
from tests.uci.dialogue import Fakes, InProcess

WARNING = "info string warning "


def entries(path: Path) -> list[Entry]:
    (session,) = read_sessions(path.read_text().split("\n"))
    return session.entries


def test_a_session_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with InProcess(Fakes(), str(path)) as dialogue:
        dialogue.ask("setoption name Threads value 1", "position startpos moves e2e4")
        dialogue.say("go nodes 10")
        dialogue.until("bestmove")
        dialogue.leave()
    (session,) = read_sessions(path.read_text().split("\n"))
    assert session.fact("log") == "1"
    assert session.fact("obscuro") == version()
    for name in ("date", "python", "numba", "numpy", "chess", "system", "cpu"):
        assert session.fact(name)
    assert (session.fact("seed"), session.fact("evaluator")) == ("7", "fake")
    options = session.options()
    assert list(options) == [option.name for option in OPTIONS]
    assert options["Hash"] == str(Options().get("Hash"))
    said = [(mark, text) for _, mark, text in session.entries if mark in "<>"]
    assert said[:2] == [
        (">", "setoption name Threads value 1"),
        (">", "position startpos moves e2e4"),
    ]
    assert said[-1][1].startswith("bestmove ")
    begins = [text for _, mark, text in session.entries if mark == "#"]
    assert begins[0] == "log 1"


def test_failures_have_their_details(tmp_path: Path) -> None:
    fakes, path = Fakes(), tmp_path / "log"
    fakes.error = ValueError("no idea")
    with InProcess(fakes, str(path)) as dialogue:
        dialogue.say("go nodes 10")
        assert "info string error search failed, no idea" in dialogue.until("bestmove")
        dialogue.leave()
    details = [text for _, mark, text in entries(path) if mark == "!"]
    assert details[0].startswith("Traceback") and "ValueError: no idea" in details


def directory(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def forbidden(path: Path) -> None:
    path.mkdir()
    (path / "log").symlink_to(path / "log")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (directory, "log"),
        (pipe, "log"),
        (forbidden, "log/log"),
        (None, "nowhere/log"),
        (None, "\0"),
    ],
)
def test_where_no_log_can_be_written_there_is_one_warning(
    make: Callable[[Path], None] | None, name: str, tmp_path: Path
) -> None:
    if make is not None:
        make(tmp_path / "log")
    with InProcess(Fakes(), str(tmp_path / name)) as dialogue:
        dialogue.say("go nodes 10")
        dialogue.until("bestmove")
        dialogue.leave()
    warnings = [line for line in dialogue.heard if line.startswith(WARNING)]
    assert len(warnings) == 1 and warnings[0].startswith(WARNING + "no log is written, ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_one_warning_and_the_game_goes_on() -> None:
    with InProcess(Fakes(), "/dev/full") as dialogue:
        for _ in range(3):
            dialogue.say("go nodes 10")
            dialogue.until("bestmove")
        dialogue.leave()
    warnings = [line for line in dialogue.heard if line.startswith(WARNING)]
    assert warnings == [WARNING + "the log ends here, [Errno 28] No space left on device"]


def test_a_pipe_whose_reader_stops_reading_ends_the_log_and_not_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "log"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with InProcess(Fakes(), str(path)) as dialogue:
        dialogue.say(*["hello " + "x" * 1000] * 200)
        dialogue.ask()
        dialogue.leave()
    os.close(reading)
    assert sum(line.startswith(WARNING + "the log ends here") for line in dialogue.heard) == 1


def test_the_process_id_may_be_in_the_name(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "log-%p.txt"))
    log.write(">", "uci")
    log.close()
    log.write(">", "lost without a word")
    (path,) = tmp_path.iterdir()
    assert path.name == f"log-{os.getpid()}.txt"
    assert path.read_text().endswith(" > uci\n") and path.read_text().count("\n") == 1


def test_facts_load_nothing_and_tell_everything() -> None:
    told = list(facts(Options()))
    assert told[0] == ("log", 1)
    names = [name for name, _ in told]
    assert names.count("option") == len(OPTIONS)
    assert all("\n" not in str(value) for _, value in told)
