"""Fits of a game's result to pawns, with errors by game, and how well a fit foretells other games.

A result is in [-1, 1]; a curve gives its mean. The result is taken for that of a game that is won
with probability s = (1 + curve) / 2, a draw for half of a win and half of a loss. So the curve
tanh(pawns / τ) is the logistic one with a scale of τ / 2 pawns. The turns of a game share its result.
Errors therefore come from the sums over games, and held-out turns are of held-out games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.scale import TAU

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Foretell = Callable[[Mask], Floats]
"""Returns the expected results of the turns of a mask."""
Learn = Callable[[Mask], Foretell]
"""Fits the turns of a mask, and returns what foretells the results of others."""

FOLDS = 10
_SURE = 1e-6  # no curve gives a win a smaller probability
_STEPS = 100
_HALVES = 30  # of a step that overshoots
_TINY = 1e-5  # the step of a numeric derivative
_DONE = 1e-9  # a fit is done when a step promises to lower the mean loss by less
_FREE = float("inf")


class Form(NamedTuple):
    """A family of curves.

    start: parameters to begin with. most: their upper bounds. curve: maps parameters float[k] and
    pawns float[n] to float[n], [-1, 1]. For a curve of more than pawns these are a table [n, columns].
    """

    name: str
    start: tuple[float, ...]
    most: tuple[float, ...]
    curve: Callable[[Floats, Floats], Floats]


def _power(pawns: Floats, exponent: float) -> Floats:
    return np.sign(pawns) * np.abs(pawns) ** exponent


TANH = Form("tanh(p / τ)", (TAU,), (_FREE,), lambda a, p: np.tanh(p / a[0]))
TEMPO = Form(
    "tanh((p + b) / τ)", (TAU, 0.0), (_FREE, _FREE), lambda a, p: np.tanh((p + a[1]) / a[0])
)
CEILING = Form("c · tanh(p / τ)", (TAU, 0.95), (_FREE, 1.0), lambda a, p: a[1] * np.tanh(p / a[0]))
SHIFT = Form("tanh((p + b) / 6)", (0.0,), (_FREE,), lambda a, p: np.tanh((p + a[0]) / TAU))
POWER = Form(
    "tanh((p / τ)^g)", (TAU, 1.0), (_FREE, _FREE), lambda a, p: np.tanh(_power(p / a[0], a[1]))
)


class Fit(NamedTuple):
    """The parameters of a form that make results likeliest.

    errors: standard errors. covariance: [k, k]; both by game.
    """

    form: Form
    values: Floats  # [k]
    errors: Floats  # [k]
    covariance: Floats  # [k, k]

    def curve(self, pawns: Floats) -> Floats:
        """Return the curve at these pawns."""
        return self.form.curve(self.values, pawns)


def fit(form: Form, pawns: Floats, results: Floats, games: Numbers) -> Fit:
    """Fit a form by maximum likelihood (Fisher's scoring, with halved steps where it overshoots).

    pawns, results: [turns], in the view of the side to move. games: [turns] the game of each.
    Raises ValueError if there are no turns.
    """
    if not len(pawns):
        raise ValueError("there is nothing to fit")
    scores = (1 + results) / 2
    at = np.array(form.start)
    loss = _loss(form, at, pawns, scores).mean()
    for _ in range(_STEPS):
        slopes, gradient = _scoring(form, at, pawns, scores)
        step = np.linalg.lstsq(slopes, gradient.sum(axis=0), rcond=None)[0]
        if gradient.sum(axis=0) @ step < _DONE * len(pawns):
            break
        for _ in range(_HALVES):
            there = np.minimum(at + step, form.most)
            lower = _loss(form, there, pawns, scores).mean()
            if lower < loss:
                at, loss = there, lower
                break
            step /= 2
        else:
            break
    slopes, gradient = _scoring(form, at, pawns, scores)
    inverse = np.linalg.pinv(slopes)
    by_game = sum_by(gradient, games)
    covariance = inverse @ (by_game.T @ by_game) @ inverse
    return Fit(form, at, np.sqrt(np.diag(covariance)), covariance)


def _win(form: Form, at: Floats, pawns: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        found = (1 + form.curve(at, pawns)) / 2
    return np.clip(np.where(np.isfinite(found), found, _SURE), _SURE, 1 - _SURE)


def _loss(form: Form, at: Floats, pawns: Floats, scores: Floats) -> Floats:
    return log_loss(_win(form, at, pawns), scores)


def log_loss(wins: Floats, scores: Floats) -> Floats:
    """Return −log of the probability of each result, in nats; wins and scores are in [0, 1]."""
    sure = np.clip(wins, _SURE, 1 - _SURE)
    return np.asarray(-scores * np.log(sure) - (1 - scores) * np.log(1 - sure))


def _scoring(form: Form, at: Floats, pawns: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return Fisher's information [k, k], and each turn's derivative of the likelihood [n, k]."""
    wins = _win(form, at, pawns)
    derivatives = []
    for index in range(len(at)):
        step = np.zeros(len(at))
        step[index] = _TINY
        derivatives.append(
            (_win(form, at + step, pawns) - _win(form, at - step, pawns)) / (2 * _TINY)
        )
    jacobian = np.stack(derivatives, axis=1)
    weights = 1 / (wins * (1 - wins))
    gradient = jacobian * (weights * (scores - wins))[:, None]
    return jacobian.T @ (jacobian * weights[:, None]), gradient


def sum_by(rows: Floats, games: Numbers) -> Floats:
    """Return the sums of rows [n, k] over each game, [games, k]."""
    _, place = np.unique(games, return_inverse=True)
    sums = np.zeros((place.max() + 1 if len(place) else 0, rows.shape[1]))
    np.add.at(sums, place, rows)
    return sums


class Mean(NamedTuple):
    """A mean over turns with its standard error by game. error: NaN for a single game."""

    value: float
    error: float
    turns: int
    games: int


def mean_of(values: Floats, games: Numbers) -> Mean:
    """Return the mean of turns. The error is that of a ratio of sums over games."""
    count = len(np.unique(games))
    if not count:
        return Mean(float("nan"), float("nan"), 0, 0)
    mean = float(values.mean())
    sums = sum_by((values - mean)[:, None], games)[:, 0]
    error = float("nan")
    if count > 1:
        error = float(np.sqrt((sums**2).sum() * count / (count - 1))) / len(values)
    return Mean(mean, error, len(values), count)


# -- steps ------------------------------------------------------------------------------------


class Steps(NamedTuple):
    """A rising curve without a form: means over bins of as many turns each, with their neighbours
    joined where they would fall (isotonic regression), and straight lines between them.
    """

    pawns: Floats  # [bins] mean of the bin
    means: Floats  # [bins] rising

    def curve(self, pawns: Floats) -> Floats:
        """Return the curve at these pawns; it is level beyond the ends."""
        return np.interp(pawns, self.pawns, self.means)


def fit_steps(pawns: Floats, results: Floats, bins: int = 40) -> Steps:
    """Return the rising steps of turns."""
    order = np.argsort(pawns, kind="stable")
    joined: list[tuple[float, float, int]] = []  # means of pawns and results, and turns
    for part in np.array_split(order, min(bins, len(order))):
        x, y, n = float(pawns[part].mean()), float(results[part].mean()), len(part)
        while joined and joined[-1][1] >= y:
            x_before, y_before, before = joined.pop()
            x = (x_before * before + x * n) / (before + n)
            y = (y_before * before + y * n) / (before + n)
            n += before
        joined.append((x, y, n))
    return Steps(np.array([row[0] for row in joined]), np.array([row[1] for row in joined]))


# -- held-out games -----------------------------------------------------------------------------


def folds(games: Numbers, seed: int = 1) -> Iterator[tuple[Mask, Mask]]:
    """Yield masks of turns, to fit and to test: every game is tested once, FOLDS parts in all."""
    names, place = np.unique(games, return_inverse=True)
    part = np.random.default_rng(seed).permutation(len(names)) % FOLDS
    for number in range(FOLDS):
        tested = part[place] == number
        if tested.any() and not tested.all():
            yield ~tested, tested


def held_out(learn: Learn, results: Floats, games: Numbers) -> Floats:
    """Return the loss of each turn [n], in nats, by a curve that was fitted to other games."""
    losses = np.full(len(results), np.nan)
    for known, tested in folds(games):
        foretold = learn(known)(tested)
        losses[tested] = log_loss((1 + foretold) / 2, (1 + results[tested]) / 2)
    return losses
