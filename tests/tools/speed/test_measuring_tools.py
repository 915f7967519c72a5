"""Tools that measure the process from outside: `tools.speed.stop_latency` and `memory_use`."""

from __future__ import annotations

import pytest

from tests.tables import rows
from tools.speed import memory_use, stop_latency

pytestmark = pytest.mark.xdist_group("timing")


def test_stops_are_timed_and_held_against_what_is_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--stops", "2", "--longest", "0.2", "--evaluator", "material", "--allowed", "0"]
    assert stop_latency.main(words) == 1, "no stop takes less than 0 ms"
    table = rows(capsys.readouterr().out)
    assert {row[0] for row in table} <= {"before a search has reported", "in a search"}
    assert sum(int(row[1]) for row in table) == 2
    assert all(0 < float(row[3]) <= float(row[5]) for row in table)


def test_stops_are_told_apart_by_whether_a_search_had_reported() -> None:
    stops = [[False, 2.0, 1000], [True, 5.0, 20], [True, 7.0, 3000]]
    assert list(stop_latency.render(stops))[2:] == [
        "| before a search has reported | 1 | 1,000 | 2.0 | 2.0 | 2.0 |",
        "| in a search | 2 | 3,000 | 6.0 | 7.0 | 7.0 |",
    ]


def test_a_full_tree_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory_use, "POSITIONS", memory_use.POSITIONS[:1])
    words = ["--hash", "16", "--evaluator", "material", "--seconds", "20"]
    assert memory_use.main([*words, "--allowed", "1000"]) == 0
    (row,) = rows(capsys.readouterr().out)
    assert row[0] == "16" and row[-1] == "yes"
    assert int(row[4].replace(",", "")) > 10_000
    assert 0 <= int(row[3].split()[0]) <= int(row[2]) - int(row[1]) + 1


def test_memory_beyond_what_is_allowed_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory_use, "measure", lambda *_: (300.0, 349.0, 1234, True))
    assert memory_use.main(["--hash", "16", "--allowed", "33"]) == 0
    assert memory_use.main(["--hash", "16", "--allowed", "32"]) == 1
    assert "| 16 | 300 | 349 | 49 (306%) | 1,234 | yes |" in capsys.readouterr().out
