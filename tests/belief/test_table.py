"""What a table of records keeps: each once, all up to the limit, beyond it a uniform sample."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief import update as update_module
from obscuro.belief.buffers import MOST_KEPT, Buffers
from obscuro.belief.successors import offer_all
from obscuro.belief.table import lowered, new_ranking, record_hash, slot_of
from obscuro.belief.update import Outcome, Updater, Workers, most_rows, regions_for, reserve
from tests.belief.games import as_set
from tests.sizes import quick_among

Records = npt.NDArray[np.uint64]

MANY = 1 << 20


def records(count: int, seed: int = 0) -> Records:
    """Different records, or what is as good as one here."""
    made = np.random.default_rng(seed).integers(1 << 64, size=(count, 3), dtype=np.uint64)
    made[:, 0] |= np.uint64(1)
    return made


def stored(
    offered: Records,
    limit: int = MANY,
    threads: int = 1,
    seed: int = 0,
    updater: Updater | None = None,
) -> Outcome:
    """What an update keeps whose parents have themselves as their only children."""
    updater = updater or Updater(limit, threads)

    def visit(first, last, ranking, streams):  # type: ignore[no-untyped-def]
        return offer_all(offered, first, last, ranking, streams)

    outcome = updater.run(
        len(offered), visit, new_ranking(np.random.default_rng(seed), regions_for(len(offered)))
    )
    updater.workers.close()
    return outcome


def rows(outcome: Outcome) -> Records:
    return outcome.records[: outcome.size]


@pytest.mark.parametrize(
    ("count", "threads"),
    quick_among(
        product([1, 50, 3000, 30_000, 200_000], [1, 2, 3]),
        lambda case: case[0] < 30_000 or case == (30_000, 2),
    ),
)
def test_each_record_is_kept_once(count: int, threads: int) -> None:
    once = records(count)
    rng = np.random.default_rng(1)
    offered = rng.permutation(np.concatenate([once, once[: count // 3], once]))
    outcome = stored(offered, threads=threads)
    assert outcome.complete and outcome.visited == len(offered)
    assert outcome.size == count
    assert as_set(rows(outcome)) == as_set(once)


def test_the_order_does_not_depend_on_threads_chunks_or_the_order_of_offers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offered = records(40_000)
    expected = rows(stored(offered)).copy()
    shuffled = np.random.default_rng(3).permutation(offered)
    for threads in (1, 2, 5):
        assert np.array_equal(rows(stored(shuffled, threads=threads)), expected)
    monkeypatch.setattr(update_module, "ROOM", (2000, 2000))
    monkeypatch.setattr(update_module, "FIRST_CHUNK", 77)
    assert np.array_equal(rows(stored(shuffled, threads=2)), expected)


def test_records_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """With planes A and B that the salt turns to zero, the hash depends on C alone."""
    ranking = new_ranking(np.random.default_rng(0), regions_for(1))
    alike = records(40)
    alike[:, 0] = ranking.salt1
    alike[:, 2] = 12345
    assert len({int(record_hash(ranking, *row)) for row in alike}) == 1
    outcome = stored(np.concatenate([alike, records(500), alike[::-1]]))
    assert as_set(rows(outcome)) == as_set(np.concatenate([alike, records(500)]))


@pytest.mark.parametrize("limit", [1, 100, 4999, 5000, 19_999])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_limit_is_met_exactly(limit: int, threads: int) -> None:
    once = records(20_000)
    outcome = stored(np.concatenate([once, once]), limit, threads)
    assert outcome.size == limit
    assert not outcome.complete
    kept = as_set(rows(outcome))
    ranking = new_ranking(np.random.default_rng(0), regions_for(40_000))
    lowest = sorted(tuple(row) for row in once.tolist())
    lowest.sort(key=lambda row: int(record_hash(ranking, *map(np.uint64, row))))
    assert kept == set(lowest[:limit])


def test_as_many_as_the_limit_are_complete() -> None:
    assert stored(records(5000), 5000).complete


def test_every_record_is_kept_equally_often() -> None:
    """Chi-square over salted runs, with fixed seeds."""
    count, limit, runs = 400, 100, 600
    offered = records(count)
    rank = {row: index for index, row in enumerate(map(tuple, offered.tolist()))}
    kept = np.zeros(count)
    updater = Updater(limit, 1)
    for seed in range(runs):
        outcome = stored(offered, seed=seed, updater=updater)
        for row in rows(outcome).tolist():
            kept[rank[tuple(row)]] += 1
        updater.buffers.take_back(outcome.records)
    expected, variance = runs * limit / count, runs * limit / count * (1 - limit / count)
    chi_square = ((kept - expected) ** 2).sum() / variance
    assert abs(chi_square - count) < 4 * np.sqrt(2 * count)


def test_slots_rise_with_hashes_and_use_the_whole_table() -> None:
    rng = np.random.default_rng(4)
    for ceiling in (2**64 - 1, 2**63, 3 * 2**61, 2**40 + 12345, 1000):
        ranking = lowered(new_ranking(rng, 8), ceiling)
        hashes = np.sort(rng.integers(ceiling, size=2000, dtype=np.uint64, endpoint=True))
        slots = [int(slot_of(ranking, hashed, 5000)) for hashed in hashes]
        assert all(a <= b for a, b in pairwise(slots))
        assert 0 <= slots[0] < 50 and 4950 < slots[-1] < 5000


def test_a_run_that_is_abandoned_gives_its_memory_back() -> None:
    updater = Updater(MANY, 1)
    offered = records(50_000)

    def visit(first, last, ranking, streams):  # type: ignore[no-untyped-def]
        return offer_all(offered, first, last, ranking, streams)

    run = updater.start(len(offered), visit, new_ranking(np.random.default_rng(0), 128))
    run.advance(lambda seconds: True)
    assert 0 < run.visited < len(offered)
    run.abandon()
    again = stored(offered, updater=updater)
    assert as_set(rows(again)) == as_set(offered)


def test_memory_is_lent_again_and_never_twice_at_once() -> None:
    buffers = Buffers()
    first, second = buffers.lend(1000), buffers.lend(10)
    assert not np.shares_memory(first, second)
    for records in (first, second):
        buffers.take_back(records)
    assert np.shares_memory(buffers.lend(5), second)  # the smallest that will do
    assert np.shares_memory(buffers.lend(500), first)
    for size in range(1, MOST_KEPT + 3):
        buffers.take_back(np.empty((size, 3), dtype=np.uint64))
    assert len(buffers.lend(0)) == 3  # the largest were kept


def test_reserved_memory_is_what_large_updates_work_in() -> None:
    buffers = Buffers()
    reserve(buffers, MANY, 1)
    lent = [buffers.lend(1), buffers.lend(1)]
    assert [len(records) for records in lent] == [most_rows(MANY)] * 2
    for records in lent:
        buffers.take_back(records)
    updater = Updater(MANY, 1, buffers)
    outcome = stored(globals()["records"](100_000), updater=updater)
    assert any(np.shares_memory(outcome.records, records) for records in lent)


def test_memory_promised_is_less_than_100_bytes_a_position() -> None:
    for limit in (10**6, 8 * 10**6):
        assert 2 * most_rows(limit) * 24 <= 100 * limit


def test_workers_return_results_in_order_and_pass_on_exceptions() -> None:
    workers = Workers(3)
    assert workers.run([lambda k=k: k * k for k in range(3)]) == [0, 1, 4]  # type: ignore[misc]
    with pytest.raises(ZeroDivisionError):
        workers.run([lambda: 1, lambda: 1 // 0])
    assert workers.run([lambda: 1, lambda: 2]) == [1, 2]
    workers.close()
    with pytest.raises(ValueError, match="at least one thread"):
        Workers(0)


def test_an_update_does_with_little_memory_where_much_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lend = Buffers.lend

    def lend_little(buffers: Buffers, rows: int) -> Records:
        if rows >= most_rows(MANY):
            raise MemoryError
        return lend(buffers, rows)

    monkeypatch.setattr(Buffers, "lend", lend_little)
    once = records(50_000)
    assert as_set(rows(stored(once))) == as_set(once)
