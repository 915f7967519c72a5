"""Engines go to the games that need them, in turns of the addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from obscuro.web.play.engine_places import EnginePlaces
from tests.hanging import HANG_SECONDS
from tests.web.rooms import run_alone


@dataclass(eq=False)
class Game:
    """A game of a test. idle: whether its player is to move."""

    owner: EnginePlaces
    address: str
    places: int = 1
    used: float = 0.0
    idle: bool = False
    lost: int = 0

    @property
    def may_yield(self) -> bool:
        return self.idle

    def yield_engines(self) -> None:
        self.lost += 1
        for _ in range(self.owner.leave(self)):
            self.owner.free()


def played(most: int, test: Callable[[EnginePlaces], Coroutine[None, None, None]]) -> None:
    async def run() -> None:
        await asyncio.wait_for(test(EnginePlaces(most)), HANG_SECONDS)

    run_alone(run())


async def waits(places: EnginePlaces, game: Game) -> asyncio.Task[None]:
    """Let a game wait; return its task."""
    task = asyncio.create_task(places.take(game))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


def test_a_game_whose_player_is_to_move_makes_place() -> None:
    async def test(places: EnginePlaces) -> None:
        early, late = Game(places, "a", used=1.0), Game(places, "a", used=2.0)
        for game in (late, early):
            await places.take(game)
        third = await waits(places, Game(places, "b"))
        assert not third.done()
        assert places.waiting
        late.idle = early.idle = True
        places.serve()
        await third
        assert (early.lost, late.lost) == (1, 0)

    played(2, test)


def test_the_address_with_the_most_engines_makes_place() -> None:
    async def test(places: EnginePlaces) -> None:
        alone = Game(places, "a", used=0.0, idle=True)
        many = [Game(places, "many", used=9.0, idle=True) for _ in range(2)]
        for game in (alone, *many):
            await places.take(game)
        await places.take(Game(places, "b"))
        assert alone.lost == 0
        assert sum(game.lost for game in many) == 1

    played(3, test)


def test_addresses_take_turns_however_many_games_one_has() -> None:
    async def test(places: EnginePlaces) -> None:
        held = Game(places, "x")
        await places.take(held)
        flood = [await waits(places, Game(places, "flood")) for _ in range(50)]
        person = Game(places, "person")
        one = await waits(places, person)
        held.yield_engines()  # the first of the flood gets it
        await flood[0]
        assert not one.done()
        first = next(iter(places._held))
        first.yield_engines()
        await one
        for task in flood[1:]:
            task.cancel()

    played(1, test)


def test_games_of_two_engines_get_half_of_the_places_at_most() -> None:
    async def test(places: EnginePlaces) -> None:
        for _ in range(2):
            await places.take(Game(places, "a", places=2))
        third = await waits(places, Game(places, "b", places=2))
        assert not third.done()
        for _ in range(4):
            await places.take(Game(places, "person"))
        third.cancel()

    played(8, test)


def test_who_gives_up_waiting_leaves_the_queue() -> None:
    async def test(places: EnginePlaces) -> None:
        held = Game(places, "a")
        await places.take(held)
        waiting = await waits(places, Game(places, "b"))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert not places.waiting
        held.yield_engines()
        assert places.has_place(Game(places, "c"))

    played(1, test)


def test_a_game_that_waits_may_change_its_address_and_give_up() -> None:
    async def test(places: EnginePlaces) -> None:
        held = Game(places, "a")
        await places.take(held)
        moved, other = Game(places, "b"), Game(places, "b")
        waiting, after = await waits(places, moved), await waits(places, other)
        moved.address = "c"
        waiting.cancel()
        held.yield_engines()  # before the task knows that it is cancelled
        await asyncio.gather(waiting, return_exceptions=True)
        await after
        assert not places.waiting

    played(1, test)
