"""What a fit has to explain: positions, their pawns without a correction, and what they come to.

There are two targets. For the *search* a leaf's value should be the value in a solved tree: the fit
is by least squares, each solved turn counts once, and its positions evenly. For the *results* it
should be the mean result of the games: the fit is by likelihood, where a result is won with
probability (1 + value) / 2, and a draw is half of a win and half of a loss.

Left out are values that no correction changes: captured kings, mates, and bare kings, which have a
rule of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.fog_values.correction import (
    CONSTANT,
    FIRST_FEATURE,
    MOST_PAWNS,
    SLOPE,
    SLOPE_PAWNS,
    WEIGHT_COUNT,
)
from obscuro.evaluation.fog_values.sight_features import ALL_FEATURES, fill_features
from obscuro.evaluation.scale import EVALUATION_LIMIT, TAU
from obscuro.learn.learn_error import LearnError
from obscuro.learn.samples import Samples
from obscuro.rules.layout import WHITE
from obscuro.rules.tables import TABLES

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SEARCH, RESULTS = "search", "results"
FOLDS = 10
_SURE = 1e-9
_SEED = 16  # of the draw of the folds


class Problem(NamedTuple):
    """Positions for a fit, n in all; values in the view of the side to move."""

    target: str  # SEARCH or RESULTS
    states: npt.NDArray[np.uint64]  # [n, 8]
    design: Floats  # [n, WEIGHT_COUNT] what `correction` multiplies by the weights
    pawns: Floats  # [n] value of a leaf, in pawns, without a correction
    aim: Floats  # [n] what the value should be, [-1, 1]
    weight: Floats  # [n] how much a position counts
    true: Mask  # [n] whether the game was in this position
    followed: Mask  # [n] whether the side to move is the one that was followed, and searched
    result: Floats  # [n] of the game: 1, 0 or -1
    game: npt.NDArray[np.int64]  # [n] index of the game
    fold: npt.NDArray[np.int64]  # [n] the tenth of the games that holds it

    def where(self, chosen: Mask | npt.NDArray[np.int64]) -> Problem:
        """Return the positions of a mask bool[n], or of indices int64[k]."""
        columns: Iterator[Any] = (column[chosen] for column in self[1:])
        return Problem(self.target, *columns)

    def values(self, added: Floats | float = 0.0) -> Floats:
        """Return values with float[n] pawns added, at most MOST_PAWNS."""
        return np.asarray(np.tanh((self.pawns + np.clip(added, -MOST_PAWNS, MOST_PAWNS)) / TAU))

    def losses(self, values: Floats) -> Floats:
        """Return each position's loss at values float64[n]: float64[n].

        It is the square of the error, or minus the log of the likelihood.
        """
        if self.target == SEARCH:
            return (self.aim - values) ** 2
        won = np.clip((1 + values) / 2, _SURE, 1 - _SURE)
        wins = (1 + self.aim) / 2
        return np.asarray(-(wins * np.log(won) + (1 - wins) * np.log(1 - won)))

    def mean(self, numbers: Floats) -> float:
        """Return the mean of float[n] over the positions as they count."""
        return float(np.average(numbers, weights=self.weight))

    def error(self, numbers: Floats) -> float:
        """Return the standard error of the mean of float[n]; the positions of a game depend."""
        games = int(self.game.max()) + 1
        sums = np.bincount(self.game, self.weight * (numbers - self.mean(numbers)), games)
        filled = len(np.unique(self.game))
        return float(np.sqrt((sums**2).sum() * filled / max(filled - 1, 1)) / self.weight.sum())


def make_problem(samples: Samples, target: str) -> Problem:
    """Return what a fit of samples has to explain. Raises LearnError if there is too little."""
    chosen = np.abs(samples.leaf) <= EVALUATION_LIMIT
    chosen &= ~_has_bare_king(samples.states)
    chosen &= ~np.isnan(samples.solved) if target == SEARCH else samples.true
    kept = samples.where(chosen)
    keys, game = np.unique(kept.game, return_inverse=True)
    if len(keys) < FOLDS:
        what = "solved trees" if target == SEARCH else "true positions"
        raise LearnError(
            f"{len(keys)} games with {what} are too few to hold a tenth of them out; collect "
            f"{FOLDS} at least"
        )
    pawns = TAU * np.arctanh(kept.leaf.astype(np.float64))
    weight = np.ones(len(pawns))
    if target == SEARCH:
        _, turn, sizes = np.unique(
            np.stack([game, kept.ply]), axis=1, return_inverse=True, return_counts=True
        )
        weight = 1.0 / sizes[turn.reshape(-1)]
    aim = kept.solved if target == SEARCH else kept.result
    return Problem(
        target,
        kept.states,
        design_of(kept.states, pawns),
        pawns,
        aim.astype(np.float64),
        weight,
        kept.true,
        kept.followed_to_move(),
        kept.result.astype(np.float64),
        game,
        _folds(len(keys))[game],
    )


def design_of(states: npt.NDArray[np.uint64], pawns: Floats) -> Floats:
    """Return what `correction` multiplies by its weights, float64[n, WEIGHT_COUNT].

    states: uint64[n, 8]. pawns: values of their leaves, float64[n].
    """
    found = np.empty((len(states), ALL_FEATURES))
    fill_features(TABLES, np.ascontiguousarray(states), found)
    design = np.empty((len(states), WEIGHT_COUNT))
    design[:, CONSTANT] = 1
    design[:, SLOPE] = np.clip(pawns, -SLOPE_PAWNS, SLOPE_PAWNS)
    design[:, FIRST_FEATURE:] = found
    return design


def _folds(games: int) -> npt.NDArray[np.int64]:
    """Return the fold of each game, int64[games]: equally large ones, drawn at random."""
    return np.random.default_rng(_SEED).permutation(games) % FOLDS


def _has_bare_king(states: npt.NDArray[np.uint64]) -> Mask:
    """Return for uint64[n, 8] whether a side has one piece, bool[n]."""
    everyone = np.bitwise_or.reduce(states[:, :WHITE], axis=1)
    white = states[:, WHITE]
    alone = np.zeros(len(states), np.bool_)
    for own in (everyone & white, everyone & ~white):
        alone |= own & (own - np.uint64(1)) == 0
    return alone
