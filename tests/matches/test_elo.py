"""Scores, Elo and the sequential test, against values by hand and other programs'."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.optimize import minimize

from obscuro.matches.elo import (
    Tally,
    elo_of_samples,
    elo_of_score,
    pentanomial,
    score_of_elo,
    trinomial,
)
from obscuro.matches.sprt import (
    PAIR_SCORES,
    UNSEEN,
    SequentialTest,
    SprtBounds,
    log_likelihood_ratio,
)


@pytest.mark.parametrize(
    ("score", "difference"),
    [
        (0.5, 0.0),
        (0.75, 190.848),
        (0.25, -190.848),
        (10 / 11, 400.0),
        (1.0, math.inf),
        (0, -math.inf),
    ],
)
def test_elo_of_a_score(score: float, difference: float) -> None:
    assert elo_of_score(score) == pytest.approx(difference, abs=1e-3)


def test_trinomial_error_by_hand() -> None:
    # 10 won, 10 lost: variance 1/4, standard error sqrt(1/80) = 0.111803, times 1.96: 0.219131.
    elo = trinomial(Tally(10, 0, 10))
    assert elo.difference == pytest.approx(0)
    assert elo.high == pytest.approx(elo_of_score(0.719131), abs=1e-3)
    assert elo.high == pytest.approx(163.3, abs=0.1)
    assert elo.low == pytest.approx(-elo.high)
    assert str(elo) == "+0.0 ± 163.3"


def test_draws_make_it_surer() -> None:
    # 5 won, 10 drawn, 5 lost: variance 1/8.
    elo = trinomial(Tally(5, 10, 5))
    reach = 1.959964 * math.sqrt(1 / 8 / 20)
    assert elo.high == pytest.approx(elo_of_score(0.5 + reach), abs=1e-3)


def test_pentanomial_is_free_of_the_advantage_of_white() -> None:
    # White wins every game: nothing says that one is stronger, and pairs know it for sure.
    games = trinomial(Tally(10, 0, 10))
    pairs = pentanomial([(1.0, 0.0)] * 9 + [(1.0, 0.5)])
    assert pairs.difference == pytest.approx(elo_of_score(0.525))
    # Ten pairs: nine of 0.5, one of 0.75: variance 0.25² · 0.09, standard error 0.0237171.
    assert pairs.high == pytest.approx(elo_of_score(0.525 + 1.959964 * 0.0237171), abs=1e-3)
    assert pairs.high - pairs.low < (games.high - games.low) / 3


def test_a_clean_sheet_has_a_lower_bound_only() -> None:
    # Wilson: n / (n + z²) = 40 / 43.8415.
    elo = trinomial(Tally(40, 0, 0))
    assert elo.difference == math.inf
    assert elo.low == pytest.approx(elo_of_score(40 / 43.841459), abs=1e-3)
    assert str(elo) == f"at least {elo.low:+.1f}"
    assert str(trinomial(Tally(0, 0, 40))) == f"at most {-elo.low:+.1f}"


def test_an_interval_that_reaches_certainty_still_shows_the_difference() -> None:
    assert str(trinomial(Tally(3, 0, 1))).startswith("+190.8, at least ")


def test_no_games_no_claim() -> None:
    assert str(elo_of_samples([])) == "unknown"


def test_tally_counts() -> None:
    tally = Tally.of([1.0, 0.5, 0.0, 1.0])
    assert (tally.games, tally.points, str(tally)) == (4, 2.5, "2/1/1")


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "published"),
    [
        # What fishtest printed in 2020 and 2021, when it tested logistic Elo: Stockfish's pull
        # requests 3209, 3098, 2971, 2950 and 3331.
        ((253, 4282, 17604, 4431, 286), -0.25, 1.25, 2.94),
        ((58, 3302, 33130, 3518, 84), 0.25, 1.25, 2.97),
        ((491, 7345, 29693, 7670, 465), -0.25, 1.25, 2.96),
        ((53, 2220, 21459, 2445, 47), 0.25, 1.25, 2.97),
        ((17, 253, 1042, 337, 39), -0.50, 1.50, 2.96),
        ((11, 407, 3238, 513, 11), 0.25, 1.75, 2.93),
        ((133, 1751, 5094, 1849, 165), -0.50, 1.50, 2.94),
        ((14, 1030, 14318, 1163, 19), 0.25, 1.25, 2.93),
    ],
)
def test_the_ratio_is_what_fishtest_published(
    pairs: tuple[int, ...], elo0: float, elo1: float, published: float
) -> None:
    assert log_likelihood_ratio(pairs, elo0, elo1) == pytest.approx(published, abs=0.005)
    backwards = log_likelihood_ratio(pairs[::-1], -elo1, -elo0)
    assert backwards == pytest.approx(-log_likelihood_ratio(pairs, elo0, elo1))


@pytest.mark.parametrize("pairs", [(3, 5, 20, 9, 4), (1, 2, 6, 2, 1), (9, 1, 1, 1, 7)])
def test_the_ratio_is_that_of_constrained_maxima(pairs: tuple[int, ...]) -> None:
    weights = np.array(pairs)
    scores = np.array(PAIR_SCORES)

    def maximum(elo: float) -> float:
        found = minimize(
            lambda p: -weights @ np.log(p),
            np.full(5, 0.2),
            jac=lambda p: -weights / p,
            bounds=[(1e-12, 1)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: scores @ p - score_of_elo(elo)},
            ],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        return -float(found.fun)

    expected = maximum(50) - maximum(-20)
    assert log_likelihood_ratio(pairs, -20, 50) == pytest.approx(expected, abs=1e-4)


def test_a_value_that_no_pair_had_counts_as_a_little() -> None:
    assert log_likelihood_ratio((0, 0, 6, 2, 1), -20, 50) == pytest.approx(
        log_likelihood_ratio((UNSEEN, UNSEEN, 6, 2, 1), -20, 50)
    )
    assert 0 < log_likelihood_ratio((0, 0, 0, 0, 5), 0, 15) < math.inf


def test_no_pairs_say_nothing() -> None:
    assert log_likelihood_ratio([0] * 5, 0, 15) == 0


def test_walds_bounds() -> None:
    bounds = SprtBounds(alpha=0.05, beta=0.1)
    assert bounds.upper == pytest.approx(math.log(0.9 / 0.05))
    assert bounds.lower == pytest.approx(math.log(0.1 / 0.95))


def test_the_first_bound_decides_whatever_comes_after() -> None:
    test = SequentialTest(SprtBounds(0, 100))
    while test.accepted is None:
        test.add(1.0)
    assert test.accepted == "H1"
    won = test.counts[4]
    for _ in range(5 * won):
        test.add(0.0)
    assert test.llr < test.bounds.lower
    assert test.accepted == "H1"
    assert test.counts == [5 * won, 0, 0, 0, won]


def test_errors_are_as_rare_as_agreed() -> None:
    # Pairs as in matches between engines: draws, and two games that depend on each other.
    chance = random.Random(20260101)
    bounds = SprtBounds(elo0=0, elo1=80, alpha=0.1, beta=0.1)
    accepted = {
        elo: [_play(chance, elo, bounds) for _ in range(200)] for elo in (bounds.elo0, bounds.elo1)
    }
    false_h1 = accepted[bounds.elo0].count("H1") / 200
    false_h0 = accepted[bounds.elo1].count("H0") / 200
    # With a rate of 0.1 the standard error is 0.021. Too careful a test would be wrong as well.
    assert 0.03 < false_h1 < 0.165
    assert 0.03 < false_h0 < 0.165


def _play(chance: random.Random, elo: float, bounds: SprtBounds) -> str:
    """Draw pairs from a distribution with the mean of *elo* until the test decides."""
    shape = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    scores = np.array(PAIR_SCORES)
    tilt = 0.0
    for _ in range(50):  # an exponential tilt of the shape has the right mean
        shares = shape * np.exp(tilt * scores)
        shares /= shares.sum()
        mean = scores @ shares
        tilt += (score_of_elo(elo) - mean) / (shares @ (scores - mean) ** 2)
    test = SequentialTest(bounds)
    while test.accepted is None:
        test.add(chance.choices(PAIR_SCORES, shares)[0])
    return test.accepted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["elo2=5"], "'elo2=5' is not one of elo0=, elo1=, alpha=, beta="),
        (["elo1"], "'elo1' has no number"),
        (["elo1=much"], "'elo1=much' has no number"),
        (["elo1=-5"], "elo0=0 must be less than elo1=-5"),
        (["elo1=nan"], "elo0=0 must be less than elo1=nan"),
        (["alpha=0.5"], "alpha=0.5 must lie between 0 and 0.5"),
        (["beta=0"], "beta=0 must lie between 0 and 0.5"),
    ],
)
def test_bounds_that_make_no_test(words: list[str], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        SprtBounds.parse(words)
    assert str(caught.value) == message


def test_bounds_are_read_from_words() -> None:
    bounds = SprtBounds.parse(["elo1=20", "alpha=0.01"])
    assert bounds == SprtBounds(0, 20, 0.01, 0.05)
    assert str(bounds) == "elo0=0 elo1=20 alpha=0.01 beta=0.05"
