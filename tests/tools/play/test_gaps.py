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


def test_each_turn_is_searched_with_each_number_of_nodes():
    rows = measure([filed(("e2e4", "e7e5", "g1f3", "b8c6"), None)], [50, 100], 1, "1")
    assert [r["ply"] for r in rows] == [0]
    assert set(rows[0]["gaps"]) == {"50", "100"}
    assert all(gap == pytest.approx(gap) and gap > -1e-6 for gap in rows[0]["gaps"].values())
