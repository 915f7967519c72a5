"""The tool that plays the first games, with the fake engine in place of ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.common import ROOT
from tools.play import first_light
from tools.results import matches, raw


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\ncd {ROOT}\nexec {sys.executable} -m tests.matches.fake_engine\n")
    engine.chmod(0o755)
    monkeypatch.setattr(first_light, "ENGINE", engine)
    monkeypatch.setattr(first_light, "MAX_PLIES", 12)
    return tmp_path / "results" / "light.json"


def test_figures_and_games_are_stored(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert first_light.main(["--games", "2", "--movetime", "5", "--raw", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| won / drawn / lost | 0 / 2 / 0 |" in lines
    assert "| true position looked for in P, and found | 12 times |" in lines
    assert "The engine said: obscuro: warning this is a fake" in lines
    table = [line for line in lines if line.startswith(("| 1 |", "| 2 |"))]
    assert table[0].startswith(
        "| 1 | white | drawn | stopped after 12 plies | 6 | 2 | 1,005 | 20 | 10 | 30 | 4.5 |"
    )
    heading = next(line for line in lines if line.startswith("| game |"))
    assert heading.replace("\\|", "").count("|") == table[0].count("|")

    stored = raw.load(file)
    assert stored.command == "python -m tools.play.first_light --games 2 --movetime 5"
    assert list(first_light.render(stored.data)) == lines, "a page shows what was printed"
    assert str(matches.match_row(stored, file.parent).tally) == "0/2/0"


def test_an_engine_that_fails_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(first_light, "ENGINE", Path("/nowhere/engine"))
    assert first_light.main(["--games", "1"]) == 1
    said = capsys.readouterr()
    assert "first_light: can't run /nowhere/engine: No such file" in said.err
    assert "| won / drawn / lost | 0 / 0 / 0 |" in said.out
