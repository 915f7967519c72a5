"""The tool that makes the tables of subgame solving, `tools/proofs/klss_table.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obscuro.research.games.klss_rows import ROWS
from tools.proofs.klss_table import (
    KINDS,
    Measured,
    Outcome,
    agrees,
    main,
    number,
    ratio,
    render,
    verdict,
)
from tools.results import raw


def table(text: str, head: str) -> list[list[str]]:
    """The rows of the Markdown table whose first line has all of these words."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|") and head in line)
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_poker_is_written_beside_the_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.json"
    words = ["--games", "kuhn", "kuhn_bet", "--range", "1"]
    assert main([*words, "--raw", str(file)]) == 0
    printed = capsys.readouterr().out
    stored = raw.load(file)
    assert stored.command == f"python -m tools.proofs.klss_table {' '.join(words)}"
    text = "\n".join(render(stored.data))
    assert text in printed, "a page shows what was printed"

    one = table(text, "1-KLSS: K")
    assert [row[0] for row in one] == ["Kuhn poker", "Kuhn poker (ε-bet)"]
    assert one[0][1:5] == [".0124", "0.01240", ".0015", "0.00149"]
    assert one[1][1:5] == [".0035", "0.00347", ".0", "0.00000"]
    assert [row[-3:] for row in one] == [["8.3", "8.333", "yes"], ["∞", "∞", "yes"]]
    # The worst of the optimal strategies leaves Kuhn's ε-bet blueprint as it is.
    assert one[1][5] == "0.00000 – 0.00347"

    kinds = table(text, "programs")
    assert [row[1] for row in kinds] == ["blueprint", *KINDS] * 2
    safe = [row for row in kinds if row[1] == "common knowledge"]
    assert all(float(safe[i][2]) < float(one[i][2]) for i in range(2))

    two = table(text, "diameter")
    assert len(two) == 2, "each game once"
    assert two[0][2:-1] == two[1][2:-1]
    assert two[1][-1] == "yes"

    lines = printed.splitlines()
    assert lines[0].startswith("kuhn: blueprint 0.01240, 1-KLSS 0.00149")
    others = [line for line in lines if line.startswith("kuhn: 1-KLSS, ")]
    assert len(others) == 9, "two as solved, six against an opponent, one at random"


@pytest.mark.parametrize(
    "words",
    [["--games", "chess"], ["--games"], ["--range", "many"], ["--kinds", "common knowledge"]],
)
def test_unknown_words_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(words)
    assert refused.value.code == 2


def test_another_epsilon_is_not_compared_with_the_papers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--games", "kuhn", "--epsilon", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "K |" not in printed
    rows = table(printed, "blueprint")
    assert rows[0][:3] == ["Kuhn poker", "0.00444", "0.00021"]
    assert float(rows[0][5]) == pytest.approx(0.00444 / 0.00021, rel=0.02)


def test_equilibrium_has_no_ratio_and_each_choice_a_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--games", "kuhn", "--epsilon", "0", "--range", "0", "--kinds", "1-KLSS"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    (row,) = table(printed, "1-KLSS, as solved")
    assert row == ["Kuhn poker", *["0.00000"] * 10]
    assert "ratio" not in printed


@pytest.mark.parametrize(
    "value, printed, expected",
    [
        (0.06836, ".0683", True),  # the paper has cut it
        (0.00347, ".0035", True),  # and rounded this one
        (0.01892, ".0191", False),
        (0.07392, ".077", False),
        (3e-7, ".0", True),
        (0.001, ".0", False),
        (np.inf, "∞", True),
        (8.3, "∞", False),
        (8.333, "8.3", True),
    ],
)
def test_figures_agree_up_to_their_last_digit(value: float, printed: str, expected: bool) -> None:
    assert agrees(value, printed) is expected


def measured(after: float, *others: float) -> Measured:
    named = {str(i): value for i, value in enumerate(others)}
    outcome = Outcome(after, named, 1, 1, 0.0)
    sizes = ROWS["leduc"].two
    return Measured(ROWS["leduc"], sizes, 0.0207, {"1-KLSS": outcome})  # type: ignore[arg-type]


def test_verdict_tells_the_figure_from_the_range() -> None:
    assert verdict(measured(0.0191)) == "yes"
    assert verdict(measured(0.0180, 0.0200)) == "in the range"
    assert verdict(measured(0.0180, 0.0185)) == "no"
    assert verdict(measured(0.0195)) == "no"


def test_nothing_left_is_an_infinite_ratio() -> None:
    assert ratio(measured(1e-8), "1-KLSS") == np.inf
    assert ratio(measured(0.0069), "1-KLSS") == pytest.approx(3.0)
    assert [number(-1e-8), number(np.inf), number(0.123456)] == ["0.00000", "∞", "0.12346"]
