"""A game that is looked at stays open for whoever waits for it, and no longer."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from obscuro.viewer.document import GameDocument
from obscuro.viewer.game_file import games_of_text
from obscuro.viewer.make_document import make_document
from obscuro.web.look.watched_game import LookLimits, WatchedGame, Watcher
from obscuro.web.web_limits import WebError
from tests.hanging import HANG_SECONDS
from tests.viewer.recorded import SHORT_GAME
from tests.web.rooms import run_alone

(GAME,) = games_of_text(SHORT_GAME).games


class Held:
    """A thread that does nothing before `go_on` is set. idle: how often nobody looked any more."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.go_on = threading.Event()
        self.idle = 0
        self.saved: list[GameDocument] = []
        self.pool.submit(self.go_on.wait, HANG_SECONDS)

    def became_idle(self) -> None:
        self.idle += 1


@asynccontextmanager
async def held_room(**others: Any) -> AsyncIterator[tuple[WatchedGame, Held]]:
    held = Held()
    settings: dict[str, Any] = {
        "live": False,
        "document": None,
        "pool": held.pool,
        "limits": LookLimits(),
        "save": held.saved.append,
        "on_idle": held.became_idle,
        "analyst": None,
    }
    room = WatchedGame(GAME, **{**settings, **others})
    try:
        yield room, held
    finally:
        held.go_on.set()
        await room.close()
        held.pool.shutdown()


def test_who_waits_for_the_document_gets_it_though_others_leave() -> None:
    async def run() -> None:
        async with held_room() as (room, held):
            waiting = asyncio.create_task(room.document())
            await asyncio.sleep(0)
            room.detach(room.attach())
            assert held.idle == 0
            held.go_on.set()
            document = await waiting
            assert document == make_document(GAME, LookLimits().finished)
            room.detach(room.attach())
            assert held.idle == 1

    run_alone(run())


def test_the_document_of_a_finished_game_is_kept() -> None:
    async def run() -> None:
        async with held_room() as (room, held):
            held.go_on.set()
            made = await room.document()
            await asyncio.sleep(0)
        assert held.saved == [made]
        async with held_room(document=made) as (room, held):
            assert await room.document() is made  # although no thread works
            assert held.saved == []

    run_alone(run())


def test_whoever_waits_when_the_server_ends_is_told() -> None:
    async def run() -> None:
        async with held_room() as (room, _):
            waiting = asyncio.create_task(room.document())
            await asyncio.sleep(0)
            await room.close()
            with pytest.raises(WebError, match="can't show this game"):
                await waiting

    run_alone(run())


def test_a_fault_of_ours_is_told_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("obscuro.web.look.watched_game.GrowingDocument", fail)

    async def run() -> None:
        async with held_room() as (room, held):
            watcher = room.attach()
            held.go_on.set()
            told = await watcher.next()
            assert told is not None and "can't show this game" in told
            with pytest.raises(WebError):
                await room.document()
            later = await room.attach().next()
            assert later == told

    with caplog.at_level(logging.ERROR):
        run_alone(run())
    assert "a fault of ours" in caplog.text


def test_all_browsers_get_the_very_same_text() -> None:
    async def run() -> None:
        async with held_room() as (room, held):
            one, other = room.attach(), room.attach()
            held.go_on.set()
            first = await one.next()
            assert first is not None and first.startswith('{"type":"document",')
            assert await other.next() is first

    run_alone(run())


def test_a_browser_that_takes_nothing_is_let_go() -> None:
    async def run() -> None:
        watcher = Watcher(3)
        for number in range(5):
            watcher.put(str(number))
        assert watcher.lost
        assert await watcher.next() is None

    run_alone(run())


def test_after_the_end_come_only_the_texts_that_wait() -> None:
    async def run() -> None:
        watcher = Watcher(10)
        watcher.put("a")
        watcher.close()
        assert [await watcher.next(), await watcher.next()] == ["a", None]

    run_alone(run())
