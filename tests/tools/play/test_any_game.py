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
    assert "| Dark hex 3×3, classical | ismcts | 0.01 s | 8 | 2 |" in capsys.readouterr().out


def test_a_match_is_played_at_each_number_of_iterations(tmp_path: Path) -> None:
    file = tmp_path / "hex.json"
    words = ["--games", "dark_hex_2", "--number", "2", "--iterations", "16", "512", "--exact"]
    assert main([*words, "--train", "0.01", "--raw", str(file)]) == 0
    matches = raw.load(file).data["matches"]
    assert [each["limit"]["iterations"] for each in matches] == [16, 512, 16, 512]
    assert [each["iterations"] is None for each in matches] == [True, True, False, False]
    for few, many in (matches[:2], matches[2:]):
        assert 0 < few["expanded"] < many["expanded"]


def test_the_parameters_of_chess_are_played_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for words in ([], ["--chess-settings"]):
        file = tmp_path / f"{len(words)}.json"
        base = ["--games", "kuhn", "--rivals", "--exact", "500", "--raw", str(file)]
        assert main([*base, *words]) == 0
        found.append(raw.load(file).data["exact"][0]["exploitability"])
    assert found[0] < found[1]
    printed = capsys.readouterr().out
    assert "| default | 8 | 500 | 1 |" in printed
    assert "| chess | 8 | 500 | 1 |" in printed


def test_exploitability_is_the_mean_over_seeds() -> None:
    row = {"game": "kuhn", "iterations": 500, "rollouts": 8, "chess_settings": False}
    row |= {"infosets": 12, "uniform": 0.4583}
    rows = [row | {"exploitability": found} for found in (0.01, 0.04)]
    lines = list(render({"matches": [], "exact": rows}))
    cells = "| Kuhn poker | 12 | default | 8 | 500 | 2 | 0.0250 | 0.0100 – 0.0400 | 0.4583 |"
    assert lines[2:] == [cells]


def test_a_mean_has_its_error() -> None:
    match = {
        "game": "leduc",
        "rival": "mccfr",
        "payoffs": [1.0, -1.0, 3.0, 1.0],
        "seconds": 0.1,
        "rival_seconds": 0.0,
        "limit": {"seconds": None, "iterations": 1000},
        "rollouts": 8,
        "expanded": 249.6,
        "iterations": 1234,
    }
    lines = list(render({"matches": [match], "exact": []}))
    row = "| Leduc poker | mccfr, 1,234 iterations | 1,000 it. | 8 | 4 | +1.000 ± 0.816 |"
    assert lines[2:] == [f"{row} 250 | 0.100 | 0.000 |"]
