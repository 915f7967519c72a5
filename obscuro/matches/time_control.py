"""The time or the nodes that players have for a move, and the clocks that measure it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import chess

from obscuro.client.limit import NODES_SECONDS, Limit
from obscuro.engine.report import GoLimits

_CLOCK = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")
MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A fixed time or number of nodes for each move, or a clock. All times are in milliseconds.

    movetime: the time for each move; the referee measures an excess but does not punish it. nodes:
    the nodes of each search, whatever time that takes; then load, machine and clock don't matter.
    None of both: the side has a clock that begins at `base` and gains `increment` after each of its
    moves. A side whose clock runs out loses.
    """

    movetime: int | None
    base: int = 0
    increment: int = 0
    nodes: int | None = None

    @property
    def has_clock(self) -> bool:
        """Whether the side can run out of time."""
        return self.movetime is None and self.nodes is None

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
        """Format for tables: `100 ms a move`, `60,000 nodes a move`, `60+0.5 s`."""
        if self.nodes is not None:
            return f"{self.nodes:,} nodes a move"
        if self.movetime is not None:
            return f"{self.movetime} ms a move"
        return f"{self.base / MILLISECONDS:g}+{self.increment / MILLISECONDS:g} s"


UNTIMED = TimeControl(0)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The times that a player learns before its move, as `go` states them, in milliseconds.

    movetime: the time for this move. nodes: those of its search. Both are None if the mover has a
    clock. white, black: the time left on each clock. increment, black_increment: what White and
    Black gain after a move; None: Black's is White's. A side without a clock shows the mover's own
    time in place of its own.
    """

    color: chess.Color
    movetime: int | None = None
    white: int = 0
    black: int = 0
    increment: int = 0
    black_increment: int | None = None
    nodes: int | None = None

    @property
    def most(self) -> int:
        """The most milliseconds that the move may take."""
        if self.nodes is not None:
            return int(NODES_SECONDS * MILLISECONDS)
        if self.movetime is not None:
            return self.movetime
        return self.white if self.color == chess.WHITE else self.black

    @property
    def limit(self) -> Limit:
        """The limit of a search, for an engine's client."""
        if self.nodes is not None or self.movetime is not None:
            return Limit(self.movetime, self.nodes)
        return Limit(clocks=(self.white, self.black, self.increment, self._black_increment))

    @property
    def _black_increment(self) -> int:
        return self.increment if self.black_increment is None else self.black_increment

    def limits(self, received: float) -> GoLimits:
        """Convert to the limits of an engine in this process.

        received: when the search began, by `time.monotonic()`.
        """
        if self.nodes is not None or self.movetime is not None:
            return GoLimits(received, movetime=self.movetime, nodes=self.nodes)
        return GoLimits(
            received,
            wtime=self.white,
            btime=self.black,
            winc=self.increment,
            binc=self._black_increment,
        )


class ChessClock:
    """The times of both sides in a game. Each side has its own control."""

    def __init__(self, white: TimeControl, black: TimeControl | None = None) -> None:
        """Set both clocks to their base. black: None for the same control as White's."""
        self._controls = {chess.WHITE: white, chess.BLACK: white if black is None else black}
        self._left = {color: float(self._controls[color].base) for color in chess.COLORS}

    def allowance(self, color: chess.Color) -> Allowance:
        """Return the times that *color* learns before its move."""
        own = self._controls[color]
        if not own.has_clock:
            return Allowance(color, own.movetime, nodes=own.nodes)
        # An opponent without a clock: the mover is told its own time.
        shown = {side: side if self._controls[side].has_clock else color for side in chess.COLORS}
        white, black = (max(1, int(self._left[shown[side]])) for side in (chess.WHITE, chess.BLACK))
        winc, binc = (self._controls[shown[side]].increment for side in (chess.WHITE, chess.BLACK))
        return Allowance(color, None, white, black, winc, binc)

    def press(self, color: chess.Color, seconds: float) -> bool:
        """Subtract the duration of a move; return whether the move came in time."""
        control = self._controls[color]
        if not control.has_clock:
            return True
        self._left[color] -= MILLISECONDS * seconds
        in_time = self._left[color] >= 0
        self._left[color] += control.increment
        return in_time

    def left(self, color: chess.Color) -> float | None:
        """Return the milliseconds on the clock of *color*; None if it has none."""
        return self._left[color] if self._controls[color].has_clock else None


def time_text(seconds: float) -> str:
    """Write a time for names and tables: `250 ms`, `4 s`."""
    return f"{MILLISECONDS * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"
