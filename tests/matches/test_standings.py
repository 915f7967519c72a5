"""What the games of an event say: a match, a tournament, and what more time is worth."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.client.move_report import Report
from obscuro.matches.elo import Tally, pentanomial
from obscuro.matches.event import Entrant, Event
from obscuro.matches.game_record import EVERYTHING, OWN_OBSERVATIONS, GameRecord, Turn
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer
from obscuro.matches.rating import Anchor
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.standings import MatchResult, Results, Standings, Statistics, time_families
from obscuro.matches.time_control import TimeControl, time_text
from obscuro.matches.uci_player import UciPlayer
from obscuro.rules.board import FogOfWarBoard
from tests.matches.events import match_event, scripted_workers
from tests.matches.made_up import entrants_named, made_up_event, played, record_of, timed
from tests.matches.scripted import Scripted

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


FAKE = [sys.executable, "-m", "tests.matches.fake_engine"]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


def won_by(winner: chess.Color | None) -> GameRecord:
    return GameRecord("w", "b", FogOfWarBoard(), winner, "decided")


def result_of(
    scores: str, order: list[int] | None = None, event: Event | None = None
) -> MatchResult:
    """A match with these scores of the first player, a digit a game: 0 lost, 1 drawn, 2 won."""
    event = event or match_event(len(scores))
    games = {}
    for number in order or range(len(scores)):
        first = event.tasks[number].white == 0
        winner = {"0": not first, "1": None, "2": first}[scores[number]]
        games[number] = won_by(winner)
    return MatchResult(event, games)


def test_the_first_player_is_credited_with_either_colour() -> None:
    # A resigns at once; with Black it does so after the other's move.
    event = match_event(4)
    ended = play_event(
        event,
        scripted_workers(lambda name: Scripted([] if name == "a" else ["e2e4"], name)),
    )
    result = MatchResult(event, ended.games)
    assert result.tally() == Tally(0, 0, 4)
    assert result.tally(0, chess.WHITE) == result.tally(0, chess.BLACK) == Tally(0, 0, 2)
    assert result.tally(1) == Tally(4, 0, 0)
    assert [task.number for task, _ in result.irregular()] == [0, 1, 2, 3]
    assert (result.first, result.second) == ("a", "b")


def test_an_engine_process_plays_both_colours() -> None:
    event = match_event(2, max_plies=30)
    ended = play_event(
        event,
        scripted_workers(
            lambda name: UciPlayer(FAKE, name=name) if name == "a" else RandomPlayer(name)
        ),
    )
    result = MatchResult(event, ended.games)
    statistics = result.statistics(0)
    assert statistics.means["infosets"] == 20
    assert statistics.means["evaluations"] == 50
    assert statistics.largest_belief == 2
    assert result.statistics(1).means["nodes"] is None
    assert result.statistics(0).moves + result.statistics(1).moves == sum(
        len(game.plies) for game in ended.games.values()
    )


def test_pairs_are_two_games_with_one_opening() -> None:
    result = result_of("2012", order=[2, 0, 3, 1])
    assert result.pairs == [(0.5, 1.0), (1.0, 0.0)]
    assert result.pair_counts() == [0, 0, 1, 1, 0]


def test_a_game_without_its_twin_counts_in_the_score_only() -> None:
    result = result_of("202")
    assert result.tally() == Tally(2, 0, 1)
    assert result.pairs == [(1.0, 0.0)]
    assert result.elo().difference == 0


def test_without_a_pair_games_are_the_samples() -> None:
    result = result_of("2..2", order=[0, 3])
    assert result.pairs == []
    assert result.elo().low > 0 or result.elo().high == float("inf")


def test_the_sequential_test_decides_at_its_first_bound() -> None:
    event, games = match_event(100, sprt=SprtBounds(0, 200)), dict[int, GameRecord]()
    result = MatchResult(event, games)
    for task in event.tasks:
        games[task.number] = won_by(task.white == 0)
        if result.decision() is not None:
            break
    assert result.decision() == "SPRT accepted H1"
    assert result.test is not None and result.test.llr >= result.test.bounds.upper
    assert len(games) % 2 == 0, "only a complete pair can decide"
    again = MatchResult(event, games)
    assert again.test is not None and again.test.llr == result.test.llr
    for task in event.tasks[len(games) :]:
        games[task.number] = won_by(task.white == 1)
    assert result.test.llr < result.test.bounds.lower
    assert result.decision() == "SPRT accepted H1"


def test_statistics_average_over_the_moves_that_said_something() -> None:
    turns = [
        Turn("a", 0.1, Report(belief=10, exact=True, nodes=100, depth=2.0), belief_checks=2),
        Turn("b", 0.3, Report(belief=30, exact=False, depth=4.0), belief_checks=1),
        Turn("c", 0.2),
    ]
    statistics = Statistics.of(turns, movetime=250)
    assert statistics.moves == 3
    assert statistics.means["belief"] == 20
    assert statistics.means["nodes"] == 100
    assert statistics.means["depth"] == 3
    assert statistics.means["carried"] is None
    assert (statistics.largest_belief, statistics.inexact) == (30, 1)
    assert statistics.overrun == pytest.approx(50)
    assert statistics.seconds == pytest.approx(0.2)
    assert statistics.belief_checks == 3


def test_no_moves_no_statistics() -> None:
    statistics = Statistics.of([], movetime=250)
    assert (statistics.moves, statistics.overrun, statistics.largest_belief) == (0, None, None)


def standings(
    times: list[int], gain: float, games: int = 40, anchor: int | None = None
) -> Standings:
    event = made_up_event([*timed("engine", times), *entrants_named("other")], games)
    elo = [gain * math.log2(time) for time in times]
    results = played(event, [*elo, sum(elo) / len(elo)], draws=0, length=2)
    return Standings(event, results, Anchor(anchor, 0))


def test_a_known_gain_is_found_within_its_error() -> None:
    (family,) = standings([125, 250, 500, 1000], 60, games=100).families
    assert family.name == "engine"
    assert family.seconds == (0.125, 0.25, 0.5, 1.0)
    assert abs(family.per_doubling.value - 60) < 1.5 * family.per_doubling.error
    assert family.per_doubling.error < 25


def test_the_slope_does_not_depend_on_the_anchor() -> None:
    free, fixed = (standings([125, 250, 500], 60, anchor=anchor) for anchor in (None, 2))
    assert free.families[0].per_doubling.value == pytest.approx(
        fixed.families[0].per_doubling.value, abs=1e-6
    )
    assert free.families[0].errors == pytest.approx(fixed.families[0].errors)
    assert free.families[0].per_doubling.error == pytest.approx(
        fixed.families[0].per_doubling.error, abs=1e-6
    )


def test_the_slope_is_that_of_generalised_least_squares_of_differences() -> None:
    found = standings([100, 200, 800, 1600], 40)
    (family,) = found.families
    # Differences to the first member have a covariance that can be inverted.
    contrast = np.hstack([-np.ones((3, 1)), np.eye(3)])
    members = list(family.members)
    covariance = contrast @ found.ratings.covariance[np.ix_(members, members)] @ contrast.T
    doublings = contrast @ np.log2(np.array(family.seconds))
    gains = contrast @ np.array([found.ratings.of(player).elo for player in members])
    weighted = np.linalg.solve(covariance, doublings)
    assert family.per_doubling.value == pytest.approx(
        float(weighted @ gains / (weighted @ doublings)), rel=1e-6
    )
    assert family.per_doubling.error == pytest.approx(
        1.959964 / math.sqrt(float(weighted @ doublings)), rel=1e-6
    )


def test_errors_of_members_leave_out_the_distance_to_others() -> None:
    alone = made_up_event(timed("engine", [100, 200, 400]), 40)
    entrants = [*alone.entrants, *entrants_named("far away")]
    event = made_up_event(entrants, 40)
    games = played(event, [0, 20, 40, -2000], draws=0, length=2)
    found = Standings(event, games, Anchor(3, 0))
    (family,) = found.families
    assert max(family.errors) < 80 < min(found.ratings.of(player).error for player in range(3))
    # Two members of a family of equal errors differ by the error times the root of 3.
    difference = found.ratings.difference(0, 1).error
    assert difference == pytest.approx(family.errors[0] * math.sqrt(3), rel=0.2)


def test_steps_are_gains_for_a_doubling() -> None:
    found = standings([100, 400, 800], 50)
    (family,) = found.families
    first, second = family.steps(found.ratings)
    whole = found.ratings.difference(family.members[1], family.members[0])
    assert (first.value, first.error) == pytest.approx((whole.value / 2, whole.error / 2))
    assert second.value == found.ratings.difference(*reversed(family.members[1:])).value


def test_players_that_differ_in_more_than_time_are_no_family() -> None:
    entrants = timed("engine", [100, 200, 400, 800])
    other = [replace(entrants[0], options={"Threads": "1"}), replace(entrants[1], player="random")]
    clock = replace(entrants[2], control=TimeControl.parse("10+0.1"))
    mixed = [*other, clock, entrants[3], Entrant("plain", "engine", {}, None)]
    event = made_up_event(mixed, 4)
    found = Standings(event, played(event, [0] * 5))
    assert time_families(mixed, event.control, found.ratings) == []
    # The event's own time makes a third member: 200, 800 and 400 ms.
    mixed = [entrants[1], entrants[3], Entrant("plain", "engine", {}, None)]
    (family,) = time_families(mixed, TimeControl(400), found.ratings)
    assert family.members == (0, 2, 1)
    assert family.name == "engine"


def test_players_without_games_are_left_out() -> None:
    event = made_up_event(timed("engine", [100, 200, 400]), 4)
    games = played(event, [0] * 3)
    met = {task.number for task in event.tasks if 2 not in (task.white, task.black)}
    few = Standings(event, {number: games[number] for number in met})
    assert few.families == []


def test_times_are_written_as_people_do() -> None:
    assert [time_text(one) for one in (0.0625, 0.25, 1, 1.5, 4)] == [
        "62.5 ms", "250 ms", "1 s", "1.5 s", "4 s",
    ]  # fmt: skip
