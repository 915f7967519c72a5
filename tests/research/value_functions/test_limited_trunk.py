"""The depth limit: public states, ranges, and values of infosets and of histories."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import check, enumerate_game, exploitability, strategy_of
from obscuro.research.games.klss import least_exploitable
from obscuro.research.games.leduc import LeducPoker, LeducState, PacedLeduc
from obscuro.research.games.oshi_zumo import OshiZumo, OshiZumoState
from obscuro.research.games.subgame_program import AsSolved
from obscuro.research.value_functions.limited_trunk import (
    LimitedGame,
    LimitedTrunk,
    RegionCfr,
    TrunkExploitability,
)
from obscuro.research.value_functions.random_trunks import random_policy
from obscuro.research.value_functions.value_network import DOMAINS, goofspiel, leduc
from obscuro.search.game import CHANCE, MAX, MIN
from tests.research.games.oracle import random_policy as any_policy


@pytest.mark.parametrize(
    ("name", "states"),
    [("goofspiel_v", 9), ("oshi_zumo", 17), ("oshi_zumo_v", 17), ("leduc", 30)],
)
def test_public_states_at_the_limit(name: str, states: int) -> None:
    trunk = LimitedTrunk(DOMAINS[name].make())
    assert len(trunk.public) == states
    for side in (MAX, MIN):
        keys = trunk.game.tree.keys[trunk.leaves, side]
        rows = trunk.state * trunk.width[side] + trunk.infoset[side]
        assert len(np.unique(keys)) == len(np.unique(rows))


def test_observations_that_do_not_tell_infosets_apart_are_refused() -> None:
    game = goofspiel(4, 2)
    blind = LimitedGame(game.tree, game.level, game.public, lambda state, player: 0)
    with pytest.raises(ValueError, match="do not tell the infosets apart"):
        LimitedTrunk(blind)


def test_ranges_and_values_are_those_of_a_walk() -> None:
    game = goofspiel(4, 2)
    trunk, region = LimitedTrunk(game), RegionCfr(game.tree, (0, game.level))
    rng = np.random.default_rng(2)
    policy = random_policy(region, game, rng)
    reach = region.reach(None, policy)
    values = rng.normal(size=len(trunk.leaves))
    tree = game.tree
    for side in (MAX, MIN):
        ranges = trunk.ranges(reach)[side]
        found = trunk.counterfactual(values, reach, side)
        expected = np.zeros_like(found)
        for leaf, node in enumerate(trunk.leaves.tolist()):
            own, others, at = 1.0, 1.0, node
            while at:
                mover = tree.player[tree.parent[at]]
                played = tree.chance[at] if mover == CHANCE else policy[tree.slot[at]]
                own, others = (own * played, others) if mover == side else (own, others * played)
                at = int(tree.parent[at])
            place = trunk.state[leaf], trunk.infoset[side][leaf]
            assert ranges[place] == pytest.approx(own)
            expected[place] += others * values[leaf]
        assert found == pytest.approx(expected)


def test_histories_get_values_that_their_infosets_have() -> None:
    game = goofspiel(4, 2)
    trunk, region = LimitedTrunk(game), RegionCfr(game.tree, (0, game.level))
    reach = region.reach(None, random_policy(region, game, np.random.default_rng(3)))
    for side in (MAX, MIN):
        wanted = np.random.default_rng(side).normal(size=(len(trunk.public), trunk.width[side]))
        mass = trunk.counterfactual(np.ones(len(trunk.leaves)), reach, side)
        made = trunk.history_values(wanted, reach, side)
        again = trunk.counterfactual(made, reach, side)
        assert again == pytest.approx(np.where(mass > 0, wanted, 0.0))


def test_trunk_of_an_equilibrium_loses_nothing_and_one_that_is_the_game_its_exploitability() -> (
    None
):
    tree = enumerate_game(LeducPoker())
    slots = RegionCfr(tree, (0, 5)).slots
    measured = TrunkExploitability(tree, slots)
    best = least_exploitable(tree, np.zeros(len(tree.infosets.action)), AsSolved())
    assert measured.of(best.policy) == pytest.approx(0.0, abs=1e-6)
    whole = TrunkExploitability(tree, np.arange(len(tree.infosets.action)))
    policy = any_policy(tree, np.random.default_rng(1))
    lost = exploitability(tree, strategy_of(tree, policy)) * tree.game.scale
    assert whole.of(policy) == pytest.approx(lost, abs=1e-6)


# -- the games ------------------------------------------------------------------------------------


def test_paced_leduc_is_leduc() -> None:
    paced, plain = enumerate_game(PacedLeduc(LeducPoker())), enumerate_game(LeducPoker())
    check(paced)
    assert len(paced.infosets.key) == len(plain.infosets.key)
    values = [
        least_exploitable(tree, np.zeros(len(tree.infosets.action)), AsSolved()).value
        for tree in (paced, plain)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-8)


def test_leduc_of_ranks_is_leduc() -> None:
    cards, ranks = enumerate_game(LeducPoker()), enumerate_game(LeducPoker(ranks=True))
    check(ranks)
    assert len(ranks.states) < len(cards.states) / 4
    values = [
        least_exploitable(tree, np.zeros(len(tree.infosets.action)), AsSolved()).value
        for tree in (cards, ranks)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-8)


def test_first_rounds_of_v_s_leduc_end_in_87_public_states() -> None:
    game = leduc(LeducPoker(1, 2, ranks=True))
    check(game.tree)
    # One check each, or a raise of either size by either player: times three public ranks.
    assert len(LimitedTrunk(game).public) == (1 + 2 * 2) * 3
    poker = LeducPoker(3, 2, ranks=True)
    open_rounds = [LeducState((0, 2))]
    ends = 0
    while open_rounds:
        state = open_rounds.pop()
        if poker.player(state) == CHANCE:
            ends += 1
        elif poker.player(state) != TERMINAL:
            open_rounds += [poker.apply(state, action) for action in poker.actions(state)]
    assert 3 * ends == 87  # V, Table 3


def test_oshi_zumo_keeps_its_promises() -> None:
    tree = enumerate_game(OshiZumo())
    check(tree)
    assert (len(tree.states), len(tree.infosets.key)) == (15321, 2512)


@pytest.mark.parametrize(
    ("mine", "theirs", "payoff"),
    [
        ((3, 2), (1, 1), 1.0),  # pushed off the field
        ((1, 1), (3, 2), -1.0),
        ((4, 4), (5, 1), -1.0),  # ▲ has no coin left, ▼ has two
        ((7,), (8,), 1.0),  # ▼ has none left, although it pushed
        ((4, 4), (5, 3), 0.0),  # nobody has one, and the wrestler is in the middle
        ((8,), (8,), 0.0),
        ((4, 2, 2), (4, 1, 3), 0.0),
        ((3, 1, 4), (2, 1, 5), 0.0),
        ((5, 3), (5, 3), 0.0),
        ((4, 1, 3), (3, 1, 4), 0.0),
    ],
)
def test_who_wins_oshi_zumo(mine: tuple[int, ...], theirs: tuple[int, ...], payoff: float) -> None:
    state = OshiZumoState((mine, theirs))
    assert OshiZumo().player(state) == TERMINAL
    assert OshiZumo().payoff(state) == payoff


@pytest.mark.parametrize(
    ("mine", "theirs", "payoff"),
    [
        ((3, 2), (1, 1), 1.0),  # pushed off the field before
        ((7,), (8,), 0.0),  # ▼ pushed, and ▲'s last coin pushes back
        ((6,), (8,), 1.0),  # two coins push beyond the middle
        ((4, 4), (5, 1), -1.0),
        ((4, 4), (5, 3), 0.0),
        ((2, 6), (1, 2), 1.0),
    ],
)
def test_coins_left_push_on(mine: tuple[int, ...], theirs: tuple[int, ...], payoff: float) -> None:
    state = OshiZumoState((mine, theirs))
    game = OshiZumo(push_on=True)
    assert game.player(state) == TERMINAL
    assert game.payoff(state) == payoff
