"""Scores and Elo against values worked out by hand."""

import math

import pytest

from obscuro.matches.elo import Tally, elo_of_samples, elo_of_score, pentanomial, trinomial


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
