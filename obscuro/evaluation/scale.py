"""Convert evaluations in pawns to values in [-1, 1] and back. No other module defines this scale.

A value is tanh(pawns / τ) with τ = 6 pawns (KLSS, Appendix D). A pawn is that of Stockfish 13 or
14. A captured king has the value ±1. A mate that Stockfish sees lies just inside ±1. Evaluations in
pawns are clipped to values below every mate.

The functions are plain Python, so the protocol uses them without loading numba. The kernels compile
the same functions.
"""

import math

TAU = 6.0  # the pawns worth tanh(1) = 0.76
EVALUATION_LIMIT = 0.9999  # the size of the value of 29.7 pawns and more
MATED_NOW = 0.99999  # the size of the value of a mate on the board
MATE_STEP = 0.000001  # each further move until mate reduces the size by this
MATE_HORIZON = 50  # moves; a mate farther away counts as this far


def value_of_pawns(pawns: float, tau: float) -> float:
    """Return the value of an advantage in pawns, in [-EVALUATION_LIMIT, EVALUATION_LIMIT]."""
    return min(max(math.tanh(pawns / tau), -EVALUATION_LIMIT), EVALUATION_LIMIT)


def value_of_mate(moves: int) -> float:
    """Return the value of UCI's `mate <moves>`: if `moves` ≤ 0, we are mated in -`moves`.

    The value is short of ±1, because in the fog the other side may not play into the mate. A nearer
    mate has a value nearer to ±1.
    """
    size = MATED_NOW - MATE_STEP * min(abs(moves), MATE_HORIZON)
    return size if moves > 0 else -size


def centipawns_of_value(value: float, tau: float = TAU) -> int:
    """Return the advantage in centipawns that has this value, the inverse of `value_of_pawns`.

    Mates and captured kings count as EVALUATION_LIMIT, which is ±2971 centipawns at τ = 6.
    """
    clipped = min(max(value, -EVALUATION_LIMIT), EVALUATION_LIMIT)
    return round(100 * tau * math.atanh(clipped))
