"""The cache of expansions: it gives what the evaluator gave, and asks for nothing twice."""

from __future__ import annotations

import threading

import chess
import numpy as np
import pytest

from obscuro.evaluation.cache import (
    MOST_CHILDREN,
    SLOT_BYTES,
    WAYS,
    CachedEvaluator,
    ExpansionCache,
    new_table,
)
from obscuro.evaluation.evaluator import CacheUse, ChildValues, EvaluatorFailed
from obscuro.evaluation.material import MaterialEvaluator
from tests.evaluation.naive import game_boards, words_of

MEBIBYTE = 1 << 20


class Counting:
    """Material, which notes what it is asked for, and fails when it is told to."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.batches = 0
        self.fails = False
        self._material = MaterialEvaluator()

    def start(self) -> None:
        pass

    def evaluate(self, positions: np.ndarray) -> ChildValues:
        if self.fails:
            raise EvaluatorFailed("it is out of order")
        self.batches += 1
        self.asked += [row.tobytes() for row in positions]
        return self._material.evaluate(positions)

    def forget(self) -> None:
        self.forgot = True

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def counting() -> Counting:
    return Counting()


def some_positions(seed: int, count: int) -> np.ndarray:
    return np.unique(words_of(game_boards(seed, count)), axis=0)


def assert_same(found: ChildValues, expected: ChildValues) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_it_gives_what_the_evaluator_gives(counting: Counting) -> None:
    cache = ExpansionCache(MEBIBYTE)
    evaluator = CachedEvaluator(counting, cache)
    positions = some_positions(21, 200)
    rng = np.random.default_rng(1)
    for size in (0, 1, 16, 16, 33, 200, 500, 16, 0, 1):
        batch = positions[rng.integers(len(positions), size=size)]
        assert_same(evaluator.evaluate(batch), MaterialEvaluator().evaluate(batch))
    use = cache.use
    assert use.lookups == 783
    assert use.hits == use.lookups - len(counting.asked)
    kept = [row.tobytes() for row in positions if fits(row)]
    assert all(counting.asked.count(row) <= 1 for row in kept)
    assert use.positions <= len(kept)


def fits(row: np.ndarray) -> bool:
    return 0 < len(MaterialEvaluator().evaluate(row[None]).moves) <= MOST_CHILDREN


def test_a_position_twice_in_a_batch_is_asked_for_once(counting: Counting) -> None:
    cache = ExpansionCache(MEBIBYTE)
    positions = some_positions(22, 5)[:2]
    batch = positions[[0, 1, 0, 0, 1]]
    assert_same(cache.evaluate(batch, counting), MaterialEvaluator().evaluate(batch))
    assert counting.asked == [row.tobytes() for row in positions]
    assert cache.use == CacheUse(5, 3, 2, cache.use.capacity)


def test_positions_with_too_many_moves_are_not_kept(counting: Counting) -> None:
    board = chess.Board("7k/8/Q7/3QQ3/3QQ3/8/8/K7 w - - 0 1")
    assert board.pseudo_legal_moves.count() > MOST_CHILDREN
    cache = ExpansionCache(MEBIBYTE)
    for _ in range(2):
        found = cache.evaluate(words_of([board]), counting)
        assert_same(found, MaterialEvaluator().evaluate(words_of([board])))
    assert (counting.batches, cache.use.hits, cache.use.positions) == (2, 0, 0)


def test_equal_hashes_are_told_apart(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    # Both positions are put where the other one would be looked for, under its hash.
    cache = ExpansionCache(MEBIBYTE)
    one, other = some_positions(23, 5)[:2]
    cache.evaluate(one[None], counting)
    table = cache._table
    place, way = np.argwhere(table.tags[:, :WAYS])[0]
    table.rows[place * WAYS + way, :8] = other
    assert_same(cache.evaluate(one[None], counting), MaterialEvaluator().evaluate(one[None]))
    assert cache.use.hits == 0


def test_memory_is_bounded_and_what_was_used_last_stays(counting: Counting) -> None:
    cache = ExpansionCache(SLOT_BYTES * WAYS)  # a single set
    assert cache.use.capacity == WAYS
    positions = np.array([row for row in some_positions(24, 30) if fits(row)])[: 2 * WAYS]
    favourite = positions[:1]
    for row in positions[1:]:
        cache.evaluate(favourite, counting)
        cache.evaluate(row[None], counting)
    assert counting.asked.count(favourite.tobytes()) == 1
    assert cache.use.positions == WAYS
    cache.evaluate(positions[-1:], counting)
    cache.evaluate(positions[1:2], counting)
    assert counting.asked.count(positions[-1].tobytes()) == 1
    assert counting.asked.count(positions[1].tobytes()) == 2
    for size in (1, MEBIBYTE, 10 * MEBIBYTE):
        table = new_table(size)
        assert table.tags.nbytes + table.rows.nbytes <= max(size, SLOT_BYTES * WAYS)


def test_it_forgets(counting: Counting) -> None:
    cache = ExpansionCache(MEBIBYTE)
    evaluator = CachedEvaluator(counting, cache)
    positions = some_positions(25, 20)
    evaluator.evaluate(positions)
    evaluator.forget()
    assert counting.forgot
    assert cache.use.positions == 0
    evaluator.evaluate(positions)
    assert counting.asked.count(positions[0].tobytes()) == 2
    assert (cache._table.tags[:, :WAYS] != 0).sum() == cache.use.positions
    evaluator.close()
    assert counting.closed


def test_nothing_is_kept_of_a_batch_that_fails(counting: Counting) -> None:
    cache = ExpansionCache(MEBIBYTE)
    positions = some_positions(26, 10)
    counting.fails = True
    with pytest.raises(EvaluatorFailed):
        cache.evaluate(positions, counting)
    assert cache.use.positions == 0
    counting.fails = False
    assert_same(cache.evaluate(positions, counting), MaterialEvaluator().evaluate(positions))


def test_use_can_be_told_of_a_time() -> None:
    assert CacheUse(10, 4, 5, 9).since(CacheUse(3, 1, 2, 9)) == CacheUse(7, 3, 5, 9)


def test_threads_share_it() -> None:
    cache = ExpansionCache(200 * SLOT_BYTES)  # small, so that slots change hands
    positions = some_positions(27, 400)
    expected = MaterialEvaluator().evaluate(positions)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        evaluator = CachedEvaluator(MaterialEvaluator(), cache)
        rng = np.random.default_rng(seed)
        try:
            for _ in range(150):
                rows = rng.integers(len(positions), size=16)
                found = evaluator.evaluate(positions[rows])
                for place, row in enumerate(rows):
                    ours = slice(found.offsets[place], found.offsets[place + 1])
                    theirs = slice(expected.offsets[row], expected.offsets[row + 1])
                    np.testing.assert_array_equal(found.values[ours], expected.values[theirs])
                    np.testing.assert_array_equal(found.moves[ours], expected.moves[theirs])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cache.use.lookups == 4 * 150 * 16
