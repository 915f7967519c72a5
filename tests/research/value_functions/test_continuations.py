"""Continuation strategies at a depth limit, against exact solutions."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import Mirrored
from obscuro.research.games.game_tree import (
    GameTree,
    check,
    enumerate_game,
    expected_value,
    policy_of,
    strategy_of,
)
from obscuro.research.games.klss import least_exploitable
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.subgame_program import AsSolved
from obscuro.research.value_functions.continuations import (
    ContinuationGame,
    grow_portfolio,
    node_values,
    solve_with_values,
)
from obscuro.research.value_functions.limited_trunk import RegionCfr, TrunkExploitability
from obscuro.search.game import MIN

Floats = NDArray[np.float64]

LEVEL = 3  # two deals, and ▲'s first action


@pytest.fixture(scope="module")
def kuhn() -> GameTree[Any]:
    return enumerate_game(KuhnPoker())


def equilibrium(tree: GameTree[Any]) -> Floats:
    """Of both players. ▼'s is the other seat's of the same program."""
    floor = np.zeros(len(tree.infosets.action))
    mine = least_exploitable(tree, floor, AsSolved()).policy
    theirs = least_exploitable(enumerate_game(Mirrored(tree.game)), floor, AsSolved()).policy
    owner = np.repeat(tree.infosets.player, np.diff(tree.infosets.offsets))
    return np.where(owner == MIN, theirs, mine)


def pure_continuations(tree: GameTree[Any], level: int, blueprint: Floats) -> list[Floats]:
    """All pure strategies of ▼ below the limit, two actions at each infoset; ▲ keeps its own."""
    offsets = tree.infosets.offsets
    above = set(RegionCfr(tree, (0, level)).slots.tolist())
    own = [
        int(offsets[infoset])
        for infoset in np.flatnonzero(tree.infosets.player == MIN)
        if int(offsets[infoset]) not in above
    ]
    found = []
    for choices in product((0.0, 1.0), repeat=len(own)):
        policy = blueprint.copy()
        for begin, first in zip(own, choices, strict=True):
            policy[begin : begin + 2] = first, 1.0 - first
        found.append(policy)
    return found


def exact_value(tree: GameTree[Any], level: int, portfolio: list[Floats]) -> float:
    values = np.array([node_values(tree, each) for each in portfolio])
    limited = enumerate_game(ContinuationGame(tree, level, values))
    return least_exploitable(limited, np.zeros(len(limited.infosets.action)), AsSolved()).value


def test_a_node_is_worth_what_both_players_get_from_it(kuhn: GameTree[Any]) -> None:
    policy = equilibrium(kuhn)
    values = node_values(kuhn, policy)
    assert values[0] == pytest.approx(expected_value(kuhn, strategy_of(kuhn, policy)))
    assert values[0] == pytest.approx(-1 / 18)


@pytest.mark.parametrize("mirrored", [False, True])
def test_limited_game_is_a_game_with_the_infosets_of_the_whole(mirrored: bool) -> None:
    tree = enumerate_game(Mirrored(KuhnPoker()) if mirrored else KuhnPoker())
    values = np.array([node_values(tree, policy_of(tree, {}))] * 3)
    limited = enumerate_game(ContinuationGame(tree, LEVEL, values))
    check(limited)
    above = RegionCfr(tree, (0, LEVEL)).slots
    assert np.array_equal(RegionCfr(limited, (0, LEVEL)).slots, above)
    assert np.array_equal(limited.infosets.action[above], tree.infosets.action[above])
    trunk = int(tree.levels[LEVEL + 1])
    assert np.array_equal(limited.keys[:trunk], tree.keys[:trunk])


@pytest.mark.parametrize("mirrored", [False, True])
def test_all_pure_continuations_keep_the_equilibria(mirrored: bool) -> None:
    """V, Proposition 4.24, and Theorem 4: a solution of G(T, P) is one of the trunk."""
    tree = enumerate_game(Mirrored(KuhnPoker()) if mirrored else KuhnPoker())
    blueprint = equilibrium(tree)
    portfolio = pure_continuations(tree, LEVEL, blueprint)
    assert exact_value(tree, LEVEL, portfolio) == pytest.approx(1 / 18 if mirrored else -1 / 18)
    values = np.array([node_values(tree, each) for each in portfolio])
    policy = solve_with_values(tree, LEVEL, values, 2000)
    owner = np.repeat(tree.infosets.player, np.diff(tree.infosets.offsets))
    policy = np.where(owner == MIN, blueprint, policy)  # whose trunk is its equilibrium's
    measured = TrunkExploitability(tree, RegionCfr(tree, (0, LEVEL)).slots)
    assert measured.of(policy) < 0.005


def test_more_continuations_leave_less_to_exploit_than_one(kuhn: GameTree[Any]) -> None:
    blueprint = equilibrium(kuhn)
    grown = list(islice(grow_portfolio(kuhn, LEVEL, blueprint, 1000), 12))
    assert len(grown) < 12  # the portfolio holds each response that ▼ needs
    measured = TrunkExploitability(kuhn, RegionCfr(kuhn, (0, LEVEL)).slots)
    owner = np.repeat(kuhn.infosets.player, np.diff(kuhn.infosets.offsets))
    lost = [measured.of(np.where(owner == MIN, blueprint, each)) for each in grown]
    assert lost[-1] < 0.005 < lost[0]


def test_more_continuations_never_help_the_player_who_does_not_choose(
    kuhn: GameTree[Any],
) -> None:
    blueprint = policy_of(kuhn, {})
    portfolio = pure_continuations(kuhn, LEVEL, blueprint)
    values = [exact_value(kuhn, LEVEL, portfolio[:size]) for size in (1, 2, 8, 64)]
    assert np.all(np.diff(values) < 1e-9)
    assert values[-1] < values[0] - 0.01
