"""Seats are given out once, and come back."""

from __future__ import annotations

from obscuro.bots.mistboard.reservation_book import LIFE_SECONDS, ReservationBook


def test_seats_are_given_out_once() -> None:
    book = ReservationBook(2, lambda: 0.0)
    first, second = book.reserve("x"), book.reserve("x")
    assert first is not None and second is not None and first.number != second.number
    assert book.reserve("x") is None and book.taken == 2
    book.release(first.number)
    book.release(first.number)
    assert book.taken == 1 and book.reserve("x") is not None


def test_a_seat_that_nobody_uses_comes_back() -> None:
    now = [0.0]
    book = ReservationBook(1, lambda: now[0])
    seat = book.reserve("x")
    assert seat is not None and seat.expires == LIFE_SECONDS
    now[0] = LIFE_SECONDS - 1
    book.touch(seat.number)
    book.touch("never heard of")
    now[0] = LIFE_SECONDS + 1
    assert book.taken == 1
    now[0] = 2 * LIFE_SECONDS
    assert book.taken == 0 and book.reserve("x") is not None
