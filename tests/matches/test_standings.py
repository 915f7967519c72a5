"""Standings of tournaments that nobody played."""

from dataclasses import replace

import chess
import pytest

from obscuro.matches.elo import Tally, pentanomial
from obscuro.matches.game_record import EVERYTHING, OWN_OBSERVATIONS
from obscuro.matches.rating import Anchor
from obscuro.matches.standings import Results, Standings
from tests.matches.made_up import entrants_named, made_up_event, played, record_of

EVENT = made_up_event(entrants_named("a", "b", "c"), 8)


def scores(by_number: dict[int, float]) -> Standings:
    """The standings after these games with these points of White."""
    return Standings(
        EVENT,
        {number: record_of(EVENT, EVENT.tasks[number], one) for number, one in by_number.items()},
    )


def games_of(first: int, second: int) -> list[int]:
    return [task.number for task in EVENT.tasks if {task.white, task.black} == {first, second}]


def test_an_encounter_counts_for_the_player_that_asks() -> None:
    one, two, three, four = games_of(0, 1)[:4]  # a is White in the first game of each pair
    found = scores({one: 1.0, two: 0.5, three: 1.0, four: 0.0})
    encounter = found.encounter(0, 1)
    assert encounter is not None and encounter.tally == Tally(3, 1, 0)
    assert encounter.elo == pentanomial([(1.0, 0.5), (1.0, 1.0)])
    other = found.encounter(1, 0)
    assert other is not None and other.tally == Tally(0, 1, 3)
    assert other.elo.difference == pytest.approx(-encounter.elo.difference)
    assert found.encounter(0, 2) is None


def test_a_game_without_its_twin_is_a_sample_of_its_own() -> None:
    one, two, three = games_of(0, 1)[:3]
    encounter = scores({one: 1.0, two: 1.0, three: 0.0}).encounter(0, 1)
    assert encounter is not None
    assert encounter.tally == Tally(1, 0, 2)
    assert encounter.elo == pentanomial([(1.0, 0.0), (0.0, 0.0)])


def test_all_points_are_counted_once() -> None:
    found = Standings(EVENT, played(EVENT, [100, 0, -100]))
    assert sum(found.tally(player).points for player in range(3)) == len(EVENT.tasks)
    assert found.results().games == len(EVENT.tasks)
    assert sum(one.games for one in found.openings().values()) == len(EVENT.tasks)
    assert sum(count for _, count in found.endings()) == len(EVENT.tasks)
    assert [rating.points for rating in found.ratings.ratings] == [
        found.tally(player).points for player in found.order
    ]


def test_results_are_those_of_white() -> None:
    found = scores({0: 1.0, 1: 1.0, 2: 0.5, 3: 0.0})
    assert found.results() == Results(2, 1, 1)


def test_the_anchor_reaches_the_ratings() -> None:
    found = Standings(EVENT, played(EVENT, [0, 0, 0]), Anchor(2, 1800))
    assert found.ratings.of(2).elo == 1800


def test_statistics_are_of_own_moves() -> None:
    task = EVENT.tasks[0]
    found = Standings(EVENT, {0: record_of(EVENT, task, 1.0, plies=5)})
    assert found.statistics(task.white).moves == 3
    assert found.statistics(task.black).moves == 2
    assert found.statistics(task.black).means["belief"] == 500


def test_who_was_told_everything_is_known() -> None:
    task = EVENT.tasks[0]
    told = {chess.WHITE: OWN_OBSERVATIONS, chess.BLACK: EVERYTHING}
    found = Standings(EVENT, {0: replace(record_of(EVENT, task, 1.0), told=told)})
    assert found.told(task.white) == OWN_OBSERVATIONS
    assert found.told(task.black) == EVERYTHING


def test_irregular_games_are_listed() -> None:
    games = played(EVENT, [0, 0, 0])
    games[5] = replace(games[5], regular=False, ending="white lost on time")
    (game,) = Standings(EVENT, games).irregular()
    assert game.task.number == 5
