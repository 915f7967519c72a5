"""How long a turn and its parts may take; docs/clock.md explains it to users."""

from typing import NamedTuple

from obscuro.engine.report import GoLimits

# Shares of one turn's time.
BELIEF_SHARE = 0.5  # past this the belief update stops, and keeps a sample
SAMPLING_SHARE = 0.4  # of what is left after that; past this the root gets no more positions
SAMPLING_CHUNK = 32  # positions expanded between two looks at the clock

# Shares of the clock.
MOVES_TO_GO = 35  # moves that the remaining time is for if there is no `movestogo`
INCREMENT_SHARE = 0.8
MOST_OF_CLOCK = 0.25  # of the remaining time, for one move
UNSETTLED_FACTOR = 2.5  # times the usual that a move may take if it is not settled
LEAST_SECONDS = 0.01


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
