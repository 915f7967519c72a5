"""Events as data: they survive JSON, and their fingerprint knows them; schedules; entrants."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from obscuro.matches.builtin_players import (
    LightContestant,
    check_entrant,
    make_contestant,
)
from obscuro.matches.event import Entrant, Event, match_games, paired_games, round_robin_pairings
from obscuro.matches.game_record import OWN_OBSERVATIONS, Contestant
from obscuro.matches.openings import parse_openings
from obscuro.matches.referee import play_game
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.time_control import TimeControl
from obscuro.matches.uci_player import UciPlayer
from obscuro.players.roster import PLAYERS
from tests.matches.events import match_event

BOOK = parse_openings("one: e4\ntwo: d4\nthree: c4", "test")


class TestEvents:
    def event(self) -> Event:
        return replace(
            match_event(5, openings=BOOK, sprt=SprtBounds(0, 20)),
            entrants=(
                Entrant("a", "obscuro", {"Threads": "2"}, TimeControl(50)),
                Entrant("b", "/opt/engine --uci", {}, TimeControl(None, 60_000, 500)),
                Entrant("c", "zs21", {}, TimeControl(None, nodes=60_000)),
            ),
        )

    def test_they_survive_json(self) -> None:
        event = self.event()
        again = Event.from_json(event.to_json())
        assert again == event
        assert again.fingerprint() == event.fingerprint()

    def test_every_change_changes_the_fingerprint(self) -> None:
        event = self.event()
        others = [
            replace(event, name="x"),
            replace(event, entrants=event.entrants[::-1]),
            replace(event, tasks=event.tasks[:-1]),
            replace(event, control=TimeControl(2)),
            replace(event, max_plies=13),
            replace(event, coverage=not event.coverage),
            replace(event, sprt=None),
            replace(event, stalemate="draw"),
            replace(event, resign=8),
        ]
        assert len({each.fingerprint() for each in [event, *others]}) == 1 + len(others)

    def test_the_rules_that_may_be_chosen_survive_json(self) -> None:
        drawn = replace(self.event(), stalemate="draw", resign=8)
        assert Event.from_json(drawn.to_json()) == drawn
        with pytest.raises(ValueError, match="stalemate is loss or draw, not 'win'"):
            Event.from_json({**drawn.to_json(), "stalemate": "win"})

    def test_events_from_before_there_was_a_choice_are_the_same_events(self) -> None:
        """Their journals can be resumed."""
        assert not {"stalemate", "resign"} & set(self.event().to_json())

    def test_an_entrant_may_have_its_own_time(self) -> None:
        event = self.event()
        assert str(event.control_of(0)) == "50 ms a move"
        assert match_event(2).control_of(0) == TimeControl(1)

    @pytest.mark.parametrize(
        "damage", [{"tasks": [[0, 0, 1, 9, 1, 0]]}, {"control": {}}, {"sprt": {"elo0": "much"}}]
    )
    def test_nonsense_is_an_error(self, damage: dict[str, object]) -> None:
        with pytest.raises((KeyError, TypeError, ValueError, IndexError)):
            Event.from_json(self.event().to_json() | damage)


class TestSchedules:
    def test_a_pair_has_one_opening_and_seed_with_colours_swapped(self) -> None:
        tasks = match_games(8, BOOK, seed=3)
        assert [task.number for task in tasks] == list(range(8))
        for first, second in zip(tasks[::2], tasks[1::2], strict=True):
            assert (first.white, first.black) == (second.black, second.white) == (0, 1)
            assert (first.opening, first.seed, first.pair) == (
                second.opening,
                second.seed,
                second.pair,
            )
        assert len({task.seed for task in tasks}) == 4

    def test_openings_are_shuffled_by_the_seed_and_used_in_turn(self) -> None:
        orders = {
            tuple(task.opening.name for task in match_games(12, BOOK, seed)[::2])
            for seed in range(20)
        }
        assert len(orders) == 6, "every order of three lines"
        for order in orders:
            assert order[:3] == order[3:]
            assert sorted(order[:3]) == ["one", "three", "two"]

    def test_the_same_seed_is_the_same_schedule(self) -> None:
        assert match_games(6, BOOK, 1) == match_games(6, BOOK, 1) != match_games(6, BOOK, 2)

    def test_an_odd_game_is_without_its_twin(self) -> None:
        assert match_games(3, BOOK, 1) == match_games(4, BOOK, 1)[:3]

    def test_all_pairings_of_a_round_have_one_opening(self) -> None:
        tasks = paired_games(round_robin_pairings(3), 2, BOOK, seed=1)
        assert len(tasks) == 12
        assert [len({task.opening for task in tasks[i : i + 6]}) for i in (0, 6)] == [1, 1]
        colours = Counter(task.white for task in tasks)
        assert colours == {0: 4, 1: 4, 2: 4}

    def test_pairings(self) -> None:
        assert round_robin_pairings(3) == [(0, 1), (0, 2), (1, 2)]


class TestEntrants:
    @pytest.mark.parametrize(
        ("entrant", "message"),
        [
            (Entrant("a", "no-such-program"), "'no-such-program' is neither a built-in player"),
            (Entrant("a", ""), "'' is neither a built-in player (obscuro, random, "),
            (Entrant("a", "'"), "can't read the command"),
            (Entrant("a", "obscuro", {"Sead": "1"}), "no such option: 'Sead'"),
            (Entrant("a", "obscuro", {"Threads": "0"}), "Threads must be between 1 and 256"),
        ],
    )
    def test_mistakes_are_one_line(self, entrant: Entrant, message: str) -> None:
        with pytest.raises(ValueError) as caught:
            check_entrant(entrant)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_the_built_in_names_and_command_lines_make_players(self) -> None:
        light = make_contestant(Entrant("a", "greedy"), print)
        process = make_contestant(Entrant("b", "sh -c true"), print)
        assert isinstance(light, LightContestant)
        assert isinstance(process, UciPlayer)
        assert (light.name, process.name) == ("a", "b")


LIGHT = [name for name, kind in PLAYERS.items() if kind.light]


def contestant(name: str, **options: str) -> Contestant:
    return make_contestant(Entrant(name, name, options), pytest.fail)


def moves(white: Contestant, black: Contestant, seed: int) -> list[str]:
    record = play_game(white, black, control=1, seed=seed, max_plies=120)
    assert record.regular or record.ending == "stopped after 120 plies"
    return [move.uci() for move in record.board.move_stack]


@pytest.mark.parametrize("name", LIGHT)
def test_games_depend_on_the_seed_alone(name: str) -> None:
    players = contestant(name), contestant(name)
    first = moves(*players, seed=3)
    assert moves(*players, seed=3) == first
    assert moves(*players, seed=4) != first


@pytest.mark.parametrize("name", LIGHT)
def test_the_option_seed_replaces_the_seed_of_the_game(name: str) -> None:
    players = contestant(name, Seed="7"), contestant(name, Seed="8")
    assert moves(*players, seed=3) == moves(*players, seed=4)


def test_greedy_beats_random() -> None:
    greedy, chance = contestant("greedy"), contestant("random")
    for seed in range(5):
        assert play_game(greedy, chance, control=1, seed=seed, max_plies=400).winner is True
        assert play_game(chance, greedy, control=1, seed=seed, max_plies=400).winner is False


def test_every_player_of_the_table_can_enter_and_the_heavy_ones_get_a_process() -> None:
    for name, kind in PLAYERS.items():
        made = contestant(name)
        assert isinstance(made, UciPlayer) is not kind.light
        assert made.name == name
        if kind.light:
            assert made.told == OWN_OBSERVATIONS
        made.close()


def test_an_option_that_a_player_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no such option: 'Hash' \(player greedy\)"):
        check_entrant(Entrant("g", "greedy", {"Hash": "16"}))
    check_entrant(Entrant("o", "obscuro", {"Hash": "16"}))
