"""The tool that measures roots, safe sets and merging, `tools/proofs/klss_variants.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.research.games.klss_rows import EPSILON, ROWS
from tools.proofs.klss_variants import Game, is_safe, main, merged_nodes, render, render_runs
from tools.results import raw
from tools.results.manifest import Loaded, Run

from .test_klss_table import table


def test_poker_is_measured_written_and_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "variants.json"
    words = ["--games", "kuhn", "--seeds", "4"]
    assert main([*words, "--raw", str(file)]) == 0
    printed = capsys.readouterr().out
    text = "\n".join(render(raw.load(file).data))
    assert text in printed, "a page shows what was printed"

    (roots,) = table(text, "Reach-Resolve")
    assert roots[:4] == ["Kuhn poker", "0.01240", "0.00149", "0.00149"]
    assert all(float(cell) < 0.0124 for cell in roots[2:])
    (safety,) = table(text, "Algorithm 14")
    assert safety[1:3] == ["0.01240", "0.00149"]
    assert float(safety[5]) <= float(safety[3]) <= float(safety[4]) <= 0.0124
    assert safety[6:] == ["6", "2.0"]
    (merged,) = table(text, "merged")
    assert merged[1:5] == ["12", "4", "0.01240", "0.00149"]
    assert merged[7] == "**0.02530**", "more exploitable than the blueprint"


def test_runs_are_joined_in_the_order_of_the_papers_table(tmp_path: Path) -> None:
    loaded = []
    for name in ("matching_pennies", "kuhn_bet", "dark_hex"):
        file = tmp_path / f"{name}.json"
        assert main(["--games", name, "--seeds", "1", "--raw", str(file)]) == 0
        loaded.append(Loaded(Run("page", name, "", file.name), raw.load(file), tmp_path))
    text = "\n".join(render_runs(loaded))
    for head in ("Reach-Resolve", "Algorithm 14", "merged"):
        titles = [row[0] for row in table(text, head)]
        assert titles == [ROWS[name].title for name in ("dark_hex", "kuhn_bet", "matching_pennies")]


def test_game_without_transpositions_has_no_figures_for_merging(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--games", "matching_pennies", "--seeds", "1"]) == 0
    (merged,) = table(capsys.readouterr().out, "merged")
    assert merged[1:] == ["100", "0", "0.00130", "**0.00978**", "", "", ""]


def test_nodes_are_counted_as_the_sum_over_infosets() -> None:
    found = merged_nodes(Game(ROWS["kuhn"], EPSILON).tree)
    assert found == {"nodes": 12, "merged": 4}


@pytest.mark.parametrize("words", [["--games", "chess"], ["--seeds", "0"]])
def test_unknown_words_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words)
    assert refused.value.code == 2


def test_what_breaks_a_theorem_is_not_safe() -> None:
    known = {"Maxmargin": 0.01}
    figures = {
        "blueprint": 0.02,
        "roots": {"1-KLSS": {"Maxmargin": 0.5}, "common knowledge": known},
        "safety": {"drawn": [0.01, 0.02], "mixture": 0.015},
    }
    assert is_safe(figures), "1-KLSS everywhere need not be"
    assert not is_safe({**figures, "safety": {"drawn": [0.03], "mixture": 0.01}})
    known["Resolve"] = 0.03
    assert not is_safe(figures)
