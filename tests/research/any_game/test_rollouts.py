from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.any_game.turn_tree import Rollouts
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import enumerate_game, expected_value
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.openspiel import OpenSpielGame

from .told import random_line


class PlaysPlies:
    """A game of OpenSpiel's without `play_out`."""

    def __init__(self, game: OpenSpielGame) -> None:
        for name in ("name", "player", "actions", "chances", "apply", "payoff"):
            setattr(self, name, getattr(game, name))


@pytest.mark.parametrize("text", ["leduc_poker", "phantom_ttt", "dark_hex(board_size=3)"])
def test_openspiels_playouts_are_those_ply_by_ply(text: str) -> None:
    game = OpenSpielGame(text)
    plain: Any = PlaysPlies(game)
    random = np.random.default_rng(4)
    values = []
    for seed in range(40):
        state, ours, theirs = game.start(), Rollouts(game, 3, seed), Rollouts(plain, 3, seed)
        for action in random_line(game, random):
            assert ours(state) == pytest.approx(theirs(state))
            values.append(ours(state))
            theirs(state)
            state = game.apply(state, action)
        assert game.player(state) == TERMINAL
        assert ours(state) == game.payoff(state)
    assert min(values) < 0 < max(values)


@pytest.mark.parametrize("game", [KuhnPoker(), OpenSpielGame("kuhn_poker")])
def test_the_mean_is_that_of_uniform_play(game: Any) -> None:
    expected = expected_value(enumerate_game(game), {})
    assert Rollouts(game, 20_000)(game.start()) == pytest.approx(expected, abs=0.04)
