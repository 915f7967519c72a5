from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.any_game.game_player import GamePlayer, played_strategy
from obscuro.research.any_game.histories import GameFaultError
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.any_game.solved_game import solve
from obscuro.research.games.game_tree import enumerate_game, exploitability
from obscuro.research.games.kuhn import BET, PASS, KuhnPoker
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.openspiel import OpenSpielGame

from .faulty_games import HidesTurn, Tries


def test_kuhn_poker_is_solved() -> None:
    solved = solve(KuhnPoker(), 600)
    assert solved.value == pytest.approx(-1 / 18, abs=0.01)
    assert solved.exploitability < 0.002
    assert solved.policy_after([0, 1]).keys() == {PASS, BET}
    assert solved.policy_after([2, 1, PASS, BET])[BET] > 0.99


def test_openspiels_game_is_solved_as_ours() -> None:
    ours, theirs = (
        solve(LiarsDice(2), 400),
        solve(OpenSpielGame("liars_dice(numdice=1,dice_sides=2)"), 400),
    )
    assert ours.exploitability < 0.01
    assert theirs.exploitability < 0.01
    assert ours.value == pytest.approx(theirs.value, abs=0.02)


def test_a_history_that_is_none_is_refused() -> None:
    solved = solve(KuhnPoker(), 20)
    with pytest.raises(ValueError, match="no history"):
        solved.policy_after([0, 0])
    with pytest.raises(ValueError, match="no player is to move"):
        solved.policy_after([0])


def test_what_cannot_be_solved_says_why() -> None:
    with pytest.raises(GameFaultError, match="more than 100 histories"):
        solve(LeducPoker(), most_histories=100)
    with pytest.raises(GameFaultError, match="how many plies"):
        solve(Tries())
    with pytest.raises(GameFaultError, match="whether it is to move"):
        solve(HidesTurn())


def test_what_is_played_in_kuhn_poker_is_hardly_exploitable() -> None:
    tree = enumerate_game(KuhnPoker())
    player = GamePlayer(KuhnPoker(), PlaySettings(iterations=2000, memory=4))
    done: list[tuple[int, int]] = []
    strategy = played_strategy(tree, player, report=lambda now, of: done.append((now, of)))
    assert set(strategy) == set(tree.infosets.key.tolist())
    assert done[-1] == (12, 12)
    assert exploitability(tree, strategy) < 0.04


def test_a_players_strategy_is_the_same_however_an_infoset_is_reached() -> None:
    tree = enumerate_game(LiarsDice(2))
    player = GamePlayer(LiarsDice(2), PlaySettings(iterations=100, memory=4))
    first, again = played_strategy(tree, player), played_strategy(tree, player)
    assert set(first) == set(tree.infosets.key.tolist())
    for key, policy in first.items():
        assert np.array_equal(policy, again[key])


def test_a_player_on_the_clock_has_no_fixed_strategy() -> None:
    with pytest.raises(ValueError, match="limit of time"):
        played_strategy(enumerate_game(KuhnPoker()), GamePlayer(KuhnPoker(), PlaySettings(1.0)))


@pytest.mark.slow
def test_more_iterations_make_dark_hex_less_exploitable() -> None:
    game = OpenSpielGame("dark_hex(board_size=2,gameversion=adh)", remembers=True)
    tree = enumerate_game(game)
    few, many = (
        exploitability(
            tree, played_strategy(tree, GamePlayer(game, PlaySettings(iterations=each, memory=4)))
        )
        for each in (64, 1000)
    )
    assert few > 0.5 > exploitability(tree, {}) > 0.02 > many
