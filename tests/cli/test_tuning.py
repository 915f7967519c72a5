"""Which options `obscuro doctor --tune` recommends."""

from __future__ import annotations

import io

import pytest

from obscuro.cli import tuning


def rows(*speeds: int) -> list[dict[str, int]]:
    return [
        {"threads": threads, "nodes_per_second": speed}
        for threads, speed in zip(tuning.THREADS, speeds, strict=False)
    ]


@pytest.mark.parametrize(
    ("speeds", "threads"),
    [((1000,), 1), ((1000, 1900, 2000), 2), ((1000, 990), 1), ((1000, 1800, 2500, 3000), 4)],
)
def test_the_fewest_threads_that_are_about_as_fast(speeds: tuple[int, ...], threads: int) -> None:
    assert tuning.advise(rows(*speeds))["Threads"] == threads


def test_the_tree_of_a_long_move_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "usable_mebibytes", lambda: None)
    sizes = [tuning.advise(rows(speed))["Hash"] for speed in (1, 100_000, 200_000)]
    assert sizes[0] == 16 and sizes[2] == 2 * sizes[1]
    assert sizes[1] >= 100_000 * 30 * 2 * 100 / 2**20 / 2


def test_no_more_memory_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "usable_mebibytes", lambda: 100)
    assert tuning.advise(rows(1_000_000))["Hash"] == 100


def test_measures_with_each_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MOVETIME", 50)
    monkeypatch.setattr(tuning, "SEARCHES", 1)
    monkeypatch.setattr(tuning, "usable_cores", lambda: 2)
    found = tuning.measure(io.StringIO())
    assert [row["threads"] for row in found["searches"]] == [1, 2]
    assert all(row["nodes_per_second"] > 0 for row in found["searches"])
    assert {"Threads", "Hash", "evaluator", "movetime"} <= found.keys()
