"""Who gets an engine, and what happens where there is none."""

from __future__ import annotations

import pytest

from obscuro.bots.mistboard.seat_table import SeatsBusyError, SeatTable
from obscuro.client.engine_pool import MoverPool
from tests.bots.movers import QuickMover


def table(most: int) -> tuple[SeatTable, list[QuickMover]]:
    made: list[QuickMover] = []

    def make() -> QuickMover:
        made.append(QuickMover())
        return made[-1]

    return SeatTable(MoverPool(make, most), most, lambda: 0.0), made


def test_a_session_keeps_its_engine() -> None:
    seats, made = table(2)
    for session in "abab":
        with seats.seat(session, 0.0) as seat:
            assert seat.mover is made["ab".index(session)]


def test_the_game_that_rested_longest_gives_way() -> None:
    seats, made = table(2)
    for session in "abac":
        with seats.seat(session, 0.0):
            pass
    assert len(made) == 2
    with seats.idle_seat("b") as gone, seats.idle_seat("a") as kept:
        assert gone is None and kept is not None


def test_an_engine_that_thinks_is_never_taken_away() -> None:
    seats, made = table(1)
    with seats.seat("a", 0.0):
        for session in "ab":
            with pytest.raises(SeatsBusyError), seats.seat(session, 0.0):
                pass
        with seats.idle_seat("a") as seat:
            assert seat is None
        seats.drop("a")
    with seats.idle_seat("a") as seat:
        assert seat is not None and seat.mover is made[0]


def test_a_game_that_is_over_frees_its_engine() -> None:
    seats, made = table(1)
    with seats.seat("a", 0.0):
        pass
    seats.drop("a")
    seats.drop("never heard of")
    with seats.idle_seat("a") as seat:
        assert seat is None
    with seats.seat("b", 0.0) as seat:
        assert seat.mover is made[0]


def test_a_fault_gives_the_seat_back() -> None:
    seats, _ = table(1)
    with pytest.raises(ZeroDivisionError), seats.seat("a", 0.0):
        raise ZeroDivisionError
    with seats.seat("a", 0.0):
        pass
