from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.any_game.histories import GameFaultError, HistoryTable
from obscuro.research.any_game.history_belief import HistoryBelief
from obscuro.research.games.extensive_form import ExtensiveForm
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.openspiel import OpenSpielGame
from obscuro.search.game import MAX, MIN

from .faulty_games import Tries
from .told import fitting, random_line, told

GAMES: list[ExtensiveForm[Any]] = [
    KuhnPoker(),
    LiarsDice(3),
    Goofspiel(3, "random"),
    Tries(),
    OpenSpielGame("kuhn_poker"),
    OpenSpielGame("dark_hex(board_size=2)", remembers=True),
    OpenSpielGame("dark_hex(board_size=2,gameversion=adh)", remembers=True),
]


@pytest.mark.parametrize("seat", [MAX, MIN])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_belief_is_all_histories_that_fit(game: ExtensiveForm[Any], seat: int) -> None:
    random = np.random.default_rng(7)
    for _ in range(4):
        table = HistoryTable(game, seat)
        belief = HistoryBelief(table)
        for _, own, seen in told(game, random_line(game, random), seat):
            belief.observe(own, seen)
            lines = {tuple(table.line(number)) for number in belief.numbers}
            assert lines == fitting(game, belief.key, seat)
            assert belief.exact
            assert belief.rebuilds == 0


@pytest.mark.parametrize("seat", [MAX, MIN])
def test_a_sample_holds_histories_that_fit_and_says_that_it_is_one(seat: int) -> None:
    game = OpenSpielGame("phantom_ttt")
    random = np.random.default_rng(seat)
    sampled = 0
    for _ in range(6):
        table = HistoryTable(game, seat)
        belief = HistoryBelief(table, most=5)
        for state, own, seen in told(game, random_line(game, random), seat):
            belief.observe(own, seen)
            assert 1 <= len(belief) <= 5
            sampled += not belief.exact
            for number in belief.numbers:
                assert table[number].keys[MAX] == belief.key
                if game.player(state) == seat:
                    other = table[number].state
                    assert other.information_state_string(seat) == state.information_state_string(
                        seat
                    )
    assert sampled > 5


def test_a_sample_that_died_out_is_found_again() -> None:
    game = OpenSpielGame("phantom_ttt")
    random = np.random.default_rng(3)
    rebuilds = 0
    for _ in range(12):
        belief = HistoryBelief(HistoryTable(game, MIN), most=1)
        for _, own, seen in told(game, random_line(game, random), MIN):
            belief.observe(own, seen)
            assert len(belief) == 1
        rebuilds += belief.rebuilds
    assert rebuilds > 0


def test_a_ply_that_is_not_noticed_changes_nothing() -> None:
    game = Tries()
    belief = HistoryBelief(HistoryTable(game, MAX))
    steps = list(told(game, [0, 1, 2, 0, 9], MAX))
    belief.observe(steps[0][1], steps[0][2])
    before = (belief.numbers, belief.key, belief.plies)
    belief.observe(steps[1][1], steps[1][2])
    belief.observe(steps[2][1], steps[2][2])
    assert (belief.numbers, belief.key, belief.plies) == before


def test_what_cannot_have_been_seen_is_told() -> None:
    belief = HistoryBelief(HistoryTable(KuhnPoker()))
    with pytest.raises(GameFaultError, match="kuhn_poker: no history fits"):
        belief.observe(None, (1, 99))


def test_drawing_leaves_out_what_is_held() -> None:
    belief = HistoryBelief(HistoryTable(KuhnPoker(), MIN))
    for _, own, seen in list(told(KuhnPoker(), [0, 1, 0], MIN))[:2]:
        belief.observe(own, seen)
    assert len(belief) == 2
    held = belief.numbers[0]
    assert belief.sample(5, {held}) == belief.numbers[1:]
    assert len(belief.sample(1, set())) == 1


def test_a_sample_takes_in_what_the_search_has_met_and_a_whole_belief_has_it() -> None:
    game = OpenSpielGame("phantom_ttt")
    line = [4, 0, 1, 4]
    sample = HistoryBelief(HistoryTable(game, MAX), most=2)
    whole = HistoryBelief(HistoryTable(game, MAX))
    for belief in (sample, whole):
        for _, own, seen in told(game, line, MAX):
            belief.observe(own, seen)
        belief.include([*belief.numbers, 10**6])
    assert not sample.exact
    assert sample.numbers[-1] == 10**6
    assert whole.exact
    assert 10**6 not in whole.numbers
