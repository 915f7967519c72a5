"""The tool that makes the tables of generative subgame solving, `tools/proofs/gs2_table.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.proofs.gs2_table import (
    LIMITED_SIZES,
    USUAL,
    kinds,
    limited,
    main,
    render,
    render_bars,
)
from tools.results import raw
from tools.results.manifest import Loaded, Run


def test_the_shedding_game_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.json"
    words = ["--games", "shedding", "--seats", "second", "--iterations", "2", "--seeds", "2"]
    words += ["--kinds", "unsafe", "R 1", "--visits", "100", "--simultaneous"]
    assert main([*words, "--raw", str(file)]) == 0
    stored = raw.load(file)
    assert stored.command.startswith("python -m tools.proofs.gs2_table --games shedding")
    (figures,) = stored.data
    assert list(figures["kinds"]) == ["unsafe", "R 1", "1-KLSS, 100", "D 3, 100", "D 10, 100"]
    assert len(figures["kinds"]["R 1"]["after"]) == 2
    assert figures["value"] == pytest.approx(-1.32857, abs=1e-5)
    text = "\n".join(render(stored.data))
    assert text in capsys.readouterr().out, "a page shows what was printed"
    assert "| Shedding game, 8 cards | – | 7,413 |" in text
    before = f"| Shedding game, 8 cards | 2 | 2 | {figures['blueprint']:.4f} |"
    assert f"{before} {figures['kinds']['unsafe']['after'][0]:.4f} |" in text.replace("*", "")
    losses = [figures["kinds"][f"{kind}, 100"]["after"][0] for kind in ("1-KLSS", "D 3", "D 10")]
    cells = " | ".join(f"{loss:.4f}" for loss in losses)
    assert f"{before} 100 | {cells} |" in text.replace("*", "")


def test_what_is_not_in_the_paper_is_measured_on_demand_only() -> None:
    assert USUAL == ["unsafe", "1-KLSS", "D 1", "D 3", "D 10", "R 1", "R 3", "R 10"]
    assert {"D 3 reweighted", "D 10 random ties"} <= kinds(1).keys() - set(USUAL)
    assert len(limited([10, 20])) == 2 * (1 + len(LIMITED_SIZES))


def test_bars_are_held_against_the_mean_of_all_seeds(tmp_path: Path) -> None:
    losses = {"1-KLSS": [0.2], "D 3": [0.3], "D 10": [0.32], "R 3": [0.1, 0.9]}
    figures = {
        "game": "goofspiel_10",
        "blueprint": 0.4,
        "kinds": {kind: {"after": after} for kind, after in losses.items()},
    }
    both = [
        {**figures, "seat": "first", "iterations": 100},
        {**figures, "seat": "second", "iterations": 30},
        {**figures, "seat": "second", "iterations": 100},
        {**figures, "seat": "first", "iterations": 100, "game": "leduc"},
    ]
    run = Run("gs2", "one", "python -m tools.proofs.gs2_table --simultaneous", "gs2/one.json")
    found = Loaded(run, raw.Raw(run.command, "abc", "2026-01-01", "", both), tmp_path)
    rows = [line.strip("| ").split(" | ") for line in render_bars([found])][2:]
    assert [row[3:] for row in rows] == [
        ["1.50", "**no**"],
        ["0.75", "yes"],
        ["0.80", "**no**"],
        ["1.25", "yes"],
    ]
    assert {row[2] for row in rows} == {"simultaneous"}
