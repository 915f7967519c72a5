"""The time that players have, and the clocks that measure it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import chess

from obscuro.engine.report import GoLimits

_CLOCK = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")
MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A fixed time for each move, or a clock with an increment. All times are in milliseconds.

    movetime: the time for each move; the referee measures an excess but does not punish it. None:
    each side has a clock that begins at `base` and gains `increment` after each of its moves. A
    side whose clock runs out loses.
    """

    movetime: int | None
    base: int = 0
    increment: int = 0

    @classmethod
    def of(cls, movetime: int | None, control: TimeControl | None) -> TimeControl:
        """Return the control that the caller gave. Raises ValueError unless it gave exactly one."""
        if (movetime is None) == (control is None):
            raise ValueError("give either a movetime or a time control")
        return cls(movetime) if control is None else control

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Parse a clock in the notation of match runners: `60`, `180+2`, `10+0.1`, in seconds.

        Raises ValueError if the text is no clock, or a clock without time.
        """
        match = _CLOCK.fullmatch(text.strip())
        base, increment = (
            (round(MILLISECONDS * float(part or 0)) for part in match.groups()) if match else (0, 0)
        )
        if base <= 0:
            raise ValueError(f"{text!r} is not a clock such as 60+0.5, in seconds")
        return cls(None, base, increment)

    def __str__(self) -> str:
        """Format for tables: `100 ms a move`, `60+0.5 s`."""
        if self.movetime is not None:
            return f"{self.movetime} ms a move"
        return f"{self.base / MILLISECONDS:g}+{self.increment / MILLISECONDS:g} s"


UNTIMED = TimeControl(0)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The times that a player learns before its move, as `go` states them, in milliseconds.

    movetime: the time for this move; None if both sides have clocks. white, black: the time left on
    each clock. increment: what each side gains after a move.
    """

    color: chess.Color
    movetime: int | None = None
    white: int = 0
    black: int = 0
    increment: int = 0

    @property
    def most(self) -> int:
        """The most milliseconds that the move may take."""
        if self.movetime is not None:
            return self.movetime
        return self.white if self.color == chess.WHITE else self.black

    @property
    def words(self) -> str:
        """The words after `go`."""
        if self.movetime is not None:
            return f"movetime {self.movetime}"
        increments = f"winc {self.increment} binc {self.increment}"
        return f"wtime {self.white} btime {self.black} {increments}"

    def limits(self, received: float) -> GoLimits:
        """Convert to the limits of an engine in this process.

        received: when the search began, by `time.monotonic()`.
        """
        if self.movetime is not None:
            return GoLimits(received, movetime=self.movetime)
        return GoLimits(
            received,
            wtime=self.white,
            btime=self.black,
            winc=self.increment,
            binc=self.increment,
        )


class ChessClock:
    """The two clocks of a game."""

    def __init__(self, control: TimeControl) -> None:
        """Set both clocks to the control's base."""
        self._control = control
        self._left = {color: float(control.base) for color in chess.COLORS}

    def allowance(self, color: chess.Color) -> Allowance:
        """Return the times that *color* learns before its move."""
        if self._control.movetime is not None:
            return Allowance(color, self._control.movetime)
        allowance = Allowance(color, None, increment=self._control.increment)
        return replace(
            allowance,
            white=max(1, int(self._left[chess.WHITE])),
            black=max(1, int(self._left[chess.BLACK])),
        )

    def press(self, color: chess.Color, seconds: float) -> bool:
        """Subtract the duration of a move; return whether the move came in time."""
        if self._control.movetime is not None:
            return True
        self._left[color] -= MILLISECONDS * seconds
        in_time = self._left[color] >= 0
        self._left[color] += self._control.increment
        return in_time
