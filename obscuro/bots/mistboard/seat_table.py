"""The games that go on: for each its account, its last answer, and the engine that plays it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from obscuro.bots.mistboard.engine_messages import WireMove
from obscuro.bots.mistboard.seat_account import SeatAccount
from obscuro.client.engine import Mover, PlayResult
from obscuro.client.engine_pool import MoverPool


class SeatsBusyError(Exception):
    """All engines are thinking, and none became free in time."""


@dataclass(slots=True)
class EngineSeat:
    """One side of one game.

    account: None until a message has told it. answered: the last turn's position command, our move,
    and what the engine said.
    """

    mover: Mover
    account: SeatAccount | None = None
    answered: tuple[str, WireMove, PlayResult] | None = None
    busy: bool = False


class SeatTable:
    """Keeps at most so many seats. A new game takes the seat that was used longest ago.

    That loses nothing: servers send the whole transcript with every turn.
    """

    def __init__(
        self, movers: MoverPool, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._movers = movers
        self._most = most
        self._clock = clock
        self._changed = threading.Condition()
        self._seats: OrderedDict[str, EngineSeat] = OrderedDict()  # the longest unused first

    @contextlib.contextmanager
    def seat(self, session: str, patience: float) -> Iterator[EngineSeat]:
        """Yield the seat of a session, for one thread alone; a new one if the session is new.

        patience: the most seconds to wait for it. Raises SeatsBusyError.
        """
        with self._changed:
            seat = self._claimed(session, self._clock() + patience)
        try:
            yield seat
        finally:
            self._give_back(session, seat)

    @contextlib.contextmanager
    def idle_seat(self, session: str) -> Iterator[EngineSeat | None]:
        """Yield the seat of a session; None if there is none, or if it is thinking."""
        with self._changed:
            seat = self._seats.get(session)
            seat = None if seat is None or seat.busy else seat
            if seat is not None:
                seat.busy = True
        try:
            yield seat
        finally:
            if seat is not None:
                self._give_back(session, seat)

    def drop(self, session: str) -> None:
        """Forget a game that is over, unless it is thinking."""
        with self._changed:
            seat = self._seats.get(session)
            if seat is not None and not seat.busy:
                del self._seats[session]
                self._movers.give(seat.mover)

    def _claimed(self, session: str, deadline: float) -> EngineSeat:
        while True:
            seat = self._seats.get(session)
            if seat is None and self._make_room():
                seat = self._seats[session] = EngineSeat(self._movers.take())
            if seat is not None and not seat.busy:
                seat.busy = True
                return seat
            if not self._changed.wait(deadline - self._clock()):
                raise SeatsBusyError("all engines are busy")

    def _make_room(self) -> bool:
        """Make room for one more seat; tell whether there is room."""
        if len(self._seats) < self._most:
            return True
        for session, seat in self._seats.items():
            if not seat.busy:
                del self._seats[session]
                self._movers.give(seat.mover)
                return True
        return False

    def _give_back(self, session: str, seat: EngineSeat) -> None:
        with self._changed:
            seat.busy = False
            self._seats.move_to_end(session)
            self._changed.notify_all()
