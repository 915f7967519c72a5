"""The tool that measures other roots of the subgame, `tools/proofs/root_variants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.proofs.root_variants import EPSILONS, OPPONENTS, VARIANTS, main, render, render_runs
from tools.results import raw
from tools.results.manifest import Loaded, Run

from .test_klss_table import table

ROOTS = ["Maxmargin", "soft 1, paper", "Maxmargin, likeliest 1"]
ORDERS = ["2-KLUSS", "common knowledge"]


def test_poker_is_measured_with_both_sides_of_the_trade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "roots.json"
    words = ["--games", "kuhn", "kuhn_bet", "--orders", *ORDERS, "--variants", *ROOTS]
    assert main([*words, "--raw", str(file)]) == 0
    stored = raw.load(file).data
    text = "\n".join(render(stored))
    assert text in capsys.readouterr().out, "a page shows what was printed"

    floored = table(text, "gain: uniform ▼")
    assert [row[0] for row in floored] == ["blueprint", *ROOTS]
    found = {row[0]: row[1:] for row in floored}
    assert found["blueprint"] == ["0.0079", "0.0079", "0", "0", "0"]
    # The table of subgame solving has these two for each of the two games.
    assert found["Maxmargin"][:2] == ["0.0521 (2)", "0.0008 (0)"]
    assert found["soft 1, paper"][1].endswith("(2)"), "unsafe"
    by_game = {row[0]: row[1:] for row in table(text, "| kuhn |")}
    assert by_game["blueprint"] == ["0.0124", "0.0035"]
    assert by_game["Maxmargin"] == ["0.0451", "0.0590"]
    assert "Maxmargin, likeliest 1" not in by_game, "only the main roots"

    early = [each for each in stored if each["blueprint"] == "early"]
    start = early[0]
    assert {each["game"] for each in early} == {"kuhn"}, "a floor makes no other early blueprint"
    assert start["variant"] == ""
    assert set(start["values"]) == set(OPPONENTS)
    for each in early[1:]:
        if each["variant"] == "Maxmargin" and each["order"] == "common knowledge":
            assert each["exploitability"] <= start["exploitability"] + 1e-6, "safe"
        gain = each["values"]["equilibrium"] - start["values"]["equilibrium"]
        assert gain <= start["exploitability"] + 1e-6, "an equilibrium gives no more than its value"


def test_games_of_several_runs_are_shown_in_one_table(tmp_path: Path) -> None:
    loaded = []
    for game in ("kuhn", "kuhn_bet"):
        file = tmp_path / f"{game}.json"
        words = ["--games", game, "--blueprints", "floored", "--orders", "2-KLUSS"]
        main([*words, "--variants", "Maxmargin", "--raw", str(file)])
        loaded.append(Loaded(Run("root", game, "", file.name), raw.load(file), tmp_path))
    text = "\n".join(render_runs(loaded))
    assert table(text, "| kuhn |")[1] == ["Maxmargin", "0.0451", "0.0590"]


def test_every_root_that_was_asked_for_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert names == list(VARIANTS)
    assert {
        f"soft {epsilon:g}, {prior}" for epsilon in EPSILONS for prior in ("paper", "even")
    } <= (set(names))
    assert {f"Maxmargin, likeliest {k}" for k in (1, 2, 4, "half")} <= set(names)


@pytest.mark.parametrize("words", [["--variants", "hard"], ["--games", "chess"]])
def test_unknown_roots_and_games_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words)
    assert refused.value.code == 2
