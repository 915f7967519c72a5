"""Exchanged seats: the same game from the other side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.extensive_form import Mirrored
from obscuro.research.games.game_tree import GameTree, best_response, check, enumerate_game
from obscuro.search.game import CHANCE, MAX, MIN


def test_keeps_the_promises_of_a_game(tiny_tree: GameTree[Any]) -> None:
    check(enumerate_game(Mirrored(tiny_tree.game)))


def test_players_and_payoffs_change_sides(tiny_tree: GameTree[Any]) -> None:
    mirrored = enumerate_game(Mirrored(tiny_tree.game))
    assert mirrored.states == tiny_tree.states
    for here, there in ((MAX, MIN), (MIN, MAX), (CHANCE, CHANCE)):
        assert np.array_equal(mirrored.player == here, tiny_tree.player == there)
    assert np.array_equal(mirrored.payoff, -tiny_tree.payoff)
    assert np.array_equal(mirrored.infoset, tiny_tree.infoset)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_best_response_is_worth_the_same_in_the_other_seat(name: str) -> None:
    game = CATALOG[name].make()
    tree, mirrored = enumerate_game(game), enumerate_game(Mirrored(game))
    for player in (MAX, MIN):
        value, _ = best_response(tree, {}, player)
        assert best_response(mirrored, {}, 1 - player)[0] == pytest.approx(value, abs=1e-12)
