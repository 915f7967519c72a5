"""Cheap players inside a match."""

from __future__ import annotations

import pytest

from obscuro.matches.builtin_players import BUILT_IN, check_entrant, make_contestant
from obscuro.matches.event import Entrant
from obscuro.matches.game_record import OWN_OBSERVATIONS, Contestant
from obscuro.matches.referee import play_game
from obscuro.matches.uci_player import UciPlayer
from obscuro.players.roster import PLAYERS

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
    assert BUILT_IN.keys() == PLAYERS.keys()
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
