"""The tool that measures the search on small games, `tools/proofs/small_games.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.games.solve import growing_iterations
from tools.proofs.small_games import BEGIN_MARK, END_MARK, Row, checkpoints, good_from, main


def row(iterations: int, average: float) -> Row:
    return Row("kuhn", "whole", iterations, 24, 1.0, 54, 12, average, average, 0.0, 0.0)


def test_all_writes_a_table_and_a_plot(tmp_path: Path) -> None:
    page, picture = tmp_path / "page.md", tmp_path / "picture.png"
    words = ["--all", "kuhn", "--iterations", "64", "--markdown", str(page), "--plot", str(picture)]
    assert main(words) == 0
    lines = page.read_text(encoding="utf-8").splitlines()
    for method in ("whole", "one-sided", "two-sided"):
        assert sum(line.startswith(f"| kuhn | {method} |") for line in lines) == 2
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_only_what_is_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN_MARK}\nold\n{END_MARK}\nafter\n", encoding="utf-8")
    main(["kuhn", "--iterations", "16", "--markdown", str(page)])
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN_MARK}\n")
    assert text.endswith(f"\n{END_MARK}\nafter\n")
    assert "old" not in text
    assert "| kuhn | one-sided |" in text


def test_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("precious\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="lacks the marks"):
        main(["kuhn", "--iterations", "16", "--markdown", str(page)])
    assert page.read_text(encoding="utf-8") == "precious\n"


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
