"""Seats that a server has reserved: how many games it may start with our engine."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

LIFE_SECONDS = 1800.0
"""A seat that nobody has used for so long is free again."""


@dataclass(slots=True)
class Reservation:
    """A reserved seat. expires: a second of the book's clock."""

    number: str
    engine: str
    expires: float


class ReservationBook:
    """Gives out at most so many seats at a time. Any thread may call it.

    clock: seconds since the epoch, since the server is told when a seat expires.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.time) -> None:
        self.most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._seats: dict[str, Reservation] = {}

    def reserve(self, engine: str) -> Reservation | None:
        """Return a new seat; None if there is none."""
        with self._lock:
            self._drop_expired()
            if len(self._seats) >= self.most:
                return None
            seat = Reservation(secrets.token_hex(12), engine, self._clock() + LIFE_SECONDS)
            self._seats[seat.number] = seat
            return seat

    def touch(self, number: str) -> None:
        """Let a seat live on; a number that is not known changes nothing."""
        with self._lock:
            if number in self._seats:
                self._seats[number].expires = self._clock() + LIFE_SECONDS

    def release(self, number: str) -> None:
        """Free a seat; a number that is not known changes nothing."""
        with self._lock:
            self._seats.pop(number, None)

    @property
    def taken(self) -> int:
        """How many seats are taken."""
        with self._lock:
            self._drop_expired()
            return len(self._seats)

    def _drop_expired(self) -> None:
        now = self._clock()
        self._seats = {name: seat for name, seat in self._seats.items() if seat.expires > now}
