"""Compiling in several processes, with jobs that compile nothing."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro import kernel_jobs, kernel_warmup
from obscuro.kernel_cache import KernelFiles
from obscuro.kernel_warmup import compile_in_processes

# In place of `kernel_warmup`: writes down who gets which job, and can be told to end in the middle.
CHILD = """
import os, sys
for line in sys.stdin:
    with open({log!r}, "a") as file:
        print(os.getpid(), line.strip(), os.environ["OBSCURO_CACHE_DIR"], file=file, flush=True)
    if line.strip() == {fatal!r}:
        os._exit(1)
    os.write(1, b".")
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelFiles:
    """An empty cache on a machine with two cores."""
    (tmp_path / "kernels").mkdir()
    files = KernelFiles(str(tmp_path / "kernels"), [])
    monkeypatch.setattr(kernel_warmup, "kernel_files", lambda: files)
    monkeypatch.setattr(kernel_warmup, "usable_cores", lambda: 2)
    return files


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log = tmp_path / "log"
    log.touch()
    replace_child(monkeypatch, log)
    return log


def replace_child(monkeypatch: pytest.MonkeyPatch, log: Path, fatal: str = "") -> None:
    real = kernel_warmup._program

    def program(base: str) -> str:
        setting = real(base).split("from obscuro")[0]
        return setting + CHILD.format(log=str(log), fatal=fatal)

    monkeypatch.setattr(kernel_warmup, "_program", program)


def entries(log: Path) -> Iterator[tuple[str, str, str]]:
    """The process, the job and the cache directory of each line."""
    for line in log.read_text().splitlines():
        words = line.split()
        yield words[0], " ".join(words[1:-1]), words[-1]


def test_each_job_is_done_once(files: KernelFiles, log: Path, tmp_path: Path) -> None:
    told: list[str] = []
    compile_in_processes("nnue", told.append)
    jobs = [job for _, job, _ in entries(log)]
    assert sorted(jobs) == ["belief", "evaluator nnue", "game", "search", "threads"]
    assert {cache for _, _, cache in entries(log)} == {str(tmp_path)}
    assert len({process for process, _, _ in entries(log)}) <= 2
    assert all(text.startswith("compiling: ") for text in told)


def test_the_jobs_are_those_that_a_child_knows() -> None:
    assert set(kernel_warmup._ORDER) == set(kernel_jobs._JOBS)


def test_an_evaluator_of_others_is_not_started(files: KernelFiles, log: Path) -> None:
    compile_in_processes("my own", lambda text: None)
    assert not [job for _, job, _ in entries(log) if job.startswith("evaluator")]


def test_a_child_that_ends_leaves_its_jobs_to_others(
    files: KernelFiles, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_child(monkeypatch, log, fatal="search")
    compile_in_processes("nnue", lambda text: None)
    assert len(list(entries(log))) == 5


def test_nothing_is_left_running(files: KernelFiles, log: Path) -> None:
    compile_in_processes("nnue", lambda text: None)
    for process in {process for process, _, _ in entries(log)}:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


@pytest.mark.parametrize(
    "reason", ["one core", "no place", "a passing place", "frozen", "embedded"]
)
def test_is_left_to_the_caller_where_processes_do_not_help(
    files: KernelFiles, log: Path, monkeypatch: pytest.MonkeyPatch, reason: str, tmp_path: Path
) -> None:
    if reason == "one core":
        monkeypatch.setattr(kernel_warmup, "usable_cores", lambda: 1)
    elif reason == "no place":
        monkeypatch.setattr(kernel_warmup, "kernel_files", lambda: KernelFiles(None, []))
    elif reason == "a passing place":
        files.directory = str(tmp_path)
    elif reason == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr(sys, "executable", "/usr/bin/some-program")
    compile_in_processes("nnue", lambda text: None)
    assert not list(entries(log))


def test_of_two_at_a_time_one_does_it(files: KernelFiles, log: Path) -> None:
    with kernel_warmup._alone(os.path.join(str(files.directory), "lock")) as alone:
        assert alone
        compile_in_processes("nnue", lambda text: None)
    assert not list(entries(log))
    compile_in_processes("nnue", lambda text: None)
    assert list(entries(log))


def test_a_child_ends_when_its_input_does() -> None:
    code = "from obscuro.kernel_jobs import main; main()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(60) == 0


def test_a_job_that_fails_is_answered_and_the_next_one_done() -> None:
    code = (
        "from obscuro import kernel_jobs\n"
        "kernel_jobs._JOBS['fine'] = lambda: print('a word')\n"
        "kernel_jobs.main()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    guard = threading.Timer(60, child.kill)
    guard.start()
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(b"no such job\nfine\n")
    child.stdin.flush()
    assert child.stdout.read(2) == b".."
    child.stdin.close()
    assert child.wait() == 0
    guard.cancel()
