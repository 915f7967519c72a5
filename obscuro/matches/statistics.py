"""Averages over the moves of one player, and the time by which it overran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from obscuro.matches.game_record import Turn

QUANTITIES = {
    "belief": "mean |P|",
    "nodes": "nodes",
    "infosets": "infosets",
    "carried": "carried",
    "iterations": "iterations",
    "expansions": "expansions",
    "evaluations": "evals",
    "depth": "depth",
}
"""The averaged quantities: field of `Report` to heading in tables."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of some moves of one player.

    means: the mean of each quantity over the moves whose report states it; None if none does.
    largest_belief: the largest |P|. inexact: number of moves with an incomplete belief.
    seconds: mean time of a move. overrun: the largest excess over the allowed time, in
    milliseconds; negative if every move came early; None without moves, or on a clock.
    belief_checks: how often the true position was found in P.
    """

    moves: int
    means: dict[str, float | None]
    largest_belief: int | None
    inexact: int
    seconds: float
    overrun: float | None
    belief_checks: int

    @classmethod
    def of(cls, turns: Sequence[Turn], movetime: int | None) -> Statistics:
        """Compute the statistics of *turns*.

        movetime: milliseconds that each move was allowed; None if the player had a clock.
        """
        reports = [turn.report for turn in turns if turn.report is not None]
        beliefs = [report.belief for report in reports if report.belief is not None]
        return cls(
            moves=len(turns),
            means={
                quantity: _mean(
                    value for r in reports if (value := getattr(r, quantity)) is not None
                )
                for quantity in QUANTITIES
            },
            largest_belief=max(beliefs, default=None),
            inexact=sum(report.exact is False for report in reports),
            seconds=_mean(turn.seconds for turn in turns) or 0.0,
            overrun=None
            if movetime is None
            else max((turn.seconds * 1000 - movetime for turn in turns), default=None),
            belief_checks=sum(turn.belief_checks for turn in turns),
        )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None


def number(value: float | None, digits: int = 0) -> str:
    """Format a number for a table, with commas between thousands; `-` for None."""
    return "-" if value is None else f"{value:,.{digits}f}"
