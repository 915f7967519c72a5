"""How much models explain of games that they were not fitted to.

The games are in ten folds. Each fold's games are foretold by a model that was fitted to the others'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from obscuro.evaluation.fog_values.correction import MOST_PAWNS
from obscuro.learn.problem import FOLDS, SEARCH, Floats, Problem
from obscuro.learn.ridge_fit import (
    ALL_COLUMNS,
    CONSTANT_AND_SLOPE,
    CONSTANT_ONLY,
    fit_weights,
)
from obscuro.learn.sight_network import sight_planes, train

NOTHING, CONSTANT_MODEL, SLOPE_MODEL = "no correction", "a constant", "a constant and a slope"
FEATURES_MODEL, NETWORK_MODEL, GIVEN_MODEL = "all features", "a small network", "the given weights"

_COLUMNS = {
    CONSTANT_MODEL: CONSTANT_ONLY,
    SLOPE_MODEL: CONSTANT_AND_SLOPE,
    FEATURES_MODEL: ALL_COLUMNS,
}
Tell = Callable[[str], None]
"""Is told what begins."""


def linear_models(problem: Problem, ridge: float) -> Iterator[tuple[str, Floats]]:
    """Yield the linear models' names and the pawns float64[n] that they add, each fold held out."""
    yield NOTHING, np.zeros(len(problem.pawns))
    for name, columns in _COLUMNS.items():
        added = np.zeros(len(problem.pawns))
        for held in _folds(problem):
            weights = fit_weights(problem.where(~held), ridge, columns)
            added[held] = problem.design[held] @ weights
        yield name, added


def network_model(problem: Problem, tell: Tell) -> Floats:
    """Return the pawns float64[n] that the small network adds, each fold held out."""
    planes = sight_planes(problem.states)
    added = np.zeros(len(problem.pawns))
    for number, held in enumerate(_folds(problem), 1):
        tell(f"network {number} of {FOLDS}")
        network = train(problem.where(~held), planes[~held])
        added[held] = network.pawns(planes[held], problem.pawns[held])
    return added


def _folds(problem: Problem) -> Iterator[Any]:
    """Yield the positions of each fold, bool[n]."""
    for fold in range(FOLDS):
        yield problem.fold == fold


def explained(problem: Problem, added: Floats) -> dict[str, Any]:
    """Return the figures of a model that adds pawns float64[n]; pairs are a number and its error.

    loss: the mean. less: how much less it is than without a correction. For the search `explained`
    is the share of the variance of what a leaf's value misses, around its mean; folds: the same
    figure, or `less`, by fold. limited: the share of positions at the largest correction.
    """
    losses = problem.losses(problem.values(added))
    plain = problem.losses(problem.values())
    less = plain - losses
    figures: dict[str, Any] = {
        "loss": problem.mean(losses),
        "less": [problem.mean(less), problem.error(less)],
        "limited": problem.mean((np.abs(added) >= MOST_PAWNS).astype(np.float64)),
    }
    by_fold = [problem.where(held) for held in _folds(problem)]
    if problem.target == SEARCH:
        figures["explained"] = list(share_explained(problem, added))
        figures["folds"] = [
            share_explained(part, added[held])[0]
            for part, held in zip(by_fold, _folds(problem), strict=True)
        ]
    else:
        figures["folds"] = [
            part.mean(less[held]) for part, held in zip(by_fold, _folds(problem), strict=True)
        ]
    return figures


def share_explained(problem: Problem, added: Floats) -> tuple[float, float]:
    """Return R² of what leaves' values miss, and its standard error by game.

    added: pawns, float64[n].
    """
    spread = _spread(problem)
    left = (problem.aim - problem.values(added)) ** 2
    whole = problem.mean(spread)
    ratio = problem.mean(left) / whole
    return 1 - ratio, problem.error(left - ratio * spread) / whole


def _spread(problem: Problem) -> Floats:
    """Return the squared distance of what each leaf's value misses from its mean, float64[n]."""
    missed = problem.aim - problem.values()
    spread: Floats = (missed - problem.mean(missed)) ** 2
    return spread


def share_beyond(problem: Problem, added: Floats, base: Floats) -> list[float]:
    """Return how much larger R² is with one model than with another, and its standard error.

    added, base: pawns of both, float64[n].
    """
    whole = problem.mean(_spread(problem))
    gain, error = gained(problem, added, base)
    return [gain / whole, error / whole]


def gained(problem: Problem, added: Floats, base: Floats) -> list[float]:
    """Return how much less a model's mean loss is than another one's, and its standard error.

    added, base: pawns of both, float64[n].
    """
    less = problem.losses(problem.values(base)) - problem.losses(problem.values(added))
    return [problem.mean(less), problem.error(less)]
