"""The tool that plays OpenSpiel's games, `tools/play/any_game.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.play.any_game import main, render
from tools.results import raw

QUICK = ["--seconds", "0.01", "--train", "0.01"]


def test_it_plays_both_rivals_and_measures_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kuhn.json"
    words = ["--games", "kuhn", "--number", "2", "--exact", "64", *QUICK, "--raw", str(file)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    stored = raw.load(file).data
    assert [len(each["payoffs"]) for each in stored["matches"]] == [2, 2]
    assert [each["rival"] for each in stored["matches"]] == ["ismcts", "mccfr"]
    assert stored["matches"][1]["iterations"] > 0
    (exact,) = stored["exact"]
    assert 0.0 <= exact["exploitability"] <= exact["uniform"]
    assert "\n".join(render(stored)) in printed


def test_worlds_come_from_the_belief_where_openspiel_draws_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--games", "dark_hex", "--rivals", "ismcts", "--number", "2", *QUICK]
    assert main(words) == 0
    assert "| Dark hex 3×3, classical | ismcts | 2 |" in capsys.readouterr().out


def test_a_mean_has_its_error() -> None:
    match = {
        "game": "leduc",
        "rival": "mccfr",
        "payoffs": [1.0, -1.0, 3.0, 1.0],
        "seconds": 0.1,
        "rival_seconds": 0.0,
        "iterations": 1234,
    }
    lines = list(render({"matches": [match], "exact": []}))
    row = "| Leduc poker | mccfr, 1,234 iterations | 4 | +1.000 ± 0.816 | 0.100 | 0.000 |"
    assert lines[2:] == [row]
