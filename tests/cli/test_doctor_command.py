"""What `obscuro doctor` finds and advises."""

import argparse
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro.cli import doctor_command as doctor
from obscuro.cli.doctor_command import HINT, MISSING, NOTE, OK, Finding
from obscuro.cli.main import main
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.network import NetworkError
from obscuro.installation import About, how_to_add
from obscuro.kernel_cache import KernelFiles
from obscuro.players.roster import PLAYERS
from obscuro.rules.bits import folded_product
from obscuro.viewer.browser_parts.parts import MissingPartsError
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
    assert report(good)[1][1:] == ["ok       Python              3.11", "All is well."]
    code, lines = report(Finding(HINT, "Stockfish", "not found", "install it"))
    assert (code, lines[1].split()) == (0, ["hint", "Stockfish", "not", "found"])
    assert lines[2].strip() == "-> install it" and "can run" in lines[3]
    code, lines = report(good, Finding(MISSING, "numba", "none", "get it"))
    assert code == 1 and "Not all can run" in lines[-1]


def test_this_machine_can_run_the_engine() -> None:
    findings = [finding for check in doctor.CHECKS for finding in check()]
    subjects = [finding.subject for finding in findings]
    wanted = {"Python", "numba", "numpy", "chess", "Stockfish", "network", "cores", "kernel cache"}
    wanted |= {"extra web", "extra bridge", "extra zs21", "extra cluster", "browser parts"}
    wanted |= {"kernels of obscuro", "kernels of depth1", "kernels of zs21"}
    assert wanted <= set(subjects)
    assert not [finding for finding in findings if finding.level == MISSING]
    for finding in findings:
        assert "\n" not in finding.found + finding.advice + finding.run
        assert bool(finding.advice or finding.run) == (finding.level != OK)


def test_an_old_python_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (9, 9))
    (finding,) = doctor.python()
    assert (finding.level, finding.advice) == (MISSING, "install Python 9.9 or newer")


def test_a_package_that_does_not_load_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("chess", "no_such_package"))
    good, bad = doctor.packages()
    assert good.level == OK
    assert (bad.level, bad.found) == (MISSING, "No module named 'no_such_package'")
    assert bad.run.endswith(" -m pip install no_such_package")


def test_a_package_is_installed_within_its_bounds() -> None:
    assert doctor.requirement("numba") == "numba>=0.61,<0.69"
    assert doctor.requirement("chess") == "chess>=1.11"


def test_an_extra_that_is_not_there_is_a_note_and_all_is_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "about", lambda: About([], {"web": ["no_such_package>=1"]}, {}))
    first, *_ = doctor.extras()
    assert (first.level, first.subject, first.run) == (NOTE, "extra web", how_to_add("web"))
    assert (
        first.found
        == "not installed: no_such_package; `obscuro web` and `obscuro mistboard` needs it"
    )
    assert report(first)[1][-1] == "All is well."


@pytest.mark.parametrize("checkout", [True, False])
def test_missing_browser_parts_are_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checkout: bool
) -> None:
    def read_part(name: str) -> str:
        raise MissingPartsError(name)

    fetch = tmp_path / "install_browser_parts"
    if checkout:
        fetch.touch()
    monkeypatch.setattr("obscuro.viewer.browser_parts.parts.read_part", read_part)
    monkeypatch.setattr("obscuro.viewer.browser_parts.parts.FETCH", str(fetch))
    (finding,) = doctor.browser_parts()
    assert (finding.level, finding.run) == (HINT, str(fetch) if checkout else "")
    assert bool(finding.advice) != checkout


@pytest.mark.parametrize(
    ("programs", "user", "command"),
    [
        (["apt-get"], 1000, "sudo apt-get install -y stockfish"),
        (["apt-get", "brew"], 0, "apt-get install -y stockfish"),
        (["brew"], 501, "brew install stockfish"),
        ([], 1000, ""),
    ],
)
def test_stockfish_is_installed_as_the_system_does_it(
    monkeypatch: pytest.MonkeyPatch, programs: list[str], user: int, command: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name in programs else None)
    monkeypatch.setattr("os.geteuid", lambda: user)
    found, words = doctor.how_to_install_stockfish()
    assert found == command and bool(words) != bool(command)


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
    assert finding == (OK, "network", "nn-0.nnue of Stockfish 99, /cache/nn-0.v1", "", "")


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


def kernels() -> dict[str, Finding]:
    return {finding.subject: finding for finding in doctor.kernels()}


def test_a_player_without_its_kernels_is_told_apart(files: KernelFiles) -> None:
    files.save("obscuro.rules.bits", "folded_product.nbc", b"code")
    files.note_complete("obscuro.players.depth1", "nnue")
    found = kernels()
    assert [found[f"kernels of {name}"].level for name in ("obscuro", "depth1", "zs21")] == [
        *(HINT, OK, NOTE)
    ]
    assert found["kernels of obscuro"].run.endswith(" warmup")
    assert found["kernels of zs21"].run.endswith(" warmup --player zs21")
    assert "random" not in str(found)


def test_following_the_advice_ends_it(files: KernelFiles) -> None:
    # What `warmup --player NAME` notes at its end, for every player that has kernels.
    files.save("obscuro.rules.bits", "folded_product.nbc", b"code")
    for kind in PLAYERS.values():
        if not kind.light:
            files.note_complete(kind.module, "nnue")
    assert {finding.level for finding in kernels().values()} == {OK}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kind in PLAYERS.items() if not kind.light])
def test_warmup_compiles_what_doctor_misses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup", "--player", name]) == 0
    assert main(["doctor"]) == 0
    assert f"ok       kernels of {name:7}" in capsys.readouterr().out


def test_a_command_of_ours_is_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    words = shlex.split(doctor.own_command("doctor", "--help"))
    assert words[0] == sys.executable
    assert subprocess.run(words, check=False, capture_output=True).returncode == 0
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert doctor.own_command("warmup") == "obscuro warmup"


def test_json_has_every_finding() -> None:
    finding = Finding(HINT, "Stockfish", "not found", "words", "command")
    out = io.StringIO()
    code = doctor.run(argparse.Namespace(json=True), checks=[lambda: iter([finding])], out=out)
    told = json.loads(out.getvalue())
    assert code == 0 and told["works"] is True
    assert told["findings"] == [finding._asdict()]


def test_tuning_is_told_and_in_the_json(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"threads": 1, "nodes_per_second": 1000}, {"threads": 2, "nodes_per_second": 1500}]
    figures = {"movetime": 9, "evaluator": "nnue", "searches": rows, "Threads": 2, "Hash": 64}
    monkeypatch.setattr("obscuro.cli.tuning.measure", lambda screen: figures)
    for as_json in (True, False):
        out = io.StringIO()
        arguments = argparse.Namespace(json=as_json, tune=True)
        assert doctor.run(arguments, checks=[], out=out) == 0
        if as_json:
            assert json.loads(out.getvalue())["tuning"] == figures
        else:
            assert "2           1,500  1.50 times" in out.getvalue()
            assert "--option Threads=2 --option Hash=64" in out.getvalue()


def test_no_place_to_write_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obscuro.kernel_cache.kernel_files", lambda: KernelFiles(None, []))
    (finding,) = doctor.kernels()
    assert finding.level == HINT
    assert finding.found == "there is no place to write"
    assert "OBSCURO_CACHE_DIR" in finding.advice


def test_a_numba_that_keeps_no_kernels_is_a_hint(files: KernelFiles) -> None:
    (finding,) = doctor.kernels()
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
