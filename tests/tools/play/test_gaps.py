"""The gap of the last iterate, in recorded games."""

import pytest

from tests.tools.play.filed_games import filed
from tools.play.gaps import measure, render


def row(gap, p_max):
    return {
        "game": 1,
        "ply": 0,
        "belief": 1,
        "gaps": {"20000": gap},
        "p_max": {"20000": p_max},
    }


def test_only_turns_in_resolve_count_and_a_pawn_is_a_sixth():
    *_, line = render([row(0.1, 1.0), row(0.05, 0.5), row(0.0, 0.0)])
    assert line == "| 20,000 | 3 | 2 | 0.450 | 0.450 | 0.570 | 0.60 | 50.0% |"


def test_times_are_those_of_the_same_turn_in_the_first_row():
    rows = [
        row(0.1, 1.0) | {"seconds": {"20000": 2.0}},
        row(0.1, 1.0) | {"seconds": {"20000": 1.0}},
    ]
    for each in rows:
        for figures, value in ((each["gaps"], 0.2), (each["p_max"], 1.0)):
            figures["20000 long"] = value
        each["seconds"]["20000 long"] = 3.0
    *_, first, second = render(rows)
    assert first.endswith("| 1.50 | 1.00 |")
    assert second == "| 20,000 long | 2 | 2 | 1.200 | 1.200 | 1.200 | 1.20 | 0.0% | 3.00 | 2.25 |"


def test_each_turn_is_searched_with_each_number_of_nodes_and_variant():
    searches = {"50": (50, ""), "100 long": (100, "iterations_per_expansion=9")}
    rows = measure([filed(("e2e4", "e7e5", "g1f3", "b8c6"), None)], searches, 1, "1")
    assert [r["ply"] for r in rows] == [0]
    assert set(rows[0]["gaps"]) == set(rows[0]["seconds"]) == {"50", "100 long"}
    assert all(gap == pytest.approx(gap) and gap > -1e-6 for gap in rows[0]["gaps"].values())
    assert all(spent > 0 for spent in rows[0]["seconds"].values())
