"""How much time players have, and the clock that runs while they think."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import chess

from obscuro.engine.report import GoLimits

_CLOCK = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")
MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class TimeControl:
    """So much for each move, or a clock with an increment. All in milliseconds.

    movetime: for each move; more is measured, not punished. None: each side has a clock with `base`,
    gets `increment` after each of its moves, and loses where it has none left.
    """

    movetime: int | None
    base: int = 0
    increment: int = 0

    @classmethod
    def of(cls, movetime: int | None, control: TimeControl | None) -> TimeControl:
        """The one of the two that was given. Raises ValueError."""
        if (movetime is None) == (control is None):
            raise ValueError("give either a movetime or a time control")
        return cls(movetime) if control is None else control

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read a clock as match runners write it: `60`, `180+2`, `10+0.1`, in seconds.

        Raises ValueError.
        """
        match = _CLOCK.fullmatch(text.strip())
        base, increment = (
            (round(MILLISECONDS * float(part or 0)) for part in match.groups()) if match else (0, 0)
        )
        if base <= 0:
            raise ValueError(f"{text!r} is not a clock such as 60+0.5, in seconds")
        return cls(None, base, increment)

    def __str__(self) -> str:
        """For tables: `100 ms a move`, `60+0.5 s`."""
        if self.movetime is not None:
            return f"{self.movetime} ms a move"
        return f"{self.base / MILLISECONDS:g}+{self.increment / MILLISECONDS:g} s"


UNTIMED = TimeControl(0)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a player is told of its time before a move, as `go` says it. All in milliseconds."""

    color: chess.Color
    movetime: int | None = None
    white: int = 0
    black: int = 0
    increment: int = 0

    @property
    def most(self) -> int:
        """What the move may take."""
        if self.movetime is not None:
            return self.movetime
        return self.white if self.color == chess.WHITE else self.black

    @property
    def words(self) -> str:
        """What follows `go`."""
        if self.movetime is not None:
            return f"movetime {self.movetime}"
        increments = f"winc {self.increment} binc {self.increment}"
        return f"wtime {self.white} btime {self.black} {increments}"

    def limits(self, received: float) -> GoLimits:
        """The same for an engine in this process; received: `time.monotonic()`."""
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
    """The clocks of a game."""

    def __init__(self, control: TimeControl) -> None:
        """Set both."""
        self._control = control
        self._left = {color: float(control.base) for color in chess.COLORS}

    def allowance(self, color: chess.Color) -> Allowance:
        """What the side to move is told."""
        if self._control.movetime is not None:
            return Allowance(color, self._control.movetime)
        told = Allowance(color, None, increment=self._control.increment)
        return replace(
            told,
            white=max(1, int(self._left[chess.WHITE])),
            black=max(1, int(self._left[chess.BLACK])),
        )

    def press(self, color: chess.Color, seconds: float) -> bool:
        """Take off what a move took; tell whether it came in time."""
        if self._control.movetime is not None:
            return True
        self._left[color] -= MILLISECONDS * seconds
        in_time = self._left[color] >= 0
        self._left[color] += self._control.increment
        return in_time
