"""What models explain of games that they have not seen, and what comes of predictions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from obscuro.evaluation.fog_values.correction import CONSTANT, WEIGHT_COUNT
from obscuro.evaluation.fog_values.sight_features import FEATURE_COUNT
from obscuro.evaluation.fog_values.value_file import FogValues
from obscuro.learn.calibration import by_pawns, by_value
from obscuro.learn.check_figures import check_figures, fitted
from obscuro.learn.check_tables import about_sides, all_tables, summary, verdict
from obscuro.learn.held_out import (
    FEATURES_MODEL,
    GIVEN_MODEL,
    NOTHING,
    SLOPE_MODEL,
    share_explained,
)
from obscuro.learn.problem import RESULTS, SEARCH, make_problem
from obscuro.learn.samples import Collected, Samples
from tests.learn.made_samples import known_weights, samples


def collected(data: Samples) -> Collected:
    return Collected(data, {"fingerprint": "made up", "games": 20})


def model(figures: dict, name: str) -> dict:
    return next(each for each in figures["models"] if each["name"] == name)


def test_features_explain_what_they_made_and_a_constant_does_not() -> None:
    figures = check_figures(collected(samples(noise=0.01)), SEARCH, 0.1)
    assert model(figures, FEATURES_MODEL)["explained"][0] > 0.9
    assert abs(model(figures, "a constant")["explained"][0]) < 0.2
    gain, error = model(figures, FEATURES_MODEL)["over_constant"]
    assert gain > 5 * error > 0


def test_what_features_explain_beyond_a_slope_is_the_difference_of_the_two_shares() -> None:
    figures = check_figures(collected(samples(noise=0.01)), SEARCH, 0.1)
    shares = [model(figures, name)["explained"][0] for name in (FEATURES_MODEL, SLOPE_MODEL)]
    assert figures["beyond_slope"][0] == pytest.approx(shares[0] - shares[1])
    assert figures["beyond_slope"][1] > 0


def test_what_leaves_miss_is_told_by_whose_turn_it_is() -> None:
    data = samples()
    followed = data.followed_to_move()
    assert followed.any() and not followed.all()
    shifted = np.clip(data.leaf + np.where(followed, -0.1, 0.02), -1, 1).astype(np.float32)
    figures = check_figures(collected(data._replace(solved=shifted)), SEARCH, 1.0)
    sides = figures["missed_by_side"]
    assert sides["followed"]["mean"][0] == pytest.approx(-0.1, abs=0.01)
    assert sides["other"]["mean"][0] == pytest.approx(0.02, abs=0.01)
    assert "-0.100" in about_sides(figures) and "+0.020" in about_sides(figures)


def test_noise_is_not_explained_although_a_fit_would_take_it_in() -> None:
    data = samples()
    random = np.random.default_rng(4)
    noise = (data.leaf + random.normal(0, 0.3, len(data.leaf))).clip(-1, 1)
    figures = check_figures(collected(data._replace(solved=noise.astype(np.float32))), SEARCH, 0.1)
    share, error = model(figures, FEATURES_MODEL)["explained"]
    assert -0.5 < share < 2 * error
    assert model(figures, NOTHING)["less"] == [0.0, 0.0]


def test_given_weights_are_judged_as_they_are_and_fitted_ones_by_refits() -> None:
    data = collected(samples(noise=0.01))
    given = FogValues(known_weights(), {"fingerprint": "other"})
    foreign = check_figures(data, SEARCH, 1.0, values=given)
    assert foreign["judged"] == GIVEN_MODEL
    assert model(foreign, GIVEN_MODEL)["explained"][0] > 0.9
    assert [row["mover"]["error"] for row in foreign["weights"]] == [None] * (2 + FEATURE_COUNT)
    own = check_figures(data, SEARCH, 1.0, values=fitted(data, SEARCH, 1.0))
    assert own["judged"] == FEATURES_MODEL and len(own["models"]) == 4
    assert own["weights"][0]["mover"]["error"] > 0


def test_a_fit_repeats_itself() -> None:
    data = collected(samples(noise=0.1))
    first, second = fitted(data, RESULTS, 3.0), fitted(data, RESULTS, 3.0)
    assert (first.weights == second.weights).all() and first.data == second.data
    assert first.data["fingerprint"] == "made up" and first.data["target"] == RESULTS


def test_calibration_sets_what_came_beside_what_was_predicted() -> None:
    problem = make_problem(samples(), SEARCH)
    added = problem.design @ known_weights()
    rows = by_value(problem, added)
    left_out = len(added) - sum(row["positions"] for row in rows)
    assert 0 <= left_out <= 2  # bins that hold positions of one game only
    for row in [*rows, *by_pawns(problem, added)]:
        assert row["real"][0] == pytest.approx(row["predicted"], abs=1e-5)
        assert row["plain"] != row["predicted"]
        assert row["more"][0] == pytest.approx(row["real"][0] - row["plain"])
    assert [row["predicted"] for row in rows] == sorted(row["predicted"] for row in rows)
    assert len(rows) > 5 and rows[-1]["to"] is None


def test_the_share_explained_is_1_for_the_truth_and_0_for_the_mean() -> None:
    problem = make_problem(samples(), SEARCH)
    truth = problem.design @ known_weights()
    assert share_explained(problem, truth)[0] == pytest.approx(1, abs=1e-6)
    shift = np.full(len(truth), problem.mean(problem.aim - problem.values()))
    flat = problem._replace(pawns=np.zeros(len(truth)), aim=problem.aim - problem.values())
    assert share_explained(flat, 6 * np.arctanh(shift))[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("target", [SEARCH, RESULTS])
def test_figures_are_plain_json_and_make_tables(target: str) -> None:
    given = FogValues(np.eye(WEIGHT_COUNT)[CONSTANT], {"fingerprint": "other"})
    for values in (None, given):
        figures = check_figures(collected(samples()), target, 3.0, values=values)
        tables = list(all_tables(json.loads(json.dumps(figures))))
        assert len(tables) == (5 if target == SEARCH else 4)
        for table in tables:
            assert table.rows and {len(row) for row in table.rows} == {len(table.headings)}
            assert len(table.align) == len(table.headings)
        assert "400 positions" in summary(figures) and verdict(figures) == ""
        assert bool(about_sides(figures)) == (target == SEARCH)
