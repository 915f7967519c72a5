"""Best responses to a player, found by following it, `research/any_game/best_reply`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from obscuro.research.any_game.best_reply import BestReply, PlayedPolicy, Situation
from obscuro.research.any_game.game_player import GamePlayer, played_strategy
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.games.extensive_form import ExtensiveForm
from obscuro.research.games.game_tree import best_response, enumerate_game, policy_of, strategy_of
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.openspiel import OpenSpielGame
from obscuro.search.game import MAX, MIN

QUICK = PlaySettings(iterations=64, memory=4)
GAMES: list[Callable[[], ExtensiveForm[Any]]] = [
    KuhnPoker,
    partial(LiarsDice, 3),
    partial(OpenSpielGame, "dark_hex(board_size=2)", remembers=True),
    partial(OpenSpielGame, "dark_hex(board_size=2,gameversion=adh)", remembers=True),
]


@pytest.mark.parametrize("make", GAMES)
@pytest.mark.parametrize(("seat", "responder"), [(MAX, MIN), (MIN, MAX)])
def test_it_is_the_best_response_of_the_enumerated_game(
    make: Callable[[], ExtensiveForm[Any]], seat: int, responder: int
) -> None:
    game = make()
    tree = enumerate_game(game)
    player = GamePlayer(game, QUICK)
    strategy = played_strategy(tree, player, 3)
    policy = PlayedPolicy(player, seat, 3)
    found = BestReply(game, responder, policy).value()
    assert found == pytest.approx(best_response(tree, strategy, responder)[0], abs=1e-9)
    for key, chances in policy.found.items():
        assert list(chances.values()) == strategy[key]


def test_it_takes_any_policy() -> None:
    tree = enumerate_game(KuhnPoker())
    uniform = strategy_of(tree, policy_of(tree, {}))
    numbers = {key: number for number, key in enumerate(tree.infosets.key.tolist())}

    def policy(situation: Situation) -> dict[int, float]:
        number = numbers[situation.key]
        begin, end = tree.infosets.offsets[number : number + 2]
        actions = tree.infosets.action[begin:end].tolist()
        return dict(zip(actions, uniform[situation.key], strict=True))

    expected = pytest.approx(best_response(tree, {}, MIN)[0], abs=1e-12)
    assert BestReply(KuhnPoker(), MIN, policy).value() == expected
    assert BestReply(KuhnPoker(), MIN, policy, policy).value() == expected


def test_a_limit_of_time_makes_no_policy() -> None:
    with pytest.raises(ValueError, match="limit of time"):
        PlayedPolicy(GamePlayer(KuhnPoker(), PlaySettings(1.0)), MAX)
