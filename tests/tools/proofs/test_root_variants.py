"""The tool that measures other roots of the subgame, `tools/proofs/root_variants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.proofs.root_variants import EPSILONS, OPPONENTS, VARIANTS, main, render
from tools.results import raw

from .test_klss_table import table

ROOTS = ["Maxmargin", "Resolve", "soft 1, paper", "Maxmargin, likeliest 1"]


def test_poker_is_measured_with_both_sides_of_the_trade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "roots.json"
    assert main(["--games", "kuhn", "--variants", *ROOTS, "--raw", str(file)]) == 0
    stored = raw.load(file).data
    text = "\n".join(render(stored))
    assert text in capsys.readouterr().out, "a page shows what was printed"

    floored = table(text, "gain: uniform ▼")
    assert [row[0] for row in floored] == ["blueprint", *ROOTS]
    found = {row[0]: row[1:] for row in floored}
    assert found["blueprint"] == ["0.0124", "0.0124", "0.0124", "0", "0", "0"]
    # The table of subgame solving has these three.
    assert found["Maxmargin"][:3] == ["0.0015 (0)", "0.0451 (1)", "0.0016 (0)"]
    assert float(found["soft 1, paper"][2].split()[0]) > 0.0124, "unsafe"
    by_game = table(text, "| kuhn |")
    assert by_game[1] == ["Maxmargin", "0.0451"]

    early = [each for each in stored if each["blueprint"] == "early"]
    start = early[0]
    assert start["variant"] == ""
    assert set(start["values"]) == set(OPPONENTS)
    for each in early[1:]:
        if each["variant"] in ROOTS[:2] and each["order"] == "common knowledge":
            assert each["exploitability"] <= start["exploitability"] + 1e-6, "safe"
        gain = each["values"]["equilibrium"] - start["values"]["equilibrium"]
        assert gain <= start["exploitability"] + 1e-6, "an equilibrium gives no more than its value"


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
