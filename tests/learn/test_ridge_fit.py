"""The linear fit finds weights that are known, for both targets."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.evaluation.fog_values.correction import CONSTANT, FIRST_FEATURE, SLOPE
from obscuro.learn.learn_error import LearnError
from obscuro.learn.problem import FOLDS, RESULTS, SEARCH, make_problem
from obscuro.learn.ridge_fit import CONSTANT_ONLY, fit_weights, penalties, weight_errors
from tests.learn.made_samples import known_weights, samples


def test_known_weights_are_found_again() -> None:
    weights = fit_weights(make_problem(samples(), SEARCH), 0.0)
    assert weights == pytest.approx(known_weights(), abs=0.02)


def test_a_ridge_draws_weights_to_0_and_leaves_the_constant() -> None:
    problem = make_problem(samples(), SEARCH)
    free, drawn = fit_weights(problem, 1.0), fit_weights(problem, 1e6)
    assert np.abs(drawn[FIRST_FEATURE:]).max() < 0.01 < np.abs(free[FIRST_FEATURE:]).max()
    only = fit_weights(problem, 1.0, CONSTANT_ONLY)
    assert drawn[[CONSTANT, SLOPE]] == pytest.approx(fit_weights(problem, 1e9)[:2], abs=0.01)
    assert (only[1:] == 0).all() and only[CONSTANT] != 0


@pytest.mark.parametrize("target", [SEARCH, RESULTS])
def test_a_fit_is_where_the_slope_of_its_loss_ends(target: str) -> None:
    problem = make_problem(samples(noise=0.1), target)
    weights = fit_weights(problem, 5.0)
    half = 0.5 if target == SEARCH else 1.0

    def loss(at: np.ndarray) -> float:
        losses = problem.losses(problem.values(problem.design @ at))
        return half * problem.weight @ losses + penalties(problem, 5.0) @ at**2 / 2

    best = loss(weights)
    random = np.random.default_rng(2)
    for _ in range(30):
        assert loss(weights + random.normal(0, 0.02, len(weights))) > best


def test_a_fit_of_results_finds_the_weights_that_give_their_mean() -> None:
    data = samples()
    problem = make_problem(data, RESULTS)._replace(aim=data.solved.astype(np.float64))
    assert fit_weights(problem, 0.0) == pytest.approx(known_weights(), abs=0.02)


def test_errors_cover_what_other_noise_does_to_a_weight() -> None:
    fits = []
    for seed in range(12):
        data = samples()
        noise = np.random.default_rng(seed).normal(0, 0.05, len(data.leaf))
        noisy = data._replace(solved=(data.solved + noise).astype(np.float32))
        problem = make_problem(noisy, SEARCH)
        fits.append(fit_weights(problem, 10.0))
    errors = weight_errors(problem, 10.0, fits[-1])
    spread = np.std(fits, axis=0)
    there = (problem.design != 0).mean(axis=0) > 0.2
    ratios = spread[there] / errors[there]
    assert there.sum() > 10 and 0.5 < np.median(ratios) < 2


def test_each_solved_turn_counts_once() -> None:
    data = samples()
    problem = make_problem(data._replace(ply=(data.ply // 4).astype(np.int16)), SEARCH)
    assert problem.weight.sum() == pytest.approx(20 * 5) and problem.weight.max() == 0.25


def test_mates_bare_kings_and_what_nobody_solved_are_left_out() -> None:
    data = samples()
    leaf, solved, states = data.leaf.copy(), data.solved.copy(), data.states.copy()
    leaf[:3], solved[3:7] = (1.0, -0.99999, -1.0), np.nan
    states[7, :5] = 0
    states[7, 5], states[7, 6] = np.uint64(1 << 60 | 1 << 4), np.uint64(1 << 4)
    changed = data._replace(leaf=leaf, solved=solved, states=states)
    whole = len(data.leaf)
    assert len(make_problem(changed, SEARCH).pawns) == whole - 8
    assert len(make_problem(changed, RESULTS).pawns) == whole - 4


def test_folds_hold_whole_games_and_few_games_are_refused() -> None:
    data = samples()
    problem = make_problem(data, SEARCH)
    for game in range(20):
        assert len(set(problem.fold[problem.game == game])) == 1
    assert set(problem.fold) == set(range(FOLDS))
    with pytest.raises(LearnError, match="5 games with true positions are too few"):
        make_problem(data.where(data.game < 5), RESULTS)
