"""Several engines that compile into one empty cache at the same time; minutes of compiling.

pytest -m slow tests/uci/test_cold_cache.py
"""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.uci import dialogue
from tests.uci.dialogue import Process

pytestmark = [pytest.mark.slow]

COMPILING_SECONDS = 1200.0
KILLED_AFTER_SECONDS = 20.0
SILENCE_SECONDS = 5.0  # at most, while it compiles


@pytest.fixture(autouse=True)
def cold_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OBSCURO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(dialogue, "HANG_SECONDS", COMPILING_SECONDS)
    return tmp_path


def ready_times(process: Process) -> list[float]:
    """The seconds at which lines came between `isready` and `readyok`."""
    process.say("uci", "isready")
    times = [time.monotonic()]
    while not process.until(".*")[-1].startswith("readyok"):
        times.append(time.monotonic())
    return [*times, time.monotonic()]


def test_engines_that_share_a_cold_cache(cold_cache: Path) -> None:
    with Process() as first, Process() as second, Process() as killed:
        killed.say("isready")
        end = threading.Timer(KILLED_AFTER_SECONDS, killed.popen.kill)
        end.start()
        times: dict[Process, list[float]] = {}
        workers = [
            threading.Thread(
                target=lambda process=process: times.update({process: ready_times(process)})
            )
            for process in (first, second)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        end.join()
        for process in (first, second):
            gaps = [after - before for before, after in pairwise(times[process])]
            took = times[process][-1] - times[process][0]
            print(f"ready after {took:.0f} s, longest silence {max(gaps):.1f} s")
            assert max(gaps) <= SILENCE_SECONDS
            process.say("position startpos moves e2e4", "go nodes 300")
            assert process.until("bestmove")
            assert process.leave()[::2] == (0, "")
    kernels = {path.stat().st_mtime_ns for path in cold_cache.rglob("*.nbc")}
    assert kernels
    with Process() as later:  # everything is there, also what the killed one had half written
        times_later = ready_times(later)
        print(f"later: ready after {times_later[-1] - times_later[0]:.1f} s")
        assert later.leave()[::2] == (0, "")
    assert {path.stat().st_mtime_ns for path in cold_cache.rglob("*.nbc")} == kernels
