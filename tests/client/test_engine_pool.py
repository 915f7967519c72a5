"""The pool of engines: what came back is given out again, and nothing outlives it."""

from __future__ import annotations

import pytest

from obscuro.client import EngineError, EnginePool
from tests.bots.movers import QuickMover


def test_the_pool_gives_out_what_came_back() -> None:
    made: list[QuickMover] = []

    def make() -> QuickMover:
        made.append(QuickMover())
        return made[-1]

    pool = EnginePool(make, spare=1, most=2)
    pool.prepare()
    first, second = pool.take(), pool.take()
    assert [first, second] == made and made[0].prepared == 1
    with pytest.raises(EngineError, match="busy"):
        pool.take()
    pool.give(first)
    pool.give(second)
    assert (made[0].closed, made[1].closed) == (0, 1)  # one is enough
    third = pool.take()
    assert third is first
    pool.close()
    pool.give(third)
    assert made[0].closed >= 1
    with pytest.raises(EngineError, match="closed"):
        pool.take()


def test_every_game_finds_its_engine_ready() -> None:
    made: list[QuickMover] = []

    def make() -> QuickMover:
        made.append(QuickMover())
        return made[-1]

    pool = EnginePool(make, spare=2)
    pool.prepare(2)
    assert [engine.prepared for engine in made] == [1, 1]
    assert {pool.take(), pool.take()} == set(made)
    pool.close()
