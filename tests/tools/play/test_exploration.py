"""The tool that compares the rules of exploration, `tools/play/exploration.py`."""

from __future__ import annotations

import pytest

from tests.tables import rows
from tools.play.exploration import RULES, main, render


def test_kuhn_is_solved_by_the_rules_that_go_on_exploring(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["games", "kuhn", "--iterations", "400", "--seeds", "1"]) == 0
    found = {row[1]: float(row[3]) for row in rows(capsys.readouterr().out)}
    assert found.keys() == RULES.keys()
    assert found["variance ≥ 0.4"] < 1e-5
    assert found["variance"] > 0.01


def test_trees_of_chess_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["chess", "--nodes", "500", "--evaluator", "material", "--rule", "variance"]
    assert main(words) == 0
    table = rows(capsys.readouterr().out)
    assert [row[:2] for row in table] == [["variance", str(move)] for move in (1, 2, 3, 4)]
    assert all(int(row[4].replace(",", "")) >= 500 for row in table)


def test_searches_of_a_position_are_put_together() -> None:
    search = {"position": "start", "rule": "variance", "nodes": 9}
    searches = [
        {**search, "seed": 1, "value": 0.1, "policy": {"d4": 0.95, "c4": 0.05}},
        {**search, "seed": 2, "value": 0.3, "policy": {"d4": 0.5, "c4": 0.3, "e4": 0.2}},
    ]
    assert rows("\n".join(render({"positions": searches}))) == [
        ["start", "variance", "+0.200 (+0.100, +0.300)", "1 of 2", "d4 0.72, c4 0.17, e4 0.10"]
    ]


def test_unknown_games_are_refused() -> None:
    with pytest.raises(SystemExit):
        main(["games", "chess"])
