"""The tool that compares the rules of exploration, `tools/play/exploration.py`."""

from __future__ import annotations

import pytest

from tests.tables import rows
from tools.play.exploration import RULES, main


def test_kuhn_is_solved_by_the_rules_that_go_on_exploring(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["games", "kuhn", "--iterations", "400", "--seeds", "2"]) == 0
    found = {row[1]: float(row[3]) for row in rows(capsys.readouterr().out)}
    assert found.keys() == RULES.keys()
    assert found["deviation"] < 1e-5 and found["variance ≥ 0.4"] < 1e-5
    assert found["variance"] > 0.01


def test_trees_of_chess_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["chess", "--nodes", "500", "--evaluator", "material", "--rule", "deviation"]
    assert main(words) == 0
    table = rows(capsys.readouterr().out)
    assert [row[:2] for row in table] == [["deviation", str(move)] for move in (1, 2, 3, 4)]
    assert all(int(row[4].replace(",", "")) >= 500 for row in table)


def test_unknown_games_are_refused() -> None:
    with pytest.raises(SystemExit):
        main(["games", "chess"])
