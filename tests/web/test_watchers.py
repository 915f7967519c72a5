"""Messages to many browsers: written once, and none waits for one that is slow."""

from __future__ import annotations

import asyncio

from obscuro.web.watchers import Watchers
from tests.web.loops import run_alone


def test_all_get_the_very_same_text() -> None:
    async def run() -> None:
        watchers = Watchers(10)
        one, other = watchers.add(), watchers.add()
        watchers.tell({"type": "ply", "number": 1})
        first = await one.next()
        assert first == '{"type":"ply","number":1}'
        assert await other.next() is first

    run_alone(run())


def test_one_that_takes_nothing_is_let_go_and_the_others_go_on() -> None:
    async def run() -> None:
        watchers = Watchers(3)
        slow, quick = watchers.add(), watchers.add()
        for number in range(5):
            watchers.send(str(number))
            assert await quick.next() == str(number)
        assert slow.lost and not quick.lost
        assert await slow.next() is None

    run_alone(run())


def test_one_that_waits_gets_the_next_text() -> None:
    async def run() -> None:
        watchers = Watchers(1)
        watcher = watchers.add()
        waiting = asyncio.create_task(watcher.next())
        await asyncio.sleep(0)
        watchers.send("a")
        assert await waiting == "a"

    run_alone(run())


def test_after_the_end_come_only_the_texts_that_wait() -> None:
    async def run() -> None:
        watchers = Watchers(10)
        watcher = watchers.add()
        watchers.send("a")
        watchers.close()
        assert [await watcher.next(), await watcher.next()] == ["a", None]
        watchers.remove(watcher)
        assert not watchers

    run_alone(run())
