"""Whether what weights predict comes true: by predicted value, and by the pawns that they add."""

from __future__ import annotations

from typing import Any

import numpy as np

from obscuro.evaluation.fog_values.correction import MOST_PAWNS
from obscuro.learn.problem import Floats, Problem

VALUE_EDGES = (-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8)
PAWN_EDGES = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)
LEAST_GAMES = 2


def by_value(problem: Problem, added: Floats) -> list[dict[str, Any]]:
    """Return rows by the value with the correction: means of it, of what came, and the error.

    added: pawns, float64[n]. A row has `from` and `to` (None: open), `positions`, `turns` as they
    count, `plain` (the mean value without the correction), `predicted`, and `real` with its error.
    `more` is how much more than `plain` the real value is, with its error.
    """
    return _rows(problem, added, problem.values(added), VALUE_EDGES)


def by_pawns(problem: Problem, added: Floats) -> list[dict[str, Any]]:
    """Return such rows by the pawns float64[n] that a correction adds, at most MOST_PAWNS."""
    return _rows(problem, added, np.clip(added, -MOST_PAWNS, MOST_PAWNS), PAWN_EDGES)


def by_results(problem: Problem, added: Floats) -> list[dict[str, Any]]:
    """Return rows as `by_value`, of the true positions, with the games' results as what came.

    added: pawns, float64[n].
    """
    of_results = problem._replace(aim=problem.result, weight=np.ones(len(problem.aim)))
    return by_value(of_results.where(problem.true), added[problem.true])


def _rows(
    problem: Problem, added: Floats, sorted_by: Floats, edges: tuple[float, ...]
) -> list[dict[str, Any]]:
    place = np.digitize(sorted_by, edges)
    found = []
    for number in range(len(edges) + 1):
        inside = place == number
        part = problem.where(inside)
        if len(np.unique(part.game)) < LEAST_GAMES:
            continue
        found.append(
            {
                "from": edges[number - 1] if number else None,
                "to": edges[number] if number < len(edges) else None,
                "positions": len(part.pawns),
                "turns": float(part.weight.sum()),
                "plain": part.mean(part.values()),
                "predicted": part.mean(part.values(added[inside])),
                "real": _pair(part, part.aim),
                "more": _pair(part, part.aim - part.values()),
            }
        )
    return found


def _pair(part: Problem, numbers: Floats) -> list[float]:
    """Return the mean of float[n] and its error."""
    return [part.mean(numbers), part.error(numbers)]
