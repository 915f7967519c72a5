"""Gifts, and Reach subgame solving: what ▼ gave up on the way, and that giving it back is safe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import WHOLE_GAME, SubgameSolver, gifts_below, guaranteed
from obscuro.research.games.kuhn import BET, PASS, KuhnPoker, KuhnState
from obscuro.research.games.root_rules import (
    MaxmarginRoot,
    RootRule,
    SoftRoot,
    even_prior,
)
from obscuro.research.games.sequence_form import SequenceForm, played_from_roots, subgame_form
from obscuro.research.games.subgame_program import AsSolved, Margins
from obscuro.search.game import MAX, MIN
from tests.sizes import quick_among

from .naive_subgames import action_answer, answer, plays, reach
from .oracle import random_policy
from .test_klss import PRECISION, a_floor, mixed_policy

REACH_ROOTS: list[RootRule] = [
    MaxmarginRoot(Margins(), reach=True),
    MaxmarginRoot(AsSolved(), reach=True),
    SoftRoot(0.0, even_prior, reach=True),
    SoftRoot(0.0, even_prior, "as solved", reach=True),
]
every_reach_root = pytest.mark.parametrize("rule", REACH_ROOTS)


def gifts(tree: GameTree[Any], policy: NDArray[np.float64]) -> NDArray[np.float64]:
    form = SequenceForm(tree)
    sub = subgame_form(form, WHOLE_GAME, policy)
    x = played_from_roots(form, sub, policy)
    return gifts_below(form, WHOLE_GAME, sub, policy, x, np.zeros(1))


def naive_gift(tree: GameTree[Any], policy: NDArray[np.float64], node: int) -> float:
    """K, Algorithm 12, line 23, by recursion over nodes."""
    total = 0.0
    while node:
        parent = int(tree.parent[node])
        if tree.player[parent] == MIN:
            members = np.flatnonzero(tree.infoset == tree.infoset[parent]).tolist()
            weights = {member: reach(tree, policy, member) for member in members}
            played = action_answer(tree, plays(tree, policy), weights, int(tree.action[node]))
            best = answer(tree, plays(tree, policy), weights)
            total += (played - best) / sum(weights.values())
        node = parent
    return total


def test_gifts_are_the_naive_ones(tiny_tree: GameTree[Any]) -> None:
    policy = 0.7 * random_policy(tiny_tree, np.random.default_rng(2))
    policy += 0.3 * SequenceForm(tiny_tree).uniform()
    found = gifts(tiny_tree, policy)
    nodes = np.random.default_rng(3).choice(len(found), 30).tolist()
    assert found[nodes] == pytest.approx([naive_gift(tiny_tree, policy, n) for n in nodes])
    assert found.min() == 0.0
    assert found.max() > 0.0


def test_gift_is_what_a_bad_fold_costs() -> None:
    """▲ always bets. With the king ▼ wins 2 by a call, and gives up 3 chips by a fold."""
    tree = enumerate_game(KuhnPoker())
    policy = SequenceForm(tree).uniform()
    mine = np.repeat(tree.infosets.player == MAX, 2)
    policy[mine] = tree.infosets.action[mine] == BET
    found = gifts(tree, policy)
    for node, state in enumerate(tree.states):
        if state.betting == (BET, PASS) and state.cards[1] == 2:
            assert found[node] == pytest.approx(3.0)
        if state.betting == (BET, BET) and state.cards[1] == 2:
            assert found[node] == 0.0


def test_gift_of_the_gadgets_first_choice_is_added(kuhn: GameTree[Any]) -> None:
    policy = mixed_policy(kuhn, 2)
    solver = SubgameSolver(kuhn, np.zeros_like(policy), 1, Margins())
    infoset = int(np.flatnonzero(kuhn.infosets.player == MAX)[0])
    roots = solver.roots(infoset, policy)
    view = solver.view(roots, policy)
    x = played_from_roots(view.form, view.sub, policy)
    entered = np.array([0.25, 0.5])
    found = gifts_below(view.form, roots, view.sub, policy, x, entered)
    assert found[roots.node[roots.live]] == pytest.approx(entered[roots.group[roots.live]])
    frozen = roots.node[~roots.live]
    assert not found[frozen].any()
    plain = gifts_below(view.form, roots, view.sub, policy, x, np.zeros(2))
    below = np.flatnonzero(np.isin(kuhn.parent, roots.node[roots.live]))
    assert (found - plain)[below].min() >= 0.25


# -- safety -------------------------------------------------------------------------------------


@every_reach_root
@pytest.mark.parametrize("seed", quick_among(range(3), lambda seed: seed == 0))
def test_reach_with_common_knowledge_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], rule: RootRule, seed: int
) -> None:
    """At every infoset, nested: what one subgame gives back, the next one does not give again."""
    policy = mixed_policy(tiny_tree, seed)
    solver = SubgameSolver(tiny_tree, a_floor(tiny_tree), COMMON_KNOWLEDGE, rule)
    nested = solver.solve_everywhere(policy)
    least = guaranteed(tiny_tree, policy) - PRECISION / tiny_tree.game.scale
    assert guaranteed(tiny_tree, nested.policy) >= least


@every_reach_root
def test_reach_at_one_infoset_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], rule: RootRule
) -> None:
    """K, Lemma 11."""
    policy = mixed_policy(tiny_tree, 5)
    solver = SubgameSolver(tiny_tree, np.zeros_like(policy), 1, rule)
    least = guaranteed(tiny_tree, policy) - PRECISION / tiny_tree.game.scale
    infosets = np.flatnonzero(tiny_tree.infosets.player == MAX)
    for infoset in np.random.default_rng(5).choice(infosets, 5).tolist():
        assert guaranteed(tiny_tree, solver.solve(infoset, policy)) >= least


def test_gift_allows_a_loss_where_it_was_given(kuhn: GameTree[Any]) -> None:
    """▲ has the queen and faces a bet. A gift with one of ▼'s cards leaves the other to play for."""
    policy = mixed_policy(kuhn, 2)
    nothing = np.zeros_like(policy)
    solver = SubgameSolver(kuhn, nothing, 1, Margins())
    facing = KuhnState((1, 0), (PASS, BET))
    roots = solver.roots(int(kuhn.infoset[kuhn.states.index(facing)]), policy)
    view = solver.view(roots, policy)
    pure = [[1.0, 0.0], [0.0, 1.0]]
    for reaching in (True, False):
        found = [
            MaxmarginRoot(Margins(), reach=reaching)
            .solve(view._replace(gift=np.array(gift)), nothing)
            .round(6)
            .tolist()
            for gift in ([10.0, 0.0], [0.0, 10.0])
        ]
        assert (sorted(found) == sorted(pure)) == reaching
        assert (found[0] == found[1]) != reaching


def test_what_entering_a_group_gives_up_is_the_gadgets(kuhn: GameTree[Any]) -> None:
    policy = mixed_policy(kuhn, 2)
    solver = SubgameSolver(kuhn, np.zeros_like(policy), 1, Margins())
    infoset = int(np.flatnonzero(kuhn.infosets.player == MAX)[0])
    view = solver.view(solver.roots(infoset, policy), policy)
    x = played_from_roots(view.form, view.sub, policy)
    view = view._replace(alternate=view.alternate + view.sub.alive * [0.5, -0.25])
    # In Maxmargin ▼ could have picked the least margin, in Resolve it could have left for 0.
    assert MaxmarginRoot(Margins()).spare(view, x) == pytest.approx([0.0, 0.75])
    assert SoftRoot(0.0).spare(view, x) == pytest.approx([0.0, 0.25])
    view = view._replace(gift=np.array([1.0, 0.0]))
    assert MaxmarginRoot(Margins(), reach=True).spare(view, x) == pytest.approx([0.25, 0.0])
