"""The pool of movers: what came back is given out again, and nothing outlives it."""

from __future__ import annotations

from obscuro.client.engine_pool import MoverPool
from tests.bots.movers import QuickMover


def test_the_pool_gives_out_what_came_back() -> None:
    made: list[QuickMover] = []

    def make() -> QuickMover:
        made.append(QuickMover())
        return made[-1]

    pool = MoverPool(make, spare=1)
    pool.prepare()
    first, second = pool.take(), pool.take()
    assert [first, second] == made and made[0].prepared == 1
    pool.give(first)
    pool.give(second)
    assert (made[0].closed, made[1].closed) == (0, 1)  # one is enough
    third = pool.take()
    assert third is first
    pool.close()
    pool.give(third)
    assert made[0].closed >= 1
