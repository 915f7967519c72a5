"""What a doubling of the time is worth, against least squares by hand and known strengths."""

import math
from dataclasses import replace

import numpy as np
import pytest

from obscuro.matches.event import Entrant
from obscuro.matches.rating import Anchor
from obscuro.matches.standings import Standings, time_families
from obscuro.matches.time_control import TimeControl, time_text
from tests.matches.made_up import entrants_named, made_up_event, played, timed


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
