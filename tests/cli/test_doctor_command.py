"""What `obscuro doctor` finds and advises."""

import argparse
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro.cli import doctor_command as doctor
from obscuro.cli.doctor_command import HINT, MISSING, OK, Finding
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.kernel_cache import KernelFiles
from obscuro.rules.bits import folded_product
from tests.evaluation.nnue.synthetic import random_network
from tests.hanging import HANG_SECONDS


def report(*findings: Finding) -> tuple[int, list[str]]:
    def check() -> Iterator[Finding]:
        yield from findings

    out = io.StringIO()
    code = doctor.run(argparse.Namespace(), checks=[check], out=out)
    return code, out.getvalue().splitlines()


def test_the_worst_finding_decides_the_verdict_and_the_code() -> None:
    good = Finding(OK, "Python", "3.11")
    assert report(good)[0] == 0
    assert report(good)[1][1:] == ["ok       Python        3.11", "All is well."]
    code, lines = report(Finding(HINT, "Stockfish", "not found", "install it"))
    assert (code, lines[1].split()) == (0, ["hint", "Stockfish", "not", "found"])
    assert lines[2].strip() == "-> install it" and "can run" in lines[3]
    code, lines = report(good, Finding(MISSING, "numba", "none", "get it"))
    assert code == 1 and "Not all can run" in lines[-1]


def test_this_machine_can_run_the_engine() -> None:
    findings = [finding for check in doctor.CHECKS for finding in check()]
    subjects = [finding.subject for finding in findings]
    wanted = {"Python", "numba", "numpy", "chess", "Stockfish", "network", "cores", "kernel cache"}
    assert wanted <= set(subjects)
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


@pytest.mark.parametrize("installed", [False, True])
def test_a_stockfish_that_is_missing_or_does_not_run_is_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: bool
) -> None:
    broken = tmp_path / "stockfish"
    broken.write_text("#!/bin/sh\nexit 7\n")
    broken.chmod(0o755)
    path = str(broken) if installed else None
    monkeypatch.setattr("obscuro.evaluation.stockfish_program.stockfish_path", lambda: path)
    (finding,) = doctor.stockfish()
    assert finding.level == HINT and "material" in finding.advice
    assert finding.found == (f"{broken}: it exited with code 7" if installed else "not found")


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


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelFiles:
    """An empty cache, that of the kernels which are loaded from now on."""
    folded_product(1, 1)  # so it is in memory, and is not compiled into these files
    files = KernelFiles(str(tmp_path), [])
    monkeypatch.setattr("obscuro.kernel_cache.kernel_files", lambda: files)
    return files


def test_a_cold_cache_is_a_hint(files: KernelFiles) -> None:
    files.save("obscuro.rules.bits", "folded_product.nbc", b"code")
    (finding,) = doctor.cache()
    assert (finding.level, finding.advice) == (HINT, "run: obscuro warmup")
    assert "search" in finding.found and "rules" not in finding.found.split(": ")[-1]


def test_a_cache_with_kernels_of_every_package_is_warm(files: KernelFiles) -> None:
    modules = doctor.kernel_modules()
    assert {"obscuro.rules.moves", "obscuro.evaluation.material"} <= set(modules)
    assert "obscuro.rules.layout" not in modules
    for module in modules:
        files.save(module, "kernel.nbc", b"code")
    (finding,) = doctor.cache()
    assert (finding.level, finding.advice) == (OK, "")


def test_a_package_is_cold_if_none_of_its_modules_has_kernels() -> None:
    compiled = {
        "obscuro.rules.moves": [Path("x")],
        "obscuro.rules.make": [],
        "obscuro.belief.successors": [],
    }
    assert doctor.cold_packages(compiled) == ["belief"]


def test_no_place_to_write_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obscuro.kernel_cache.kernel_files", lambda: KernelFiles(None, []))
    (finding,) = doctor.cache()
    assert finding.level == HINT
    assert finding.found == "there is no place to write"
    assert "OBSCURO_CACHE_DIR" in finding.advice


def test_a_numba_that_keeps_no_kernels_is_a_hint(files: KernelFiles) -> None:
    (finding,) = doctor.cache()
    assert finding.level == HINT
    assert finding.found.endswith("keeps nothing")


def test_runs_without_any_package() -> None:
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({doctor.PACKAGES}))\n"
        "from obscuro.cli.main import main\n"
        "sys.exit(main(['doctor']))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.count("missing  ") == len(doctor.PACKAGES)
