"""Which games have engines: those that need one wait in turns, and those that need none make place."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Protocol


class PlaceHolder(Protocol):
    """A game as far as its engines count."""

    address: str
    """Who it counts for."""
    used: float
    """The second of its last change."""

    @property
    def places(self) -> int:
        """How many engines it needs."""

    @property
    def may_yield(self) -> bool:
        """Whether it can do without its engines until something happens."""

    def yield_engines(self) -> None:
        """Give the engines back, so that `EnginePlaces.free` grows now or soon."""


@dataclass(eq=False, slots=True)
class _Waiter:
    holder: PlaceHolder
    name: str  # the holder's address when it came; it may be another one later
    granted: asyncio.Future[None]


class EnginePlaces:
    """Places for engines. Addresses that wait get them in turns.

    A game that waits takes the place of one whose player is to move, of the address with the most
    places. Games with two engines have half of the places at most, or two. most: how many there are.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._pairs = max(2, most // 2)
        self._held: dict[PlaceHolder, int] = {}
        self._serving = False
        self._leaving = 0  # places of engines that are not at rest yet
        self._waiting: OrderedDict[str, deque[_Waiter]] = OrderedDict()

    @property
    def waiting(self) -> bool:
        """Whether a game waits that could have a place if another one yielded."""
        return bool(self._waiting)

    def has_place(self, holder: PlaceHolder) -> bool:
        """Tell whether a game would get its places without waiting for others."""
        return not self._waiting and self._fits(holder)

    async def take(self, holder: PlaceHolder) -> None:
        """Wait until a game has its places. The game keeps them until `leave`."""
        waiter = _Waiter(holder, holder.address, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(waiter.name, deque()).append(waiter)
        self.serve()
        try:
            await waiter.granted
        except asyncio.CancelledError:
            self._withdraw(waiter)
            raise

    def leave(self, holder: PlaceHolder) -> int:
        """End a game's hold; each of its places becomes free by `free`. Returns their number."""
        count = self._held.pop(holder, 0)
        self._leaving += count
        return count

    def free(self) -> None:
        """One engine of a game that has left is at rest: its place is free."""
        self._leaving -= 1
        self.serve()

    def serve(self) -> None:
        """Give places to those that wait, as far as there are any."""
        if self._serving:  # a game that yields may call this
            return
        self._serving = True
        try:
            while self._serve_one():
                pass
        finally:
            self._serving = False

    def _serve_one(self) -> bool:
        """Give its places to the first game that can have them; tell whether there was one."""
        for name, queue in list(self._waiting.items()):
            while queue and queue[0].granted.done():
                queue.popleft()  # it was cancelled just now, and has not withdrawn yet
            if not queue:
                self._forget_if_empty(name)
                continue
            holder = queue[0].holder
            if not self._fits(holder):
                self._make_place(holder)
            if self._fits(holder):
                self._held[holder] = holder.places
                queue.popleft().granted.set_result(None)
                self._waiting.move_to_end(name)
                self._forget_if_empty(name)
                return True
        return False

    def _fits(self, holder: PlaceHolder) -> bool:
        if holder.places > 1 and self._pairs_held() + holder.places > self._pairs:
            return False
        return sum(self._held.values()) + self._leaving + holder.places <= self._most

    def _make_place(self, wanted: PlaceHolder) -> None:
        """Let a game yield if it can, unless enough engines are coming back already."""
        if wanted.places > 1 and self._pairs_held() + wanted.places > self._pairs:
            return  # a game of two engines yields by itself, after its next move
        while sum(self._held.values()) + wanted.places > self._most:
            idle = [each for each in self._held if each.may_yield]
            if not idle:
                return
            totals: dict[str, int] = {}
            for each, count in self._held.items():
                totals[each.address] = totals.get(each.address, 0) + count
            victim = min(idle, key=lambda each: (-totals[each.address], each.used))
            victim.yield_engines()
            if victim in self._held:
                return

    def _pairs_held(self) -> int:
        return sum(count for count in self._held.values() if count > 1)

    def _withdraw(self, waiter: _Waiter) -> None:
        queue = self._waiting.get(waiter.name)
        if queue is not None and waiter in queue:
            queue.remove(waiter)
            self._forget_if_empty(waiter.name)

    def _forget_if_empty(self, name: str) -> None:
        if not self._waiting.get(name, True):
            del self._waiting[name]
