"""The tool that times one subgame of each kind, `tools/proofs/gs2_times.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.proofs.gs2_times import LARGEST, main, render
from tools.results import raw


def test_leducs_largest_infoset_is_solved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "times.json"
    words = ["--games", "leduc", "--iterations", "2"]
    assert main([*words, "--raw", str(file)]) == 0
    stored = raw.load(file)
    assert stored.command == f"python -m tools.proofs.gs2_times {' '.join(words)}"
    (figures,) = stored.data
    unsafe, all_of_them, few = figures["kinds"].values()
    # One card of six is the own one. The other player's may be any other, and so may the board's.
    assert figures["states"] == all_of_them["groups"] == 5
    assert few["groups"] == 3
    assert few["nodes"] * 5 == all_of_them["nodes"] * 3, "each card leaves as many futures"
    assert unsafe["nodes"] == all_of_them["nodes"] * 6, "all own cards"
    assert all(found["seconds"] > 0 for found in figures["kinds"].values())
    assert "\n".join(render(stored.data)) in capsys.readouterr().out


def test_the_papers_times_stand_beside_ours() -> None:
    kinds = {
        kind: {"groups": 7, "nodes": 100, "seconds": seconds}
        for kind, seconds in {"unsafe": 4.0, "1-KLSS": 1.0, "D 3": 0.5}.items()
    }
    figures = {"game": LARGEST, "seat": "first", "kinds": kinds}
    rows = [line.split(" | ") for line in render([figures])][2:]
    assert [row[5:] for row in rows] == [
        ["4.00", "8.0", "122", "12.2 |"],
        ["1.00", "2.0", "41", "4.1 |"],
        ["0.50", "1.0", "10", "1.0 |"],
    ]
