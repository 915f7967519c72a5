"""Tools that measure the process from outside: `tools.speed.stop_latency` and `memory_use`."""

from __future__ import annotations

import pytest

from tests.tables import rows
from tools.speed import memory_use, stop_latency

pytestmark = pytest.mark.xdist_group("timing")


@pytest.mark.parametrize(("allowed", "code"), [("60000", 0), ("0", 1)])
def test_stops_are_timed_and_held_against_what_is_allowed(
    capsys: pytest.CaptureFixture[str], allowed: str, code: int
) -> None:
    words = ["--stops", "4", "--longest", "0.3", "--evaluator", "material", "--allowed", allowed]
    assert stop_latency.main(words) == code
    table = rows(capsys.readouterr().out)
    assert {row[0] for row in table} <= {"before a search has reported", "in a search"}
    assert sum(int(row[1]) for row in table) == 4
    assert all(0 < float(row[3]) <= float(row[5]) for row in table)


def test_a_full_tree_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--hash", "16", "--evaluator", "material", "--seconds", "20"]
    assert memory_use.main([*words, "--allowed", "1000"]) == 0
    (row,) = rows(capsys.readouterr().out)
    assert row[0] == "16" and row[-1] == "yes"
    assert int(row[4].replace(",", "")) > 10_000
    assert 0 <= int(row[3].split()[0]) <= int(row[2]) - int(row[1]) + 1


def test_memory_beyond_what_is_allowed_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--hash", "16", "--evaluator", "material", "--seconds", "1", "--allowed", "-1000"]
    assert memory_use.main(words) == 1
    assert len(rows(capsys.readouterr().out)) == 1
