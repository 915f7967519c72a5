"""The parts of a root: priors, alternate values, and the budget of ▼'s infosets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree
from obscuro.research.games.klss import SubgameSolver, values_when_all_is_seen
from obscuro.research.games.root_rules import (
    LikeliestGroups,
    MaxmarginRoot,
    RootView,
    SoftRoot,
    ValuePrior,
    alternate_values,
    belief_prior,
    even_prior,
    mixed_prior,
)
from obscuro.research.games.sequence_form import SequenceForm, SubgameRoots, subgame_form
from obscuro.research.games.subgame_program import Margins
from obscuro.search.game import MAX

from .naive_subgames import reach, value_when_all_is_seen
from .oracle import random_policy


def a_policy(tree: GameTree[Any], seed: int) -> NDArray[np.float64]:
    mixed = random_policy(tree, np.random.default_rng(seed))
    return 0.7 * mixed + 0.3 * SequenceForm(tree).uniform()


def a_view(
    tree: GameTree[Any], played: list[float], weight: list[float], alternate: list[float]
) -> RootView:
    """A root of three groups that touch all of a game; the rest of the subgame is not looked at."""
    form = SequenceForm(tree)
    start = SubgameRoots(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_))
    sub = subgame_form(form, start, form.uniform())
    sub = sub._replace(groups=3, weight=np.array(weight), alive=np.ones(3))
    values = np.array(alternate)
    look, last = values[::-1].copy(), np.zeros(len(sub.slots))
    return RootView(form, sub, start, np.array(played), values, look, np.zeros(3), last)


def test_priors_are_what_they_say(kuhn: GameTree[Any]) -> None:
    view = a_view(kuhn, [1.0, 0.0, 0.5], [0.1, 0.4, 0.2], [1.0, 0.0, -1.0])
    assert even_prior(view) == pytest.approx([1 / 3] * 3)
    assert mixed_prior(view) == pytest.approx([1 / 2, 1 / 6, 1 / 3])
    assert belief_prior(view) == pytest.approx([1 / 2, 0, 1 / 2])
    scale = kuhn.game.scale
    expected = np.exp([-scale / 0.5, 0.0, scale / 0.5])
    assert ValuePrior(0.5)(view) == pytest.approx(expected / expected.sum())


def test_priors_where_the_opponent_plays_to_nothing(kuhn: GameTree[Any]) -> None:
    view = a_view(kuhn, [0.0, 0.0, 0.0], [0.1, 0.4, 0.3], [1.0, 0.0, -1.0])
    assert mixed_prior(view) == pytest.approx([1 / 3] * 3)
    assert belief_prior(view) == pytest.approx([1 / 8, 4 / 8, 3 / 8])


def test_alternate_values_are_capped_by_the_mean_of_the_belief(kuhn: GameTree[Any]) -> None:
    view = a_view(kuhn, [1.0, 0.0, 1.0], [0.1, 0.4, 0.1], [1.0, 0.0, -0.6])
    assert alternate_values(view, "blueprint") == pytest.approx([1.0, 0.0, -0.6])
    assert alternate_values(view, "capped") == pytest.approx([0.2, 0.0, -0.6])
    assert alternate_values(view, "look") == pytest.approx([-0.6, 0.0, 0.2])


def test_values_when_all_is_seen_are_the_naive_ones(tiny_tree: GameTree[Any]) -> None:
    values = values_when_all_is_seen(tiny_tree)
    nodes = np.random.default_rng(1).choice(len(values), 20)
    for node in [0, *nodes.tolist()]:
        assert values[node] == pytest.approx(value_when_all_is_seen(tiny_tree, node))


def test_look_of_a_group_is_the_mean_over_its_nodes(tiny_tree: GameTree[Any]) -> None:
    policy = a_policy(tiny_tree, 3)
    solver = SubgameSolver(tiny_tree, np.zeros_like(policy), 1, Margins())
    infoset = int(np.flatnonzero(tiny_tree.infosets.player == MAX)[-1])
    roots = solver.roots(infoset, policy)
    view = solver.view(roots, policy)
    for group in range(view.sub.groups):
        nodes = roots.node[roots.group == group].tolist()
        weights = [reach(tiny_tree, policy, node) for node in nodes]
        seen = [value_when_all_is_seen(tiny_tree, node) for node in nodes]
        assert view.look[group] == pytest.approx(np.average(seen, weights=weights))


# -- the budget ---------------------------------------------------------------------------------


def test_budget_keeps_what_touches_our_infoset_and_then_the_likeliest(
    kuhn: GameTree[Any],
) -> None:
    view = a_view(kuhn, [1.0, 1.0, 1.0], [0.1, 0.4, 0.2], [0.0, 0.0, 0.0])
    everywhere = np.ones(3, np.bool_)
    assert LikeliestGroups(1).kept(view, everywhere).tolist() == [False, True, False]
    assert LikeliestGroups(2).kept(view, everywhere).tolist() == [False, True, True]
    assert LikeliestGroups(None).kept(view, everywhere).tolist() == [False, True, True]
    assert LikeliestGroups(9).kept(view, everywhere).all()
    first_only = np.array([True, False, False])
    assert LikeliestGroups(1).kept(view, first_only).tolist() == [True, False, False]


@pytest.mark.parametrize("order", [1, None])
def test_budget_that_is_never_reached_changes_nothing(
    tiny_tree: GameTree[Any], order: int | None
) -> None:
    policy = a_policy(tiny_tree, 4)
    floor = np.zeros_like(policy)
    root = SoftRoot(0.2)
    infoset = int(np.flatnonzero(tiny_tree.infosets.player == MAX)[-1])
    free = SubgameSolver(tiny_tree, floor, order, root).solve(infoset, policy)
    wide = SubgameSolver(tiny_tree, floor, order, root, LikeliestGroups(1000))
    assert np.array_equal(wide.solve(infoset, policy), free)


def test_budget_of_one_solves_for_one_of_the_opponents_infosets(kuhn: GameTree[Any]) -> None:
    """▲ then knows ▼'s card, so that it plays for sure what is best against it."""
    policy = a_policy(kuhn, 5)
    root = MaxmarginRoot(Margins())
    infoset = int(np.flatnonzero(kuhn.infosets.player == MAX)[0])
    free = SubgameSolver(kuhn, np.zeros_like(policy), 1, root)
    one = SubgameSolver(kuhn, np.zeros_like(policy), 1, root, LikeliestGroups(1))
    assert free.view(free.roots(infoset, policy), policy).sub.groups == 2
    first, last = kuhn.infosets.offsets[infoset : infoset + 2]
    changed = one.solve(infoset, policy)[first:last]
    assert sorted(changed.tolist()) == pytest.approx([0.0, 1.0])
