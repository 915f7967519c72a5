"""The linear model: weights of the correction, drawn towards 0, with errors by game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obscuro.evaluation.fog_values.correction import CONSTANT, MOST_PAWNS, SLOPE, WEIGHT_COUNT
from obscuro.evaluation.scale import TAU
from obscuro.learn.problem import SEARCH, Floats, Problem

_STEPS = 30
_DONE = 1e-6  # a fit is done when a step lowers the loss by a smaller share
_FREE = 0.01  # the ridge of the constant and the slope
_HALVES = 6  # of a step that overshoots

CONSTANT_ONLY = (CONSTANT,)
CONSTANT_AND_SLOPE = (CONSTANT, SLOPE)
ALL_COLUMNS = tuple(range(WEIGHT_COUNT))


class _Slope(NamedTuple):
    """The penalised loss of weights, and what a step needs."""

    loss: float
    gradient: Floats  # [k]
    curvature: Floats  # [k, k]
    rows: Floats  # [n, k] each position's part of the gradient, without the ridge


def fit_weights(problem: Problem, ridge: float, columns: tuple[int, ...] = ALL_COLUMNS) -> Floats:
    """Return the best weights, float64[WEIGHT_COUNT] in pawns; those of other columns are 0.

    ridge: see `penalty`. The steps are Gauss and Newton's, with halves where one overshoots.
    """
    chosen = list(columns)
    design = problem.design[:, chosen]
    penalty = penalties(problem, ridge)[chosen]
    found = np.zeros(len(chosen))
    now = _slope(problem, design, penalty, found)
    for _ in range(_STEPS):
        step = np.linalg.solve(now.curvature, now.gradient)
        for _ in range(_HALVES):
            then = _slope(problem, design, penalty, found - step)
            if then.loss <= now.loss:
                break
            step = step / 2
        if then.loss >= now.loss * (1 - _DONE):
            break
        found, now = found - step, then
    weights = np.zeros(WEIGHT_COUNT)
    weights[chosen] = found
    return weights


def weight_errors(problem: Problem, ridge: float, weights: Floats) -> Floats:
    """Return the standard errors of weights by game, float64[WEIGHT_COUNT].

    weights: what `fit_weights` returned for all columns, float64[WEIGHT_COUNT].
    """
    at = _slope(problem, problem.design, penalties(problem, ridge), weights)
    sums = np.zeros((int(problem.game.max()) + 1, WEIGHT_COUNT))
    np.add.at(sums, problem.game, at.rows)
    inverse = np.linalg.inv(at.curvature)
    return np.asarray(np.sqrt(np.diag(inverse @ (sums.T @ sums) @ inverse)))


def penalties(problem: Problem, ridge: float) -> Floats:
    """Return the ridge of each weight, float64[WEIGHT_COUNT].

    A ridge of x draws a weight towards 0 as x positions do that have the feature once, have nothing
    else, lie at the value 0, and show no difference.
    """
    each = np.full(WEIGHT_COUNT, max(ridge, _FREE))
    each[[CONSTANT, SLOPE]] = _FREE
    return each / TAU**2


def _slope(problem: Problem, design: Floats, penalty: Floats, weights: Floats) -> _Slope:
    """Return the loss at weights float64[k] and its slope; half of the loss for squares."""
    linear = design @ weights
    values = problem.values(linear)
    free = np.abs(linear) < MOST_PAWNS
    if problem.target == SEARCH:
        steep = (1 - values**2) / TAU * free
        pull = steep * (values - problem.aim)
        bend = steep**2
        loss = problem.losses(values) / 2
    else:
        pull = (values - problem.aim) / TAU * free
        bend = (1 - values**2) / TAU**2 * free
        loss = problem.losses(values)
    rows = design * (problem.weight * pull)[:, None]
    curvature = (design.T * (problem.weight * bend)) @ design + np.diag(penalty)
    return _Slope(
        float(problem.weight @ loss + penalty @ weights**2 / 2),
        rows.sum(axis=0) + penalty * weights,
        curvature,
        rows,
    )
