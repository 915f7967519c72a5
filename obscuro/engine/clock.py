"""How long a turn may take (DESIGN §7)."""

from obscuro.engine.parameters import (
    INCREMENT_SHARE,
    LEAST_SECONDS,
    MOST_OF_CLOCK,
    MOVES_TO_GO,
)
from obscuro.engine.report import GoLimits


def turn_deadline(limits: GoLimits, side: int, overhead_ms: int) -> float | None:
    """The `time.monotonic` second by which the move must be printed; None without a time limit.

    side: 0 = White, whose clock counts. overhead_ms: kept back for the way to the GUI. movetime wins
    over a clock. The clock's remaining time is spread over `movestogo` or MOVES_TO_GO moves, and
    most of the increment is spent.
    """
    if limits.infinite:
        return None
    overhead = overhead_ms / 1000
    if limits.movetime is not None:
        return limits.received + max(limits.movetime / 1000 - overhead, LEAST_SECONDS)
    remaining_ms = limits.wtime if side == 0 else limits.btime
    if remaining_ms is None:
        return None
    increment = ((limits.winc if side == 0 else limits.binc) or 0) / 1000
    remaining = max(remaining_ms / 1000 - overhead, 0.0)
    moves = limits.movestogo or MOVES_TO_GO
    budget = remaining / moves + INCREMENT_SHARE * increment
    most = remaining if moves == 1 else max(MOST_OF_CLOCK * remaining, remaining / moves)
    return limits.received + max(min(budget, most), LEAST_SECONDS)
