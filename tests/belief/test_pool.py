"""What a pool keeps: each position once, all up to the limit, beyond it a uniform sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief import pool as pool_module
from obscuro.belief.buffers import Buffers
from obscuro.belief.pool import Batch, Pool
from obscuro.belief.update import EXPECTED, reserve
from obscuro.belief.workers import Workers
from tests.belief.games import as_set

Words = npt.NDArray[np.uint64]

MANY = 1 << 30


def offers(count: int, seed: int = 0) -> Batch:
    """Different positions, or what is as good as one here, with hashes."""
    rng = np.random.default_rng(seed)
    children = rng.integers(1 << 64, size=(count, 8), dtype=np.uint64)
    return Batch(children, rng.integers(1 << 64, size=count, dtype=np.uint64), count)


def part(batch: Batch, rows: Sequence[int] | npt.NDArray[np.int64] | slice) -> Batch:
    children = np.ascontiguousarray(batch.children[rows])
    return Batch(children, np.ascontiguousarray(batch.hashes[rows]), len(children))


def pooled(batches: list[Batch], limit: int = MANY, threads: int = 1, small: bool = False) -> Words:
    workers = Workers(threads)
    pool = Pool(0, limit, workers, Buffers(), small=small, distinct=False)
    for batch in batches:
        pool.add([batch])
    positions = pool.positions()
    assert pool.full == (len({h for b in batches for h in b.hashes[: b.used].tolist()}) > limit)
    workers.close()
    return positions


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_position_is_kept_once(threads: int, small: bool) -> None:
    batch = offers(5000)
    shuffled = part(batch, np.random.default_rng(1).permutation(5000))
    positions = pooled([batch, part(batch, slice(0, 700)), shuffled], threads=threads, small=small)
    assert as_set(positions) == as_set(batch.children)


def test_only_the_used_rows_of_a_batch_count() -> None:
    batch = offers(10)
    assert as_set(pooled([batch._replace(used=4)])) == as_set(batch.children[:4])


def test_different_positions_with_one_hash_are_both_kept() -> None:
    batch = offers(300)
    batch.hashes[:] = batch.hashes[0]
    for small in (False, True):
        pool = Pool(0, MANY, Workers(1), Buffers(), small=small, distinct=False)
        pool.add([batch, batch])
        assert as_set(pool.positions()) == as_set(batch.children)


@pytest.mark.parametrize("limit", [1, 100, 4999, 5000])
def test_the_limit_is_met_exactly(limit: int) -> None:
    assert len(pooled([offers(5000), offers(5000)], limit)) == limit


def test_what_is_kept_does_not_depend_on_order_chunks_repeats_or_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool_module, "LEAST_SLACK", 10)
    batch = offers(3000)
    lowest = as_set(batch.children[np.argsort(batch.hashes)[:200]])
    rng = np.random.default_rng(2)
    for threads in (1, 2):
        for _ in range(10):
            rows = rng.permutation(np.concatenate([np.arange(3000), rng.integers(3000, size=500)]))
            cuts = np.sort(rng.integers(len(rows), size=5))
            batches = [part(batch, chunk) for chunk in np.split(rows, cuts)]
            assert as_set(pooled(batches, 200, threads)) == lowest


def test_order_does_not_depend_on_threads_or_chunks() -> None:
    batch = offers(20_000)
    whole = pooled([batch])
    halves = pooled([part(batch, slice(0, 9)), part(batch, slice(9, None))], threads=2)
    assert np.array_equal(whole, halves)


def test_storage_stays_near_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "LEAST_SLACK", 10)
    pool = Pool(0, 1000, Workers(1), Buffers(), small=False, distinct=False)
    for seed in range(50):
        pool.add([offers(100, seed)])
        assert len(pool) <= 1500
    assert len(pool.positions()) == 1000


def test_every_position_is_kept_equally_often() -> None:
    """Chi-square over salted runs, with fixed seeds."""
    count, limit, runs = 400, 100, 600
    batch = offers(count)
    rng = np.random.default_rng(5)
    rank = {row: index for index, row in enumerate(map(tuple, batch.children.tolist()))}
    kept = np.zeros(count)
    for _ in range(runs):
        hashes = rng.integers(1 << 64, size=count, dtype=np.uint64)
        for words in pooled([batch._replace(hashes=hashes)], limit, small=True).tolist():
            kept[rank[tuple(words)]] += 1
    expected, variance = runs * limit / count, runs * limit / count * (1 - limit / count)
    chi_square = ((kept - expected) ** 2).sum() / variance
    assert abs(chi_square - count) < 4 * np.sqrt(2 * count)


def test_workers_return_results_in_order_and_pass_on_exceptions() -> None:
    workers = Workers(3)
    assert workers.run([lambda k=k: k * k for k in range(3)]) == [0, 1, 4]  # type: ignore[misc]
    with pytest.raises(ZeroDivisionError):
        workers.run([lambda: 1, lambda: 1 // 0])
    assert workers.run([lambda: 1, lambda: 2]) == [1, 2]
    workers.close()
    with pytest.raises(ValueError, match="at least one thread"):
        Workers(0)


def test_memory_is_lent_again_and_never_twice_at_once() -> None:
    buffers = Buffers()
    first = buffers.lend("rows", 1000)
    second = buffers.lend("rows", 10)
    assert not np.shares_memory(first, second)
    buffers.take_back("rows", first)
    buffers.take_back("rows", second)  # the smaller one is let go
    again = buffers.lend("rows", 500)
    assert np.shares_memory(first, again) and len(again) == 500
    assert not np.shares_memory(again, buffers.lend("rows", 10))


def test_a_second_pool_in_the_same_memory_starts_empty() -> None:
    buffers, workers = Buffers(), Workers(1)
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        children = rng.integers(1 << 63, size=(500, 8), dtype=np.uint64)
        hashes = rng.integers(1 << 63, size=500, dtype=np.uint64)
        pool = Pool(0, 10**6, workers, buffers, small=False, distinct=False)
        pool.add([Batch(children, hashes, 500), Batch(children, hashes, 500)])
        assert {tuple(row) for row in pool.positions()} == {tuple(row) for row in children}


def test_reserved_memory_is_what_a_large_update_begins_with() -> None:
    buffers = Buffers()
    reserve(buffers, MANY)
    rows = buffers.lend("rows", 8)
    buffers.take_back("rows", rows)
    pool = Pool(EXPECTED, MANY, Workers(1), buffers, small=False, distinct=False)
    children = np.ones((1, 8), dtype=np.uint64)
    pool.add([Batch(children, np.ones(1, dtype=np.uint64), 1)])
    assert (pool.positions() == children).all()
    assert np.shares_memory(rows, buffers.lend("rows", 8))
