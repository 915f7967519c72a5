"""All figures of `obscuro learn check`: what models explain, the weights, what came of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from obscuro.evaluation.fog_values.correction import (
    CONSTANT,
    FIRST_FEATURE,
    SLOPE,
    WEIGHT_COUNT,
)
from obscuro.evaluation.fog_values.sight_features import FEATURE_COUNT, FEATURES
from obscuro.evaluation.fog_values.value_file import FogValues
from obscuro.learn import calibration
from obscuro.learn.held_out import (
    CONSTANT_MODEL,
    FEATURES_MODEL,
    GIVEN_MODEL,
    NETWORK_MODEL,
    SLOPE_MODEL,
    Tell,
    explained,
    gained,
    linear_models,
    network_model,
    share_beyond,
)
from obscuro.learn.problem import SEARCH, Floats, Problem, make_problem
from obscuro.learn.ridge_fit import fit_weights, weight_errors
from obscuro.learn.samples import Collected

Figures = dict[str, Any]


def fitted(collected: Collected, target: str, ridge: float) -> FogValues:
    """Return weights that are fitted to all of the data, with what they were fitted to.

    Raises LearnError.
    """
    problem = make_problem(collected.samples, target)
    weights = fit_weights(problem, ridge)
    facts = {"target": target, "ridge": ridge, **collected.facts}
    return FogValues(np.round(weights, 4), facts)


def check_figures(
    collected: Collected,
    target: str,
    ridge: float,
    *,
    values: FogValues | None = None,
    with_network: bool = False,
    tell: Tell = lambda text: None,
) -> Figures:
    """Return the figures of a check. Raises LearnError.

    values: weights to judge. None, or weights that were fitted to these data with this target: the
    linear model is judged as it foretells each fold from the others. ridge: of the models that are
    fitted. tell: is told what begins.
    """
    problem = make_problem(collected.samples, target)
    given = None
    if values is not None:
        own = {"fingerprint": collected.facts["fingerprint"], "target": target}
        if any(values.data.get(key) != value for key, value in own.items()):
            given = values
    added: dict[str, Floats] = {}
    for name, pawns in linear_models(problem, ridge):
        tell(name)
        added[name] = pawns
    if given is not None:
        added[GIVEN_MODEL] = problem.design @ given.weights
    if with_network:
        added[NETWORK_MODEL] = network_model(problem, tell)
    base = added[CONSTANT_MODEL]
    models = [
        {"name": name, **explained(problem, pawns), "over_constant": gained(problem, pawns, base)}
        for name, pawns in added.items()
    ]
    judged = added[FEATURES_MODEL if given is None else GIVEN_MODEL]
    return {
        "data": collected.facts,
        "target": target,
        "ridge": ridge,
        "positions": len(problem.pawns),
        "true": int(problem.true.sum()),
        "turns": float(problem.weight.sum()),
        "games": len(np.unique(problem.game)),
        "missed": missed(problem),
        "missed_by_side": missed_by_side(problem) if target == SEARCH else None,
        "models": models,
        "beyond_slope": (
            share_beyond(problem, added[FEATURES_MODEL], added[SLOPE_MODEL])
            if target == SEARCH
            else None
        ),
        "judged": FEATURES_MODEL if given is None else GIVEN_MODEL,
        "weights": _weights(problem, ridge, given),
        "by_value": calibration.by_value(problem, judged),
        "by_pawns": calibration.by_pawns(problem, judged),
        "by_results": calibration.by_results(problem, judged),
    }


def missed(problem: Problem) -> Figures:
    """Return the mean of what a leaf's value misses, with its error, and the standard deviation."""
    difference = problem.aim - problem.values()
    mean = problem.mean(difference)
    return {
        "mean": [mean, problem.error(difference)],
        "deviation": problem.mean((difference - mean) ** 2) ** 0.5,
    }


def missed_by_side(problem: Problem) -> Figures:
    """Return `missed` where the followed side is to move, and where the other one is.

    A side without two games is None.
    """
    parts = {"followed": problem.followed, "other": ~problem.followed}
    return {
        name: missed(problem.where(chosen)) if len(np.unique(problem.game[chosen])) > 1 else None
        for name, chosen in parts.items()
    }


def _weights(problem: Problem, ridge: float, given: FogValues | None) -> list[Figures]:
    """Return a row for each feature: its weights for both sides, and how often it is there.

    Weights that were fitted have standard errors, others None.
    """
    weights = fit_weights(problem, ridge) if given is None else given.weights
    errors: list[float | None] = [None] * WEIGHT_COUNT
    if given is None:
        errors = weight_errors(problem, ridge, weights).tolist()
    means = [problem.mean(column) for column in problem.design.T]

    def cell(index: int) -> Figures:
        return {
            "weight": float(weights[index]),
            "error": errors[index],
            "mean": means[index],
        }

    rows: list[Figures] = [
        {"name": "constant", "mover": cell(CONSTANT), "other": None},
        {"name": "slope", "mover": cell(SLOPE), "other": None},
    ]
    for number, name in enumerate(FEATURES):
        own = FIRST_FEATURE + number
        rows.append({"name": name, "mover": cell(own), "other": cell(own + FEATURE_COUNT)})
    return rows
