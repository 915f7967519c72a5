"""The tool that plays the first games, with the fake engine in place of ours."""

import sys
from pathlib import Path

import chess.pgn
import pytest

from tools.play import first_light

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\ncd {ROOT}\nexec {sys.executable} -m tests.arena.fake_engine\n")
    engine.chmod(0o755)
    monkeypatch.setattr(first_light, "ENGINE", engine)
    monkeypatch.setattr(first_light, "MAX_PLIES", 12)
    return tmp_path / "results" / "report.md"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["first_light.py", *arguments])
    return first_light.main()


def test_writes_a_report_and_the_games(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = run(monkeypatch, "--games", "2", "--movetime", "5", "--report", str(report))
    assert code == 0
    lines = report.read_text().splitlines()
    assert lines[0] == "# First light"
    assert "2 games (1 as White, 1 as Black), 5 ms a move" in lines[2]
    assert f"python -m tools.play.first_light --games 2 --movetime 5 --report {report}" in lines
    assert "| won / drawn / lost | 0 / 2 / 0 |" in lines
    assert "| true position looked for in P, and found | 12 times |" in lines
    assert "- obscuro: warning this is a fake" in lines
    rows = [line for line in lines if line.startswith(("| 1 |", "| 2 |"))]
    assert rows[0].startswith(
        "| 1 | white | drawn | stopped after 12 plies | 6 | 2 | 1,005 | 20 | 10 | 30 | 4.5 |"
    )
    heading = next(line for line in lines if line.startswith("| game |"))
    assert heading.replace("\\|", "").count("|") == rows[0].count("|")
    with report.with_suffix(".pgn").open() as stream:
        games = [chess.pgn.read_game(stream) for _ in range(3)]
    assert [game is not None for game in games] == [True, True, False]


def test_an_engine_that_fails_is_one_line(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(first_light, "ENGINE", Path("/nowhere/engine"))
    assert run(monkeypatch, "--games", "1", "--report", str(report)) == 1
    assert "first_light: can't run /nowhere/engine: No such file" in capsys.readouterr().out
    assert "Broken off: 0 of 1 games were played." in report.read_text()
