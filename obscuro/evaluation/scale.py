"""How evaluations in pawns become values in [-1, 1], and back: the one place that says it.

A value is tanh(pawns / τ), τ = 6 pawns (KLSS, Appendix D); a pawn is that of Stockfish 13 or 14.
From the ends inwards there lie: a captured king (±1), a mate that Stockfish sees (just inside), and
all evaluations in pawns, which are cut off below any mate.

Plain Python, so that the protocol can use it without loading numba; the kernels compile the same
functions.
"""

import math

TAU = 6.0  # pawns that are worth tanh(1) = 0.76
EVALUATION_LIMIT = 0.9999  # size of the value of 29.7 pawns and more
MATED_NOW = 0.99999  # size of the value of a mate on the board
MATE_STEP = 0.000001  # what each move more until mate takes off
MATE_HORIZON = 50  # moves; a mate farther away counts as this far


def value_of_pawns(pawns: float, tau: float) -> float:
    """The value, in [-EVALUATION_LIMIT, EVALUATION_LIMIT], of an advantage in pawns."""
    return min(max(math.tanh(pawns / tau), -EVALUATION_LIMIT), EVALUATION_LIMIT)


def value_of_mate(moves: int) -> float:
    """The value of UCI's `mate <moves>`: we mate in so many moves, or are mated in -moves if ≤ 0.

    Short of ±1, as it takes the other side's co-operation in the fog; surer the nearer it is.
    """
    size = MATED_NOW - MATE_STEP * min(abs(moves), MATE_HORIZON)
    return size if moves > 0 else -size


def centipawns_of_value(value: float, tau: float = TAU) -> int:
    """The advantage in centipawns that has this value: the inverse of `value_of_pawns`.

    Values of mates and captured kings count as EVALUATION_LIMIT, which is ±2971 at τ = 6.
    """
    clipped = min(max(value, -EVALUATION_LIMIT), EVALUATION_LIMIT)
    return round(100 * tau * math.atanh(clipped))
