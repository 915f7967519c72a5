"""The process: it answers, it fails in bounded time, and it never outlives us."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro.evaluation.stockfish.process import StockfishError, StockfishProcess, TimeLimits
from obscuro.evaluation.stockfish_program import stockfish_path
from tests.evaluation.fakes import QUICK, ends, fake_search, fake_stockfish, is_gone
from tests.evaluation.naive import STOCKFISH, needs_stockfish
from tests.processes import children

START = b"position startpos\ngo depth 1\n"


@pytest.fixture
def process() -> Iterator[StockfishProcess]:
    process = StockfishProcess(STOCKFISH)
    yield process
    process.close()


@needs_stockfish
def test_it_says_who_it_is(process: StockfishProcess) -> None:
    assert process.name.startswith("Stockfish ")
    assert process.max_multipv >= 218


@needs_stockfish
def test_it_answers_a_batch_larger_than_its_pipes(process: StockfishProcess) -> None:
    process.begin(START * 3000, 3000, multipv=500)
    text = bytes(process.finish())
    assert text.count(b"\nbestmove ") == 3000
    assert text.count(b" pv ") == 3000 * 20
    assert text.endswith(b"\n")


@needs_stockfish
def test_it_does_without_what_only_linux_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("fcntl.F_SETPIPE_SZ")
    monkeypatch.setattr("obscuro.child_process._PROC", "/no/such/folder")
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "setpriv" else which(name))
    process = StockfishProcess(STOCKFISH)
    process.begin(START * 3000, 3000, multipv=500)
    assert bytes(process.finish()).count(b"\nbestmove ") == 3000
    process.close()
    assert is_gone(process.pid)


@needs_stockfish
def test_it_lists_as_many_moves_as_asked_for(process: StockfishProcess) -> None:
    for multipv in (500, 1, 3, 1_000_000):
        process.begin(START, 1, multipv)
        assert bytes(process.finish()).count(b" pv ") == min(multipv, 20)


@needs_stockfish
def test_closing_leaves_nothing_behind(process: StockfishProcess) -> None:
    process.begin(START * 100, 100, multipv=500)
    process.close()
    assert is_gone(process.pid)
    process.close()


@needs_stockfish
def test_closing_ends_a_stopped_process(process: StockfishProcess) -> None:
    os.kill(process.pid, signal.SIGSTOP)
    process.close()
    assert is_gone(process.pid)


@needs_stockfish
def test_forgetting_it_leaves_nothing_behind() -> None:
    process = StockfishProcess(STOCKFISH)
    pid = process.pid
    del process
    assert is_gone(pid)


@needs_stockfish
def test_a_killed_process_is_an_error(process: StockfishProcess) -> None:
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(StockfishError, match="SIGKILL"):
        process.begin(START, 1, multipv=1)
        process.finish()


@needs_stockfish
def test_a_stopped_process_is_an_error() -> None:
    process = StockfishProcess(STOCKFISH, QUICK)
    os.kill(process.pid, signal.SIGSTOP)
    process.begin(START, 1, multipv=1)
    with pytest.raises(StockfishError, match="was stopped"):
        process.finish()
    process.close()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import sys; sys.exit(3)", "exited with code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import sys; sys.stdin.read()", "does not answer"),
        ("while True: print('garbage' * 1000)", "talks without end"),
        ("while True: print('garbage', end='')", "talks without end"),
        ("print('id name X\\nuciok'); input(); input()", "no MultiPV"),
        ("print('option name MultiPV max\\nuciok'); input(); input()", "no MultiPV"),
    ],
)
def test_what_does_not_start_is_an_error(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(StockfishError, match=message):
        StockfishProcess(fake_stockfish(tmp_path, body), TimeLimits(start=1.0))


def test_what_can_not_be_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StockfishError, match="No such file"):
        StockfishProcess(str(tmp_path / "none"))
    data = tmp_path / "data"
    data.write_text("no program")
    with pytest.raises(StockfishError, match="Permission denied"):
        StockfishProcess(str(data))
    data.chmod(0o755)
    with pytest.raises(StockfishError, match="Exec format error"):
        StockfishProcess(str(data))


def test_without_its_network_it_does_not_start(tmp_path: Path) -> None:
    # Stockfish shakes hands without its network, and leaves at the first search.
    body = (
        "print('id name Stockfish 15.1\\noption name MultiPV type spin default 1 min 1 max 500')\n"
        "print('uciok', flush=True)\n"
        "while input() != 'go depth 1': pass\n"
        "raise SystemExit(1)\n"
    )
    with pytest.raises(StockfishError, match="exited with code 1"):
        StockfishProcess(fake_stockfish(tmp_path, body))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(0)", "exited with code 0"),
        ("say('info depth 1 sco'); sys.exit(7)", "exited with code 7"),
        ("say('bestmove e2e4')", "does not answer"),  # the line does not end
        ("while True: say('bestmovee2e4 ' * 1000)", "talks without end"),
        ("import os; os.close(1); sys.stdin.read()", "closed its output"),
        ("import os; os.close(0); os.read(os.pipe()[0], 1)", "does not answer"),
    ],
)
def test_an_answer_that_does_not_come_is_an_error(tmp_path: Path, body: str, message: str) -> None:
    process = StockfishProcess(fake_search(tmp_path, body), QUICK)
    with pytest.raises(StockfishError, match=message):
        process.begin(START, 1, multipv=500)
        process.finish()
    process.close()
    assert is_gone(process.pid)


def test_answers_may_come_in_pieces(tmp_path: Path) -> None:
    body = "for letter in 'info\\nbestmove e2e4 ponder e7e5\\n': say(letter)"
    process = StockfishProcess(fake_search(tmp_path, body), QUICK)
    process.begin(START * 3, 3, multipv=500)
    assert bytes(process.finish()) == b"\n" + b"info\nbestmove e2e4 ponder e7e5\n" * 3
    process.close()


needs_setpriv = pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no setpriv")


def test_a_long_answer_makes_sense_wherever_it_is_cut(tmp_path: Path) -> None:
    body = (
        "for k in range(300): say('info depth 1 string ' + 'x' * (k % 50) + '\\n')\n"
        "say('bestmove e2e4\\n')"
    )
    process = StockfishProcess(fake_search(tmp_path, body), QUICK)
    for _ in range(3):
        process.begin(START, 1, multipv=500)
        assert process.finish().count(b"\ninfo ") == 300
    process.close()


PARENT = """
import os, sys
from obscuro.evaluation.stockfish.process import StockfishProcess
process = StockfishProcess(sys.argv[1])
{between}
print(process.pid, flush=True)
sys.stdin.read()
"""


def orphan(path: str, between: str) -> int:
    """Kill a process that has started Stockfish, as hard as can be; return Stockfish's id."""
    program = PARENT.format(between=between)
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    return pid


@needs_stockfish
@pytest.mark.parametrize(
    "between",
    [
        "",
        "process.begin(b'position startpos\\ngo depth 1\\n' * 50000, 50000, 500)",
        # Another program that we started, and a copy of ourselves, both live on.
        "import subprocess; subprocess.Popen(['sleep', '5'], close_fds=False)",
        "if os.fork() == 0: os.execvp('sleep', ['sleep', '5'])",
        "if os.fork() == 0: import time; time.sleep(5); os._exit(0)",
        # It can't notice anything.
        pytest.param("os.kill(process.pid, 19)", marks=needs_setpriv),
    ],
    ids=[
        "idle",
        "searching",
        "beside a program",
        "beside a program without Popen",
        "forked",
        "stopped",
    ],
)
def test_it_ends_when_we_are_killed(between: str) -> None:
    assert ends(orphan(STOCKFISH, between), seconds=4.0)


@needs_stockfish
def test_it_lives_longer_than_the_thread_that_asked_for_it() -> None:
    made: list[StockfishProcess] = []
    thread = threading.Thread(target=lambda: made.append(StockfishProcess(STOCKFISH)))
    thread.start()
    thread.join()
    for _ in range(3):
        made[0].begin(START, 1, multipv=1)
        assert b"bestmove" in made[0].finish()
    made[0].close()


@needs_stockfish
def test_a_forked_child_leaves_the_process_alone(process: StockfishProcess) -> None:
    child = os.fork()
    if child == 0:
        process.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    process.begin(START, 1, multipv=1)
    assert b"bestmove" in process.finish()


@needs_stockfish
def test_a_script_may_stand_for_it(tmp_path: Path) -> None:
    script = tmp_path / "stockfish.sh"
    script.write_text(f"#!/bin/sh\n{STOCKFISH}\nexit 0\n")
    script.chmod(0o755)
    process = StockfishProcess(str(script))
    (stockfish,) = children(process.pid)
    process.close()
    assert ends(stockfish)


class TestPath:
    """Where Stockfish is looked for."""

    def test_the_option_comes_first(self, tmp_path: Path) -> None:
        path = fake_stockfish(tmp_path, "")
        assert stockfish_path(path) == path
        assert stockfish_path(str(tmp_path / "none")) is None
        assert stockfish_path(str(tmp_path)) is None

    def test_the_option_may_be_a_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = fake_stockfish(tmp_path, "")
        monkeypatch.setenv("PATH", str(tmp_path))
        assert stockfish_path("stockfish") == path
        assert stockfish_path("nothing-of-that-name") is None

    def test_without_option_path_comes_first(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = fake_stockfish(tmp_path, "")
        monkeypatch.setenv("PATH", str(tmp_path))
        assert stockfish_path() == stockfish_path("") == path

    def test_a_home_is_understood(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = fake_stockfish(tmp_path, "")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert stockfish_path("~/stockfish") == path
