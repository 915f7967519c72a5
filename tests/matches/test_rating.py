"""Ratings against statsmodels, the Elo of a score, and players of known strength."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.matches.elo import elo_of_score, pentanomial
from obscuro.matches.rating import (
    POINTS_PER_UNIT,
    PRIOR_DEVIATION,
    Anchor,
    RatedGame,
    RatingList,
    connected_groups,
    draw_share,
    loose_players,
    rate,
    tiers,
)


def pairs_of(
    results: Sequence[tuple[float, float]], first: int = 0, second: int = 1, at: int = 0
) -> list[RatedGame]:
    """Pairs of games from the first player's two results, as White and as Black."""
    games = []
    for number, (as_white, as_black) in enumerate(results, at):
        games.append(RatedGame(first, second, as_white, number))
        games.append(RatedGame(second, first, 1 - as_black, number))
    return games


def simulated(
    elo: Sequence[float], rounds: int, *, white: float = 0.0, nu: float = 0.0, seed: int = 1
) -> list[RatedGame]:
    """A round robin between players of these strengths, of so many pairs each."""
    random = np.random.default_rng(seed)
    games = []
    pair = 0
    for first in range(len(elo)):
        for second in range(first):
            for _ in range(rounds):
                for one, other in ((first, second), (second, first)):
                    units = (elo[one] - elo[other] + white) / POINTS_PER_UNIT
                    expected = np.array([1 / (1 + math.exp(-units))])
                    draw = float(draw_share(expected, nu)[0])
                    chance = [expected[0] - draw / 2, draw, 1 - expected[0] - draw / 2]
                    score = float(random.choice([1.0, 0.5, 0.0], p=chance))
                    games.append(RatedGame(one, other, score, pair))
                pair += 1
    return games


def elo_by_player(found: RatingList) -> list[float]:
    return [found.of(player).elo for player in range(len(found.ratings))]


def test_two_players_differ_by_the_elo_of_the_score() -> None:
    # 500 won, 400 drawn, 100 lost as either colour: 70 %. The prior takes 0.1 points away.
    results = [(1.0, 1.0)] * 250 + [(0.5, 0.5)] * 200 + [(0.0, 0.0)] * 50
    found = rate(pairs_of(results), 2)
    assert found.difference(0, 1).value == pytest.approx(elo_of_score(0.7), abs=0.1)
    assert found.white_advantage.value == pytest.approx(0, abs=1e-6)


def test_two_players_have_the_error_of_their_pairs() -> None:
    even = [(1.0, 0.0), (0.0, 1.0)] * 100
    results = [(1.0, 1.0)] * 120 + even + [(0.0, 0.0)] * 80
    elo = pentanomial(results)
    found = rate(pairs_of(results), 2).difference(0, 1)
    assert found.value == pytest.approx(elo.difference, abs=0.1)
    assert found.error == pytest.approx((elo.high - elo.low) / 2, rel=0.01)


def test_games_of_a_pair_count_as_one_sample() -> None:
    # The opening decides nearly every pair, so the two games of a pair cancel out.
    results = [(1.0, 0.0), (0.0, 1.0)] * 50 + [(1.0, 1.0), (0.0, 0.0)]
    games = pairs_of(results)
    alone = rate([game._replace(pair=number) for number, game in enumerate(games)], 2)
    assert rate(games, 2).difference(0, 1).error < alone.difference(0, 1).error / 5
    # Both games of a pair always have one winner: 50 samples, not 100.
    games = pairs_of([(1.0, 1.0), (0.0, 0.0)] * 25)
    alone = rate([game._replace(pair=number) for number, game in enumerate(games)], 2)
    assert rate(games, 2).difference(0, 1).error == pytest.approx(
        alone.difference(0, 1).error * math.sqrt(2), rel=0.02
    )


def test_ratings_are_those_of_a_logistic_regression_by_statsmodels() -> None:
    """The prior is a ridge penalty; without it, errors by pairs are those of clusters.

    statsmodels multiplies the latter by G / (G - 1) for G pairs, and by none for k parameters.
    """
    from statsmodels.genmod.families import Binomial  # noqa: PLC0415 - takes a second
    from statsmodels.genmod.generalized_linear_model import GLM  # noqa: PLC0415

    games = simulated([0, 150, 40, -200], 40, white=60, nu=0.7)
    scores = np.array([game.score for game in games])
    pairs = np.array([game.pair for game in games])
    design = np.zeros((len(games), 5))
    for row, game in enumerate(games):
        design[row, [game.white, game.black, 4]] = 1, -1, 1
    found = rate(games, 4)

    penalty = (POINTS_PER_UNIT / PRIOR_DEVIATION) ** 2 / len(games)
    model = GLM(scores, design, family=Binomial())
    ridge = model.fit_regularized(alpha=penalty, L1_wt=0.0).params * POINTS_PER_UNIT
    assert elo_by_player(found) == pytest.approx(ridge[:4].tolist(), abs=0.05)
    assert found.white_advantage.value == pytest.approx(ridge[4], abs=0.05)

    free = GLM(scores, design[:, 1:], family=Binomial())  # player 0 is the zero
    fit = free.fit(cov_type="cluster", cov_kwds={"groups": pairs})
    count, parameters = len(set(pairs.tolist())), 4
    scale = math.sqrt((count - 1) / (count - parameters))
    for player in (1, 2, 3):
        difference = found.difference(player, 0)
        error = 1.959964 * fit.bse[player - 1] * POINTS_PER_UNIT * scale
        assert difference.value == pytest.approx(fit.params[player - 1] * POINTS_PER_UNIT, abs=2)
        assert difference.error == pytest.approx(error, rel=0.005)


def test_known_strengths_are_found_again() -> None:
    truth = np.array([300.0, 120.0, 0.0, -20.0, -400.0])
    found = rate(simulated(truth.tolist(), 400, white=35, nu=0.5), 5)
    assert [rating.player for rating in found.ratings] == [0, 1, 2, 3, 4]
    for player, rating in enumerate(elo_by_player(found)):
        assert abs(rating - truth[player]) < 1.5 * found.of(player).error
    assert abs(found.white_advantage.value - 35) < 1.5 * found.white_advantage.error
    assert found.draw_rate == pytest.approx(0.5 / 2.5, abs=0.02)


def test_19_of_20_intervals_hold_the_truth() -> None:
    truth = [80.0, 0.0, -80.0]
    inside = total = 0
    for seed in range(60):
        found = rate(simulated(truth, 25, white=50, nu=0.4, seed=seed), 3)
        for player in range(3):
            inside += abs(found.of(player).elo - truth[player]) <= found.of(player).error
            total += 1
    assert 0.90 <= inside / total <= 0.99


def test_the_expected_draws_are_the_real_ones() -> None:
    results = [(0.5, 1.0)] * 30 + [(0.5, 0.5)] * 15 + [(0.0, 1.0)] * 55
    found = rate(pairs_of(results), 2)
    nu = 2 * found.draw_rate / (1 - found.draw_rate)
    units = (found.difference(0, 1).value, -found.difference(0, 1).value)
    expected = [
        1 / (1 + math.exp(-(one + found.white_advantage.value) / POINTS_PER_UNIT)) for one in units
    ]
    assert draw_share(np.array(expected), nu).sum() * 100 == pytest.approx(60, abs=1e-6)


@pytest.mark.parametrize("nu", [0.01, 0.5, 2.0, 7.0])
def test_draws_follow_the_relation_of_davidson(nu: float) -> None:
    expected = np.linspace(0, 1, 101)
    draw = draw_share(expected, nu)
    win, loss = expected - draw / 2, 1 - expected - draw / 2
    assert draw == pytest.approx(nu * np.sqrt(np.maximum(win * loss, 0)), abs=1e-9)
    assert np.all(draw >= 0) and np.all(win >= -1e-12) and np.all(loss >= -1e-12)
    assert draw[50] == pytest.approx(nu / (2 + nu))


def test_a_clean_sheet_has_a_finite_rating_with_a_wide_error() -> None:
    found = rate(pairs_of([(1.0, 1.0)] * 20), 2)
    best = found.of(0)
    assert [best.loose, found.of(1).loose] == [False, True]  # one of the two is the loose end
    assert elo_of_score(39 / 40) < found.difference(0, 1).value < 1500
    assert 500 < found.difference(0, 1).error < 1500
    assert found.superiority(0, 1) > 0.97


def test_the_error_of_a_clean_sheet_is_that_of_the_posterior() -> None:
    # In units of the difference d: each rating is d / 2 from the mean, so the prior's information
    # is half of one player's. Twenty pairs are forty games.
    difference = rate(pairs_of([(1.0, 1.0)] * 20), 2).difference(0, 1)
    expected = 1 / (1 + math.exp(-difference.value / POINTS_PER_UNIT))
    prior = (POINTS_PER_UNIT / PRIOR_DEVIATION) ** 2 / 2
    information = 40 * expected * (1 - expected) + prior
    assert difference.value / POINTS_PER_UNIT * prior == pytest.approx(40 * (1 - expected))
    assert difference.error == pytest.approx(1.959964 * POINTS_PER_UNIT / math.sqrt(information))


def test_few_pairs_make_the_error_wider_by_the_number_of_parameters() -> None:
    # One difference and White's advantage are two parameters: G / (G - 2).
    few, many = (
        rate(pairs_of([(1.0, 1.0), (0.0, 0.0)] * count), 2).difference(0, 1).error
        for count in (3, 300)
    )
    assert few / many == pytest.approx(math.sqrt(100 * (6 / 4) / (600 / 598)), rel=0.03)


def test_more_games_won_are_worth_more() -> None:
    few, many = (rate(pairs_of([(1.0, 1.0)] * count), 2).difference(0, 1) for count in (1, 50))
    assert 0 < few.value < many.value
    assert few.value - few.error < 0 < many.value - many.error


def test_the_mean_of_the_ratings_is_the_anchor() -> None:
    games = simulated([0, 100, 200], 20)
    assert sum(elo_by_player(rate(games, 3))) == pytest.approx(0, abs=1e-6)
    assert sum(elo_by_player(rate(games, 3, Anchor(None, 1000)))) == pytest.approx(3000)


def test_an_anchored_player_has_its_rating_and_no_error() -> None:
    games = simulated([0, 100, 200], 20)
    free, fixed = rate(games, 3), rate(games, 3, Anchor(1, 2500))
    assert (fixed.of(1).elo, fixed.of(1).error) == (2500, 0)
    assert fixed.of(2).elo - 2500 == pytest.approx(free.difference(2, 1).value)
    assert fixed.of(2).error == pytest.approx(free.difference(2, 1).error)
    assert fixed.superiority(2, 1) == pytest.approx(free.superiority(2, 1))


def test_superiority_of_a_player_is_one_half_at_equal_scores() -> None:
    found = rate(pairs_of([(1.0, 1.0), (0.0, 0.0)] * 5), 2)
    assert found.superiority(0, 1) == pytest.approx(0.5)
    found = rate(simulated([0, 60], 100), 2)
    difference = found.difference(1, 0)
    normal = 0.5 * math.erfc(-difference.value / (difference.error / 1.959964) / math.sqrt(2))
    assert found.superiority(1, 0) == pytest.approx(normal)
    assert found.superiority(0, 1) == pytest.approx(1 - normal)


def test_groups_that_never_met_are_rated_apart() -> None:
    games = pairs_of([(1.0, 1.0), (0.0, 1.0), (1.0, 0.0)] * 5, 0, 1)
    games += pairs_of([(0.5, 1.0), (1.0, 0.5)] * 8, 3, 2, at=100)
    found = rate(games, 5, Anchor(0, 700))
    assert found.groups == 3
    assert [rating.player for rating in found.ratings] == [0, 1, 3, 2, 4]
    assert found.of(0).elo == 700
    assert found.of(2).elo + found.of(3).elo == pytest.approx(0, abs=1e-6)
    assert math.isnan(found.superiority(0, 2)) and math.isinf(found.difference(0, 2).error)
    assert math.isinf(found.of(4).error)
    alone = rate(games[:30], 2, Anchor(0, 700))
    assert found.of(1).elo == pytest.approx(alone.of(1).elo, abs=0.1)


def test_one_lost_pair_of_many_does_not_hide_how_many_there_were() -> None:
    few = rate(pairs_of([(1.0, 1.0)] * 7 + [(0.5, 0.5)]), 2).difference(0, 1)
    many = rate(pairs_of([(1.0, 1.0)] * 70 + [(0.5, 0.5)] * 10), 2).difference(0, 1)
    assert many.error < few.error / 2


def test_without_games_nothing_is_known() -> None:
    found = rate([], 2)
    assert elo_by_player(found) == [0, 0]
    assert math.isinf(found.of(0).error)
    assert found.groups == 2
    assert rate([], 0).ratings == ()


PLAYERS = 6
Game = tuple[int, int, float]
GAMES = st.lists(
    st.tuples(
        st.integers(0, PLAYERS - 1), st.integers(0, PLAYERS - 1), st.sampled_from([0.0, 0.5, 1.0])
    ).filter(lambda game: game[0] != game[1]),
    max_size=10,
)


def arrays(games: list[Game]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    white, black, scores = zip(*games, strict=True) if games else ((), (), ())
    return np.array(white, int), np.array(black, int), np.array(scores, float)


def is_path(steps: set[tuple[int, int]], begin: int, end: int) -> bool:
    """Whether steps lead from one player to another, by a search of its own."""
    seen, pending = {begin}, [begin]
    while pending:
        here = pending.pop()
        fresh = {there for start, there in steps if start == here} - seen
        seen |= fresh
        pending.extend(fresh)
    return end in seen


@given(GAMES)
def test_groups_are_players_with_a_path_of_meetings(games: list[Game]) -> None:
    white, black, _ = arrays(games)
    groups = connected_groups(white, black, PLAYERS)
    steps = {(one, two) for a, b, _ in games for one, two in ((a, b), (b, a))}
    for one, two in itertools.combinations(range(PLAYERS), 2):
        assert (groups[one] == groups[two]) == is_path(steps, one, two)


@given(GAMES)
def test_tiers_are_players_with_points_both_ways(games: list[Game]) -> None:
    found = tiers(*arrays(games), PLAYERS)
    steps = {(a, b) for a, b, score in games if score > 0}
    steps |= {(b, a) for a, b, score in games if score < 1}
    for one, two in itertools.combinations(range(PLAYERS), 2):
        both = is_path(steps, one, two) and is_path(steps, two, one)
        assert (found[one] == found[two]) == both


def test_groups_count_in_the_order_of_their_players() -> None:
    white, black = np.array([4, 3, 2, 0]), np.array([3, 2, 5, 1])
    assert connected_groups(white, black, 7).tolist() == [0, 0, 1, 1, 1, 1, 2]
    assert connected_groups(white[:0], black[:0], 0).tolist() == []


def test_a_player_in_the_middle_can_be_loose() -> None:
    # 0 and 1 beat each other and all others; 2 beats 3 alone. 4 and 5 never met them.
    games = [(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (3, 1, 0.0), (2, 3, 1.0), (4, 5, 0.5)]
    white, black, scores = arrays(games)
    groups = connected_groups(white, black, 6)
    found = tiers(white, black, scores, 6)
    assert found.tolist() == [0, 0, 1, 2, 3, 3]
    assert loose_players(groups, found).tolist() == [False, False, True, True, False, False]
