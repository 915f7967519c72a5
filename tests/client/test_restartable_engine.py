"""An engine's process: started when it is needed, set up at every start, and ended for good."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest
from obscuro.client.restartable_engine import RestartableEngine

from obscuro.client.uci_process import EngineError, UciProcess

FAKE = [sys.executable, "-m", "tests.matches.fake_engine"]
MakeProcess = Callable[[Sequence[str]], UciProcess]


class Recorded(UciProcess):
    """A process that keeps what it was sent."""

    def __init__(self, command: Sequence[str]) -> None:
        self.sent: list[str] = []
        super().__init__(command)

    def send(self, line: str) -> None:
        self.sent.append(line)
        super().send(line)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


@pytest.fixture
def started() -> Iterator[list[Recorded]]:
    """The processes that a test has started, first one first; none of them outlives the test."""
    processes: list[Recorded] = []
    yield processes
    for process in processes:
        process.kill()


@pytest.fixture
def start(started: list[Recorded]) -> MakeProcess:
    def make(command: Sequence[str]) -> UciProcess:
        started.append(Recorded(command))
        return started[-1]

    return make


def is_alive(process: UciProcess) -> bool:
    return psutil.pid_exists(process.pid)


def test_every_start_sets_the_variant_and_the_options(
    start: MakeProcess, started: list[Recorded]
) -> None:
    warnings: list[str] = []
    engine = RestartableEngine(FAKE, {"Move Overhead": "5"}, warnings.append, start=start)
    assert (engine.process, engine.pid, engine.name) == (None, None, sys.executable)
    engine.prepare()
    assert engine.running() is engine.running() is started[0]
    assert (engine.pid, engine.name, engine.knows_variant) == (started[0].pid, "Fake 1.0", True)
    engine.kill()
    assert engine.process is None and not is_alive(started[0])
    engine.running()
    set_up = ["setoption name UCI_Variant value fogofwar", "setoption name Move Overhead value 5"]
    assert [process.sent for process in started] == [
        ["uci", *set_up, "isready"],
        ["uci", *set_up],
    ]
    assert warnings == ["warning this is a fake"]


def test_an_option_that_the_engine_lacks_leaves_no_process(
    start: MakeProcess, started: list[Recorded]
) -> None:
    engine = RestartableEngine(FAKE, {"Contempt": "1"}, print, start=start)
    with pytest.raises(EngineError, match="no option 'Contempt'"):
        engine.running()
    assert engine.process is None and not is_alive(started[0])


@pytest.mark.parametrize("needed", [False, True])
def test_an_engine_without_the_variant_is_an_error_where_it_is_needed(
    needed: bool, start: MakeProcess, started: list[Recorded]
) -> None:
    def start_without(command: Sequence[str]) -> UciProcess:
        process = start(command)
        del process.options["uci_variant"]
        return process

    engine = RestartableEngine(FAKE, {}, print, needs_variant=needed, start=start_without)
    if needed:
        with pytest.raises(EngineError, match="no option 'UCI_Variant'"):
            engine.running()
    else:
        assert engine.running() is started[0] and not engine.knows_variant


def test_nothing_is_started_after_closing(start: MakeProcess, started: list[Recorded]) -> None:
    engine = RestartableEngine(FAKE, {}, print, start=start)
    engine.running()
    engine.close()
    engine.close()
    assert started[0].sent[-1] == "quit" and not is_alive(started[0])
    with pytest.raises(EngineError, match="it was closed"):
        engine.running()
    assert len(started) == 1


def test_closing_during_a_start_leaves_no_process(
    start: MakeProcess, started: list[Recorded]
) -> None:
    def closed_meanwhile(command: Sequence[str]) -> UciProcess:
        process = start(command)
        engine.close()
        return process

    engine = RestartableEngine(FAKE, {}, print, start=closed_meanwhile)
    with pytest.raises(EngineError, match="it was closed"):
        engine.running()
    assert engine.process is None and not is_alive(started[0])


def test_options_that_are_changed_hold_for_this_process_and_the_next(
    start: MakeProcess, started: list[Recorded]
) -> None:
    engine = RestartableEngine(FAKE, {"Seed": "1"}, print, start=start)
    engine.running()
    engine.configure({"Seed": "2"})
    assert started[0].sent[-1] == "setoption name Seed value 2"
    engine.kill()
    engine.running()
    assert "setoption name Seed value 2" in started[1].sent
    assert "setoption name Seed value 1" not in started[1].sent
    engine.close()


def test_an_option_that_can_not_be_changed_ends_the_process(
    start: MakeProcess, started: list[Recorded]
) -> None:
    engine = RestartableEngine(FAKE, {}, print, start=start)
    engine.running()
    with pytest.raises(EngineError, match="no option"):
        engine.configure({"No Such Option": "2"})
    assert engine.process is None
    assert not is_alive(started[0])
