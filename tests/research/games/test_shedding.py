"""The small shedding game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, check, enumerate_game
from obscuro.research.games.shedding import PASS, SheddingGame, SheddingState
from obscuro.search.game import MAX, MIN


@pytest.fixture(scope="module")
def shedding() -> GameTree[Any]:
    return enumerate_game(SheddingGame())


def test_keeps_the_promises_of_a_game(shedding: GameTree[Any]) -> None:
    check(shedding)


def test_every_deal_is_as_likely_as_with_cards_in_hand(shedding: GameTree[Any]) -> None:
    """Deal the eight cards in all orders that count: 8·7·6 by 5·4·3."""
    game = SheddingGame()
    start = game.start()
    hands = dict(zip(game.actions(start), game.chances(start), strict=True))
    states = [game.apply(start, number) for number in hands]
    chances = dict(zip([state.hands[0] for state in states], hands.values(), strict=True))
    assert chances[2, 1, 0, 0] == pytest.approx(2 / 56)
    assert chances[1, 1, 1, 0] == pytest.approx(8 / 56)
    assert sum(chances.values()) == pytest.approx(1.0)
    second = game.apply(start, list(hands)[[s.hands[0] for s in states].index((2, 1, 0, 0))])
    for number in game.actions(second):
        assert game.apply(second, number).hands[1][0] == 0, "both cards of rank 0 are gone"


def dealt(mine: tuple[int, ...], theirs: tuple[int, ...], *played: int) -> SheddingState:
    return SheddingState((mine, theirs), played)


def test_a_play_is_beaten_by_a_higher_one_of_its_kind() -> None:
    game = SheddingGame()
    pair, lone = (2, 1, 0, 0), (0, 1, 2, 0)
    assert game.actions(dealt(pair, lone)) == [1, 2, 5]
    assert game.actions(dealt(pair, lone, 2)) == [PASS, 3]
    assert game.actions(dealt(pair, lone, 5)) == [PASS, 7]
    assert game.actions(dealt(lone, pair, 7)) == [PASS]


def test_after_a_pass_the_other_player_leads_and_must_play() -> None:
    game = SheddingGame()
    state = dealt((2, 1, 0, 0), (0, 1, 2, 0), 2, PASS)
    assert game.player(state) == MAX
    assert game.actions(state) == [1, 5]


def test_who_has_no_card_left_wins_the_others_cards() -> None:
    game = SheddingGame()
    state = dealt((2, 1, 0, 0), (0, 1, 2, 0), 2, PASS, 5)
    assert game.player(state) == TERMINAL
    assert game.payoff(state) == 3.0


def test_nobody_sees_the_other_hand(shedding: GameTree[Any]) -> None:
    for side in (MAX, MIN):
        nodes = np.flatnonzero(shedding.player == side)
        seen: dict[int, set[Any]] = {}
        for node in nodes.tolist():
            state = shedding.states[node]
            known = (state.hands[side], state.played)
            seen.setdefault(int(shedding.keys[node, side]), set()).add(known)
        assert all(len(known) == 1 for known in seen.values())
        assert len(seen) == len({next(iter(known)) for known in seen.values()})
