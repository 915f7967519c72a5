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
    """A game of OpenSpiel's without `playouts`."""

    def __init__(self, game: OpenSpielGame) -> None:
        for name in ("name", "player", "actions", "chances", "apply", "payoff"):
            setattr(self, name, getattr(game, name))


@pytest.mark.parametrize(
    "text", ["leduc_poker", "phantom_ttt", "dark_hex(board_size=3)", "goofspiel(num_cards=4)"]
)
def test_openspiels_playouts_have_the_mean_of_those_ply_by_ply(text: str) -> None:
    game = OpenSpielGame(text)
    plain: Any = PlaysPlies(game)
    ours, theirs = Rollouts(game, 2000, 1), Rollouts(plain, 2000, 2)
    values, differences = [], []
    for seed in range(3):
        state = game.start()
        for action in random_line(game, np.random.default_rng(seed)):
            values.append(game.scale * ours(state))
            differences.append(values[-1] - game.scale * theirs(state))
            state = game.apply(state, action)
        assert game.player(state) == TERMINAL
        assert ours(state) == game.payoff(state)
    assert min(values) < 0 < max(values)
    assert len(differences) > 10
    assert max(map(abs, differences)) < 0.15  # the standard error of one is 0.03 at most
    assert np.mean(differences) == pytest.approx(0, abs=0.03)


def test_a_seed_repeats_openspiels_playouts_and_another_one_does_not() -> None:
    game = OpenSpielGame("phantom_ttt")

    def values(seed: int) -> list[float]:
        rollouts = Rollouts(game, 3, seed)
        return [rollouts(game.start()) for _ in range(20)]

    assert values(1) == values(1)
    assert values(1) != values(2)


@pytest.mark.parametrize("game", [KuhnPoker(), OpenSpielGame("kuhn_poker")])
def test_the_mean_is_that_of_uniform_play(game: Any) -> None:
    expected = expected_value(enumerate_game(game), {})
    assert Rollouts(game, 20_000)(game.start()) == pytest.approx(expected, abs=0.04)
