"""`obscuro mistboard`: what it refuses, and a turn with the real engine."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from obscuro.cli.arguments import parse
from obscuro.cli.command_support import CommandError
from obscuro.cli.mistboard_command import TOKEN, run
from obscuro.client.uci_process import EngineError
from obscuro.rules.board import FogOfWarBoard
from tests.bots.mistboard.wire import make, turn
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.processes import is_running

ROOT = Path(__file__).parents[2]
SECRET = "secret-of-the-tests"


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, SECRET)


def left() -> threading.Event:
    leave = threading.Event()
    leave.set()
    return leave


@pytest.mark.usefixtures("token")
def test_it_prepares_an_engine_listens_and_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    mover = QuickMover()
    given: list[dict[str, str]] = []

    def make_quick(options: object, report: object) -> QuickMover:
        given.append(dict(options))  # type: ignore[call-overload]
        return mover

    words = ["mistboard", "--port", "0", "--option", "Threads=1"]
    assert run(parse(words), make=make_quick, leave=left()) == 0
    assert (mover.prepared, mover.closed) == (1, 1)
    assert given == [{"Stalemate": "draw", "Move Overhead": "500", "Threads": "1"}]
    said = capsys.readouterr().err
    assert re.search(r"listening on http://127\.0\.0\.1:\d+; Ctrl-C leaves", said)
    assert SECRET not in said and TOKEN not in os.environ


@pytest.mark.usefixtures("token")
def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        with pytest.raises(CommandError, match=f"can't listen on port {port}: .*another --port"):
            run(parse(["mistboard", "--port", port]), make=lambda *_: QuickMover(), leave=left())


@pytest.mark.usefixtures("token")
def test_an_engine_that_does_not_start() -> None:
    class Broken(QuickMover):
        def prepare(self) -> None:
            raise EngineError("can't run it")

    with pytest.raises(CommandError, match="can't run it"):
        run(parse(["mistboard", "--port", "0"]), make=lambda *_: Broken(), leave=left())


@pytest.mark.usefixtures("token")
def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "obscuro.bots.mistboard.engine_service", raising=False)
    with pytest.raises(
        CommandError, match=r"uvicorn is not installed; run: .*starlette\S* 'uvicorn"
    ):
        run(parse(["mistboard", "--port", "0"]), make=lambda *_: QuickMover(), leave=left())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], f"in the environment: {TOKEN}=…"),
        (["--port", "70000"], "ports end at 65535"),
        (["--option", "Nonsense=1"], "no such option"),
        (["--option", "Threads=many"], "Threads"),
        (["--option", "Stockfish=/bin/sh"], "does not set this option"),
        (["--option", "Threads"], "is not NAME=VALUE"),
    ],
)
def test_mistakes(words: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(CommandError, match=message):
        run(parse(["mistboard", *words]))


@pytest.mark.slow
def test_a_turn_with_the_real_engine() -> None:
    words = ["--port", "0", "--option", "Evaluator=material", "--option", "Threads=1"]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "obscuro.cli.main", "mistboard", *words],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {TOKEN: SECRET},
    ) as process:
        try:
            assert process.stderr is not None
            urls = (re.search(r"listening on (\S+);", line) for line in process.stderr)
            url = next(found[1] for found in urls if found)
            board = FogOfWarBoard()
            request = urllib.request.Request(
                f"{url}/internal/engine/turn",
                json.dumps(turn(board)).encode(),
                {
                    "Authorization": f"Bearer {SECRET}",
                    "x-mistboard-engine-compute-budget-ms": "600",
                },
            )
            with urllib.request.urlopen(request, timeout=HANG_SECONDS) as answer:
                make(board, json.load(answer))
            process.send_signal(signal.SIGTERM)
            assert process.wait(HANG_SECONDS) == 0
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()
    assert not is_running(process.pid)
