"""What `obscuro doctor` finds and advises."""

import argparse
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro import kernel_cache
from obscuro.cli import doctor_command as doctor
from obscuro.cli.doctor_command import HINT, MISSING, OK, Finding
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.network import NetworkError
from tests.evaluation.nnue.synthetic import random_network


def report(*findings: Finding) -> tuple[int, list[str]]:
    def check() -> Iterator[Finding]:
        yield from findings

    out = io.StringIO()
    code = doctor.run(argparse.Namespace(), checks=[check], out=out)
    return code, out.getvalue().splitlines()


def test_all_is_well() -> None:
    code, lines = report(Finding(OK, "Python", "3.11"))
    assert code == 0
    assert lines[1:] == ["ok       Python        3.11", "All is well."]


def test_a_hint_is_no_failure_and_says_what_to_do() -> None:
    code, lines = report(Finding(HINT, "Stockfish", "not found", "install it"))
    assert code == 0
    assert lines[1].split() == ["hint", "Stockfish", "not", "found"]
    assert lines[2].strip() == "-> install it"
    assert "can run" in lines[3]


def test_something_missing_is_a_failure() -> None:
    code, lines = report(Finding(OK, "Python", "3.11"), Finding(MISSING, "numba", "none", "get it"))
    assert code == 1
    assert "can't run" in lines[-1]


def test_this_machine_can_run_the_engine() -> None:
    findings = [finding for check in doctor.CHECKS for finding in check()]
    subjects = [finding.subject for finding in findings]
    for subject in (
        "Python",
        "numba",
        "numpy",
        "chess",
        "Stockfish",
        "network",
        "cores",
        "kernel cache",
    ):
        assert subject in subjects
    assert not [finding for finding in findings if finding.level == MISSING]
    for finding in findings:
        assert "\n" not in finding.found + finding.advice
        assert bool(finding.advice) == (finding.level != OK)


def test_an_old_python_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (9, 9))
    (finding,) = doctor.python()
    assert (finding.level, finding.advice) == (MISSING, "install Python 9.9 or newer")


def test_a_package_that_does_not_load_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("chess", "no_such_package"))
    good, bad = doctor.packages()
    assert good.level == OK
    assert (bad.level, bad.found) == (MISSING, "No module named 'no_such_package'")


def test_without_stockfish_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obscuro.evaluation.stockfish.process.stockfish_path", lambda: None)
    (finding,) = doctor.stockfish()
    assert finding.level == HINT
    assert "material" in finding.advice


def test_a_stockfish_that_does_not_run_is_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "stockfish"
    broken.write_text("#!/bin/sh\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setattr("obscuro.evaluation.stockfish.process.stockfish_path", lambda: str(broken))
    (finding,) = doctor.stockfish()
    assert (finding.level, finding.found) == (HINT, f"{broken}: it exited with code 7")


def test_the_network_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    one = InstalledNetwork("nn-0.nnue", "Stockfish 99", "/cache/nn-0.v1", random_network())
    monkeypatch.setattr("obscuro.evaluation.nnue.install.load_networks", lambda: [one])
    (finding,) = doctor.network()
    assert finding == (OK, "network", "nn-0.nnue of Stockfish 99, /cache/nn-0.v1", "")


def test_no_network_is_a_hint_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_networks() -> list[InstalledNetwork]:
        raise NetworkError("Stockfish 11 has no network", "install another")

    monkeypatch.setattr("obscuro.evaluation.nnue.install.load_networks", load_networks)
    (finding,) = doctor.network()
    assert (finding.level, finding.found) == (HINT, "Stockfish 11 has no network")
    assert finding.advice.startswith("install another; ")


def test_a_cold_cache_is_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (finding,) = doctor.cache()
    assert (finding.level, finding.advice) == (HINT, "run: obscuro warmup")


def test_a_cache_with_kernels_of_every_package_is_warm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = doctor.kernel_packages(kernel_cache.kernel_sources())
    assert {"board", "fog", "search"} <= packages
    for package in packages:
        (tmp_path / f"{package}_0123").mkdir()
        (tmp_path / f"{package}_0123" / "make.make_move-1.py311.nbi").write_bytes(b"x")
    assert doctor.cold_packages(tmp_path, packages) == []
    assert doctor.cold_packages(tmp_path, {*packages, "other"}) == ["other"]
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (finding,) = doctor.cache()
    assert (finding.level, finding.advice) == (OK, "")


def test_no_place_to_write_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    (finding,) = doctor.cache()
    assert finding.level == HINT
    assert "OBSCURO_CACHE_DIR" in finding.advice


def test_runs_without_any_package() -> None:
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('numba', 'numpy', 'chess', 'rich')))\n"
        "from obscuro.cli.main import main\n"
        "sys.exit(main(['doctor']))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.count("missing  ") == 4
