from __future__ import annotations

from typing import Any

import pytest

from obscuro.research.any_game.histories import GameFaultError, HistoryTable, check_game
from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.openspiel import OpenSpielGame

from .faulty_games import FAULTS, HigherCardMayRaise, NeverEnds, Tries


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel_increasing", "matching_pennies"])
def test_a_small_game_without_faults_is_walked_whole(name: str) -> None:
    known = CATALOG[name]
    assert check_game(known.make()) == (known.histories, True, True, None)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "playouts"])
@pytest.mark.parametrize(("game", "words", "histories"), FAULTS)
def test_a_fault_is_named_with_the_histories_that_show_it(
    game: Any, words: str, histories: int, whole: bool
) -> None:
    shown = r"after \[" if histories else ""
    with pytest.raises(GameFaultError, match=f"^kuhn_poker: .*{shown}") as caught:
        check_game(game, most_histories=1000 if whole else 1)
    assert "\n" not in str(caught.value)
    assert words in caught.value.fault
    assert len(caught.value.histories) == histories


def test_a_game_that_never_ends_is_told() -> None:
    with pytest.raises(GameFaultError, match="not over after 2000 plies"):
        check_game(NeverEnds(), most_histories=1000)


def test_the_histories_of_different_actions_end_in_one_infoset() -> None:
    game = HigherCardMayRaise()
    with pytest.raises(GameFaultError) as caught:
        check_game(game)
    keys = []
    for history in caught.value.histories:
        table, number = HistoryTable(KuhnPoker()), 0
        for action in history:
            number = table.number(table.after(number, action))
        keys.append(table[number].keys)
    assert keys[0][0] == keys[1][0]
    assert keys[0][1] != keys[1][1]


def test_a_large_game_is_looked_at_in_playouts() -> None:
    facts = check_game(CATALOG["liars_dice"].make(), most_histories=500, playouts=20)
    assert not facts.whole
    assert facts.histories < 500


def test_players_who_do_not_know_the_time_are_found() -> None:
    facts = check_game(Tries())
    assert not facts.timed
    assert facts.untimed_pair is not None
    short, long = facts.untimed_pair
    assert len(short) < len(long)


def test_openspiels_dark_hex_forgets_when_a_player_chose() -> None:
    text = "dark_hex(board_size=3)"
    with pytest.raises(GameFaultError, match="no perfect recall"):
        check_game(OpenSpielGame(text), most_histories=5000)
    assert check_game(OpenSpielGame(text, remembers=True), most_histories=5000).timed


@pytest.mark.parametrize(
    "text", ["kuhn_poker", "leduc_poker", "goofspiel(imp_info=True,num_cards=3)"]
)
def test_openspiels_games_have_no_fault(text: str) -> None:
    facts = check_game(OpenSpielGame(text))
    assert facts.whole
    assert facts.timed


def test_openspiels_phantom_game_hides_the_time() -> None:
    assert not check_game(OpenSpielGame("phantom_ttt"), playouts=50, most_histories=2000).timed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no_game(size=3)", "not a game of OpenSpiel .*: no_game"),
        ("matching_pennies_3p", "not a zero-sum game of two players: matching_pennies_3p"),
        ("bridge", "not a zero-sum game of two players: bridge"),
    ],
)
def test_a_game_of_openspiel_that_cannot_be_played_is_told_in_one_line(
    text: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        OpenSpielGame(text)
    assert "\n" not in str(caught.value)
