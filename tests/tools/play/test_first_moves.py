"""The tools of the engine's first moves: `tools.play.first_moves`."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.engine.options import Options
from tools.common import engine_options
from tools.play import first_moves
from tools.results import raw

SEARCHES = [
    {"opening": "", "move": "d4", "value": 0.1, "nodes": 1000, "policy": {"d4": 0.8, "b4": 0.2},
     "play": {"d4": 1.0}},
    {"opening": "", "move": "b4", "value": 0.3, "nodes": 2000, "policy": {"d4": 0.6, "b4": 0.4},
     "play": {"d4": 0.5, "b4": 0.5}},
    {"opening": "d2d4", "move": "c5", "value": -0.1, "nodes": 500, "policy": {"c5": 1.0},
     "play": {"c5": 1.0}},
]  # fmt: skip


def test_first_moves_are_shown_beside_the_papers() -> None:
    lines = list(first_moves.render(SEARCHES))
    assert lines[0] == (
        "White: 2 searches. The value for the side to move is +0.200 ± 0.100 (deviation), "
        "with 1,500 nodes."
    )
    assert lines[4:7] == [
        "| d4 | 50.0% ± 50.0% | 70.0% | 75.0% | 66.4% |",
        "| b4 | 50.0% ± 50.0% | 30.0% | 25.0% |  |",
        "| c4 | 0.0% ± 50.0% | 0.0% | 0.0% | 29.6% |",
    ]
    black = lines[lines.index("") + 1 :]
    assert any(line.startswith("Black, after 1.d2d4: 1 searches.") for line in black)
    assert "| c5 | 100.0% ± 100.0% | 100.0% | 100.0% | 4.8% |" in black


def test_first_moves_are_searched_with_the_options_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    floors = []

    def search(options: Options, opening: str, movetime: int) -> dict[str, object]:
        floors.append((options.search_parameters().puct_least_variance, opening))
        return {**SEARCHES[0], "opening": opening}

    monkeypatch.setattr(first_moves, "search", search)
    file = tmp_path / "moves.json"
    words = ["--searches", "1", "--option", "Search=puct_least_variance=0", "--raw", str(file)]
    assert first_moves.main(words) == 0
    assert floors == [(0.0, ""), (0.0, "d2d4"), (0.0, "c2c4")]
    assert len(raw.load(file).data) == 3


def test_searches_go_on_from_the_raw_file_and_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []

    def search(options: Options, opening: str, movetime: int) -> dict[str, object]:
        seeds.append(options.integer("Seed"))
        return {**SEARCHES[0], "opening": opening}

    monkeypatch.setattr(first_moves, "search", search)
    file = tmp_path / "moves.json"
    words = ["--searches", "5", "--openings", "", "--raw", str(file)]
    for most, there in (("2", 2), ("2", 4), ("9", 5)):
        assert first_moves.main([*words, "--at-most", most]) == 0
        found = raw.load(file)
        assert len(found.data) == there
        assert found.command == "python -m tools.play.first_moves --searches 5 --openings ''"
    assert seeds == [1, 2, 3, 4, 5]
    assert first_moves.main(words) == 0
    assert seeds[5:] == [1, 2, 3, 4, 5], "what is complete is measured anew"
    assert first_moves.main([*words, "--seed", "7", "--at-most", "1"]) == 0
    assert seeds[10:] == [7] and len(raw.load(file).data) == 1, "another command begins anew"


@pytest.mark.parametrize("option", ["Search", "Search=puct_c=-1", "No Such=1", "Threads=many"])
def test_options_that_are_none_are_refused(option: str) -> None:
    with pytest.raises(SystemExit):
        first_moves.main(["--option", option])


def test_a_first_move_is_searched_as_a_new_game() -> None:
    options = engine_options(Evaluator="material", Seed=1)
    found = first_moves.search(options, "d2d4", 100)
    assert found["opening"] == "d2d4" and found["nodes"] > 0
    assert found["play"][found["move"]] > 0
    assert sum(found["policy"].values()) == pytest.approx(1.0, abs=0.01)
