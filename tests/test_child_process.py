"""What is known of a child: whether it works, sleeps, or is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from obscuro.child_process import ChildProcess, vitals
from tests.evaluation.fakes import is_gone


@pytest.fixture
def sleeper() -> Iterator[ChildProcess]:
    child = ChildProcess("/bin/cat")
    os.write(child.input, b"hello\n")
    assert os.read(child.output, 10) == b"hello\n"
    yield child
    child.close()
    assert is_gone(child.pid)


def test_one_that_waits_for_input_is_asleep(sleeper: ChildProcess) -> None:
    while not (state := vitals(sleeper.pid)) or not state.is_asleep:
        pass  # it may yet have to come to its next read
    assert not state.is_stopped
    assert state.cpu_seconds < 5


def test_one_that_is_stopped_is_known_to_be(sleeper: ChildProcess) -> None:
    os.kill(sleeper.pid, signal.SIGSTOP)
    while not (state := vitals(sleeper.pid)) or not state.is_stopped:
        pass
    os.kill(sleeper.pid, signal.SIGCONT)
    while vitals(sleeper.pid) == state:
        pass


def test_one_that_works_is_known_to() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        before = vitals(child.pid)
        assert before is not None
        while not (state := vitals(child.pid)) or state.cpu_seconds < before.cpu_seconds + 0.02:
            pass
        assert not state.is_asleep and not state.is_stopped
        child.kill()


def test_of_one_that_is_gone_nothing_is_known(sleeper: ChildProcess) -> None:
    sleeper.close()
    assert vitals(sleeper.pid) is None


def test_how_it_ended_is_told() -> None:
    child = ChildProcess("/bin/false")
    assert child.exit_code(60.0) == 1
    child.close()
    child = ChildProcess("/bin/cat")
    assert child.exit_code(0.0) is None
    child.kill()
    assert child.exit_code(60.0) == -signal.SIGKILL
    child.close()
    child.close()
