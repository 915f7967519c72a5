"""The clocks of a game in the browser; they can be stopped, and read back from a file."""

from __future__ import annotations

import chess

from obscuro.matches.time_control import MILLISECONDS, TimeControl

FIRST_CLOCK_PLIES = 2
"""No clock runs until both sides have moved."""


class GameClock:
    """Both sides' clocks, of which at most one runs. Times of day are seconds of one clock.

    left: milliseconds of White and of Black. A control with a time for each move has no clocks.
    """

    def __init__(self, control: TimeControl, left: dict[chess.Color, float] | None = None) -> None:
        self.timed = control.movetime is None
        self._increment = control.increment
        self._left = dict(left or dict.fromkeys(chess.COLORS, float(control.base)))
        self._running: chess.Color | None = None
        self._since = 0.0

    @property
    def running(self) -> chess.Color | None:
        """The side whose clock runs."""
        return self._running

    def start(self, color: chess.Color, now: float) -> None:
        """Let a side's clock run, if there are clocks. The other one must stand."""
        if self.timed:
            self._running, self._since = color, now

    def stop(self, now: float) -> None:
        """Let both clocks stand."""
        if self._running is not None:
            self._left[self._running] = self.left(self._running, now)
            self._running = None

    def add_increment(self, color: chess.Color) -> None:
        """Add to a clock what its side gains by a move."""
        self._left[color] += self._increment

    def left(self, color: chess.Color, now: float) -> float:
        """Return the milliseconds that a side has left; below 0 its time is over."""
        gone = (now - self._since) * MILLISECONDS if self._running == color else 0.0
        return self._left[color] - gone

    def flag_in(self, now: float) -> float | None:
        """Return the seconds until the time of the running side is over; None: no clock runs."""
        if self._running is None:
            return None
        return max(0.0, self.left(self._running, now)) / MILLISECONDS

    def shown(self, now: float) -> dict[chess.Color, int]:
        """Return what both clocks show, in ms."""
        return {color: max(0, round(self.left(color, now))) for color in chess.COLORS}

    def words(self, now: float) -> tuple[int, int, int, int]:
        """Return White's and Black's time and increment in ms, as `go` states them."""
        white, black = (max(1, int(self.left(color, now))) for color in (chess.WHITE, chess.BLACK))
        return white, black, self._increment, self._increment
