"""The tool that runs all proofs, `tools/proofs/all_proofs.py`."""

from __future__ import annotations

import importlib
import json
import shlex
from pathlib import Path

import pytest

from tools.proofs import all_proofs
from tools.proofs.all_proofs import PROOFS, Proof, main

GOOD = Proof("good", "that it is", "python -c pass")
BAD = Proof("bad", "nothing", "python -c 'raise SystemExit(3)'")


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_failure_stops_nothing_and_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(all_proofs, "PROOFS", (BAD, GOOD))
    file = tmp_path / "last_run.json"
    assert main(["--raw", str(file)]) == 1
    out, err = capsys.readouterr()
    assert [row[0] for row in rows(out)] == [f"`{BAD.command}`", f"`{GOOD.command}`"]
    assert [row[3] for row in rows(out)] == ["failed, exit code 3", "passed"]
    assert out.splitlines()[-1].startswith("1 of 2 passed, in ")
    assert "=== 2 of 2: python -c pass" in err
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert [each["result"] for each in stored["data"]] == ["failed, exit code 3", "passed"]


def test_all_that_pass_are_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(all_proofs, "PROOFS", (GOOD, BAD))
    assert main(["--only", "good"]) == 0
    assert len(rows(capsys.readouterr().out)) == 1


def test_what_is_broken_off_is_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(all_proofs, "PROOFS", (GOOD, BAD))
    monkeypatch.setattr(all_proofs.subprocess, "run", interrupt)
    assert main([]) == 130
    assert [row[3] for row in rows(capsys.readouterr().out)] == ["not run", "not run"]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_every_command_is_understood(proof: Proof) -> None:
    program, switch, module, *words = shlex.split(proof.command)
    assert (program, switch) == ("python", "-m")
    if module != "pytest":
        importlib.import_module(module).make_parser().parse_args(words)
