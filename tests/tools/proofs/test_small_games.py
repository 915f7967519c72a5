"""The tool that measures the search on small games, `tools/proofs/small_games.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.research.games.search_game import growing_iterations
from tools.proofs.small_games import Row, checkpoints, good_from, main, render
from tools.results import raw


def row(iterations: int, average: float) -> Row:
    return Row("kuhn", "whole", iterations, 24, 1.0, 54, 12, average, average, 0.0, 0.0)


def test_all_stores_what_the_page_and_the_picture_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, picture = tmp_path / "new" / "solved.json.gz", tmp_path / "picture.png"
    words = ["--all", "kuhn", "--iterations", "64"]
    assert main([*words, "--raw", str(file), "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    stored = raw.load(file)
    lines = list(render(stored.data))
    assert "\n".join(lines) in printed
    for method in ("whole", "one-sided", "two-sided"):
        assert sum(line.startswith(f"| kuhn | {method} |") for line in lines) == 2
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_missing_the_goal_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kuhn", "--iterations", "8"]) == 1
    assert "kuhn one-sided" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("words", [[], ["chess"], ["kuhn", "--method", "no"]])
def test_unknown_words_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words)
    assert refused.value.code == 2


def test_goal_counts_from_where_it_is_kept() -> None:
    assert good_from([row(8, 1e-4), row(16, 1e-2), row(32, 1e-4), row(64, 1e-5)]) == row(32, 1e-4)
    assert good_from([row(8, 1e-4), row(16, 1e-2)]) is None


@pytest.mark.parametrize("iterations", [1, 7, 512, 1000])
def test_checkpoints_end_with_growth_and_with_the_last_iteration(iterations: int) -> None:
    rows = checkpoints(iterations)
    assert rows == sorted(set(rows))
    assert rows[-1] == iterations
    assert growing_iterations(iterations) in rows
