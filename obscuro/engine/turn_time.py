"""How long a turn may take; docs/clock.md explains it to users."""

from typing import NamedTuple

from obscuro.engine.constants import (
    INCREMENT_SHARE,
    LEAST_SECONDS,
    MOST_OF_CLOCK,
    MOVES_TO_GO,
    UNSETTLED_FACTOR,
)
from obscuro.engine.report import GoLimits


class TurnTime(NamedTuple):
    """When a turn ends, in seconds of `time.monotonic`; the move must be printed before."""

    deadline: float  # as planned; an easy move is played earlier
    latest: float  # for a move that is not settled; equal to the deadline if all time is to be used

    @property
    def flexible(self) -> bool:
        """Whether the search may end early, or go on until `latest`."""
        return self.latest > self.deadline


def turn_time(limits: GoLimits, side: int, overhead_ms: int) -> TurnTime | None:
    """Plan the end of a turn; None without a time limit.

    side: whose clock counts, 0 = White. overhead_ms: milliseconds kept back for the way to the GUI.

    A `movetime` wins over a clock, and the turn uses all of it. A clock's remaining time is divided
    by `movestogo` or MOVES_TO_GO, and INCREMENT_SHARE of the increment is added. A move that is not
    settled may take UNSETTLED_FACTOR times as long. No move takes more than MOST_OF_CLOCK of what
    remains, unless so few moves are left that each may have more.
    """
    if limits.infinite:
        return None
    overhead = overhead_ms / 1000
    if limits.movetime is not None:
        end = limits.received + max(limits.movetime / 1000 - overhead, LEAST_SECONDS)
        return TurnTime(end, end)
    remaining_ms = limits.wtime if side == 0 else limits.btime
    if remaining_ms is None:
        return None
    increment = ((limits.winc if side == 0 else limits.binc) or 0) / 1000
    remaining = max(remaining_ms / 1000 - overhead, 0.0)
    moves = limits.movestogo or MOVES_TO_GO
    budget = remaining / moves + INCREMENT_SHARE * increment
    most = remaining if moves == 1 else max(MOST_OF_CLOCK * remaining, remaining / moves)
    planned = max(min(budget, most), LEAST_SECONDS)
    return TurnTime(
        limits.received + planned,
        limits.received + max(min(UNSETTLED_FACTOR * planned, most), planned),
    )


def share_of(deadline: float | None, start: float, share: float) -> float | None:
    """The second at which a share of the time up to `deadline` is over; None without a deadline."""
    return None if deadline is None else start + share * (deadline - start)
