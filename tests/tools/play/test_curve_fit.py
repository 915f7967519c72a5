"""Fits of results to pawns: on results that were drawn from known curves."""

from __future__ import annotations

import numpy as np
import pytest

from tools.play.curve_fit import (
    CEILING,
    FOLDS,
    POWER,
    SHIFT,
    TANH,
    TEMPO,
    Floats,
    Foretell,
    Form,
    Mask,
    Numbers,
    fit,
    fit_steps,
    held_out,
    mean_of,
)

TURNS = 20_000


def drawn(form: Form, values: tuple[float, ...], seed: int = 1) -> tuple[Floats, Floats, Numbers]:
    """Pawns, results and games of one turn each; a quarter of the results are draws."""
    random = np.random.default_rng(seed)
    pawns = random.normal(0, 5, TURNS)
    mean = form.curve(np.array(values), pawns)
    results = np.where(random.random(TURNS) < (1 + mean) / 2, 1.0, -1.0)
    # A win and a loss of the same pawns become two draws, which leaves the mean as it is.
    halves = np.where(random.random(TURNS) < 0.25, mean, results)
    return pawns, halves, np.arange(TURNS)


@pytest.mark.parametrize(
    ("form", "values"),
    [
        (TANH, (3.0,)),
        (TANH, (9.0,)),
        (TEMPO, (5.0, -0.5)),
        (CEILING, (4.0, 0.8)),
        (POWER, (6.0, 1.4)),
        (POWER, (6.0, 0.7)),
        (SHIFT, (1.5,)),
    ],
)
def test_a_fit_finds_the_curve_that_results_come_from(
    form: Form, values: tuple[float, ...]
) -> None:
    found = fit(form, *drawn(form, values))
    assert (np.abs(found.values - values) < 4 * found.errors).all()
    assert (found.errors < 0.05 * np.maximum(np.abs(values), 2)).all()


def test_errors_are_those_of_many_fits() -> None:
    fits = [fit(TEMPO, *drawn(TEMPO, (6.0, 0.3), seed)) for seed in range(1, 41)]
    spread = np.std([found.values for found in fits], axis=0)
    assert np.mean([found.errors for found in fits], axis=0) == pytest.approx(spread, rel=0.3)


def test_a_ceiling_is_never_above_a_sure_win() -> None:
    pawns, _, games = drawn(TANH, (4.0,))
    found = fit(CEILING, pawns, np.sign(pawns), games)
    assert found.values[1] == 1


def test_repeated_turns_of_a_game_add_nothing_to_what_is_known() -> None:
    pawns, results, games = drawn(TANH, (6.0,))
    once = fit(TANH, pawns, results, games)
    thrice = fit(TANH, *(np.repeat(column, 3) for column in (pawns, results, games)))
    assert thrice.values == pytest.approx(once.values, abs=1e-3)
    assert thrice.errors == pytest.approx(once.errors, rel=1e-3)


def test_nothing_can_not_be_fitted() -> None:
    with pytest.raises(ValueError, match="nothing to fit"):
        fit(TANH, np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))


def test_the_error_of_a_mean_is_that_of_the_games_means() -> None:
    values, games = np.array([1.0, -1.0, 1.0, 1.0]), np.arange(4)
    alone = mean_of(values, games)
    assert alone.error == pytest.approx(values.std(ddof=1) / 2)
    assert mean_of(np.repeat(values, 5), np.repeat(games, 5)).error == pytest.approx(alone.error)
    assert np.isnan(mean_of(values, np.zeros(4, dtype=np.int64)).error)


def test_steps_rise_and_keep_the_mean() -> None:
    pawns, results, _ = drawn(TANH, (5.0,))
    steps = fit_steps(pawns, results)
    assert (np.diff(steps.pawns) > 0).all() and (np.diff(steps.means) > 0).all()
    at = np.linspace(-8, 8, 33)
    assert np.abs(steps.curve(at) - np.tanh(at / 5)).max() < 0.1
    falling = fit_steps(pawns, -pawns)
    assert falling.means == pytest.approx([-pawns.mean()])


def test_a_held_out_game_is_no_game_that_was_fitted() -> None:
    _, results, _ = drawn(TANH, (5.0,))
    games = np.repeat(np.arange(TURNS // 10), 10)
    tested = np.zeros(TURNS, dtype=np.int64)

    def learn(known: Mask) -> Foretell:
        def foretell(asked: Mask) -> Floats:
            assert not set(games[known]) & set(games[asked])
            assert known.sum() + asked.sum() == TURNS
            tested[asked] += 1
            return np.zeros(int(asked.sum()))

        return foretell

    losses = held_out(learn, results, games)
    assert (tested == 1).all()
    assert losses == pytest.approx(np.full(TURNS, np.log(2)))
    assert len(set(games)) > FOLDS


def test_the_true_curve_has_the_least_loss() -> None:
    pawns, results, games = drawn(TEMPO, (5.0, 1.0))

    def loss(form: Form) -> float:
        def learn(known: Mask) -> Foretell:
            curve = fit(form, pawns[known], results[known], games[known]).curve
            return lambda asked: curve(pawns[asked])

        return float(held_out(learn, results, games).mean())

    assert loss(TEMPO) < loss(TANH) - 0.001
    assert loss(TEMPO) < loss(CEILING) - 0.001
