"""The engines of the games: one game at a time each, at rest when another game gets them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from obscuro.client.engine import Engine, PlayResult, Think
from obscuro.client.uci_process import EngineError
from obscuro.web.play.game_engines import GameEngine, GameEngines
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS
from tests.web.rooms import run_alone
from tests.web.server_process import scripted_engine

THINK = Think(1, "position startpos", ("e2e4", "d2d4"), True, None, 10)


def make_pool(made: list[QuickMover], most: int = 2, spare: int = 1) -> GameEngines:
    def make() -> QuickMover:
        made.append(QuickMover(lambda think: think.moves[0]))
        return made[-1]

    return GameEngines(make, most, spare)


def test_an_engine_that_is_given_back_is_used_again() -> None:
    made: list[QuickMover] = []

    async def play() -> None:
        pool = make_pool(made)
        await pool.warm_up({"Stalemate": "loss"})
        engine = await settled(pool)
        await engine.prepare({"Stalemate": "draw"})
        assert (await engine.choose("game", THINK)).move == "e2e4"
        await pool.close()

    run_alone(play())
    assert len(made) == 1
    assert [options["Stalemate"] for options in made[0].configured] == ["loss", "draw"]
    assert made[0].closed


async def settled(pool: GameEngines) -> GameEngine:
    """Return an engine once those given back have come to rest."""
    await asyncio.wait_for(pool.at_rest(), HANG_SECONDS)
    return pool.take()


def test_engines_beyond_the_spare_ones_end_when_their_game_does() -> None:
    made: list[QuickMover] = []

    async def play() -> None:
        pool = make_pool(made, spare=1)
        engines = [pool.take() for _ in range(3)]
        for engine in engines:
            pool.give(engine)
        await asyncio.wait_for(pool.at_rest(), HANG_SECONDS)
        assert sorted(mover.closed for mover in made) == [0, 1, 1]
        await pool.close()

    run_alone(play())


def test_there_are_no_more_engines_than_two_for_each_game() -> None:
    async def play() -> None:
        pool = make_pool([], most=1, spare=0)
        for _ in range(2):
            pool.take()
        with pytest.raises(EngineError, match="busy"):
            pool.take()
        await pool.close()

    run_alone(play())


def test_a_search_that_is_hurried_ends_before_the_next_begins() -> None:
    made: list[QuickMover] = []

    async def play() -> None:
        pool = make_pool(made)
        engine = pool.take()
        made[0].hold = True
        first = asyncio.create_task(engine.choose("game", THINK))
        await asyncio.to_thread(made[0].thinking.wait, HANG_SECONDS)
        engine.hurry()
        second = asyncio.create_task(engine.choose("game", THINK))
        made[0].hold = False
        assert (await first, await second) == (PlayResult("e2e4"), PlayResult("e2e4"))
        await pool.close()

    run_alone(play())
    assert len(made[0].asked) == 2


def test_an_engine_in_use_is_stopped_when_it_is_given_back() -> None:
    made: list[QuickMover] = []

    async def play() -> None:
        pool = make_pool(made)
        engine = pool.take()
        made[0].hold = True
        search = asyncio.create_task(engine.choose("game", THINK))
        await asyncio.to_thread(made[0].thinking.wait, HANG_SECONDS)
        search.cancel()
        pool.give(engine)
        assert (await settled(pool)).engine is engine.engine
        await pool.close()

    run_alone(play())


def test_a_process_that_has_ended_between_games_is_replaced(tmp_path: Path) -> None:
    movers: list[Engine] = []
    command = scripted_engine(tmp_path)

    def make() -> Engine:
        movers.append(Engine(command))
        return movers[-1]

    async def play() -> tuple[int | None, int | None]:
        pool = GameEngines(make, 1)
        engine = pool.take()
        await engine.prepare({"Stalemate": "draw"})
        first = movers[0].pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(first)], HANG_SECONDS)
        await engine.prepare({"Stalemate": "loss"})
        second = movers[0].pid
        await pool.close()
        return first, second

    first, second = run_alone(play())
    assert second is not None
    assert second != first


def test_no_thread_of_the_pool_stays() -> None:
    before = set(threading.enumerate())

    async def play() -> None:
        pool = make_pool([])
        await pool.warm_up({})
        await pool.at_rest()
        await pool.close()

    run_alone(play())
    for thread in set(threading.enumerate()) - before:
        thread.join(HANG_SECONDS)
        assert not thread.is_alive()
