from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import (
    NO_SLOT,
    GameTree,
    best_response,
    expected_value,
    exploitability,
    strategy_of,
)
from obscuro.research.games.klss import guaranteed, least_exploitable
from obscuro.research.games.kuhn import BET
from obscuro.research.games.sequence_form import (
    SequenceForm,
    SubgameRoots,
    answer_values,
    answers_by,
    played_from_roots,
    policy_from,
    subgame_form,
)
from obscuro.research.games.subgame_program import AsSolved
from obscuro.search.game import MAX, MIN

from .conftest import tree_of
from .naive_subgames import answer, groups, reach
from .oracle import random_policy

WHOLE = SubgameRoots(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_))


def roots_at_random(tree: GameTree[Any], rng: np.random.Generator) -> SubgameRoots:
    """Some of ▼'s classes at one of ▲'s plies, some of their nodes live, at least one in each."""
    level = int(rng.choice(np.unique(_level(tree)[tree.player == MAX])))
    nodes = np.flatnonzero((_level(tree) == level) & (tree.player != TERMINAL)).tolist()
    parts = groups(tree, set(rng.choice(nodes, size=min(3, len(nodes))).tolist()))
    live = [rng.random(len(part)) < 0.5 for part in parts]
    for part in live:
        part[rng.integers(len(part))] = True
    number = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return SubgameRoots(np.concatenate(parts).astype(np.int64), number, np.concatenate(live))


def _level(tree: GameTree[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.searchsorted(tree.levels, np.arange(len(tree.states)), side="right")


def mixed_policy(tree: GameTree[Any], seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Random probabilities, none 0."""
    form = SequenceForm(tree)
    return 0.9 * random_policy(tree, np.random.default_rng(seed)) + 0.1 * form.uniform()


@pytest.mark.parametrize("name", ["kuhn", "goofspiel_increasing", "matching_pennies", "leduc"])
def test_equilibrium_has_the_known_value_and_cannot_be_exploited(name: str) -> None:
    tree = tree_of(name)
    solved = least_exploitable(tree, np.zeros(len(tree.infosets.action)), AsSolved())
    assert solved.value == pytest.approx(CATALOG[name].value, abs=1e-8)
    strategy = strategy_of(tree, solved.policy)
    assert exploitability(tree, strategy) == pytest.approx(0.0, abs=1e-6 / tree.game.scale)
    assert expected_value(tree, strategy) == pytest.approx(solved.value, abs=1e-6 / tree.game.scale)


def test_floor_costs_what_the_best_response_takes(small_tree: GameTree[Any]) -> None:
    degrees = np.diff(small_tree.infosets.offsets)
    floor = np.repeat(np.where(small_tree.infosets.player == MAX, 0.25 / degrees, 0.0), degrees)
    solved = least_exploitable(small_tree, floor, AsSolved())
    assert solved.value == pytest.approx(guaranteed(small_tree, solved.policy), abs=1e-6)
    free = least_exploitable(small_tree, np.zeros_like(floor), AsSolved())
    assert solved.value <= free.value + 1e-9
    reached = SequenceForm(small_tree).reach(solved.policy) > 0.0
    used = small_tree.infoset[reached & (small_tree.player == MAX)]
    slots = np.isin(np.repeat(np.arange(len(degrees)), degrees), used)
    assert np.all(solved.policy[slots] >= floor[slots] - 1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_reach_is_the_product_along_the_path(small_tree: GameTree[Any], seed: int) -> None:
    policy = random_policy(small_tree, np.random.default_rng(seed))
    found = SequenceForm(small_tree).reach(policy)
    nodes = np.random.default_rng(seed).choice(len(small_tree.states), 50)
    expected = [reach(small_tree, policy, int(node)) for node in nodes]
    assert found[nodes] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(2))
def test_answer_to_the_whole_game_is_the_best_response(
    small_tree: GameTree[Any], seed: int
) -> None:
    form = SequenceForm(small_tree)
    policy = random_policy(small_tree, np.random.default_rng(seed))
    sub = subgame_form(form, WHOLE, policy)
    x = played_from_roots(form, sub, policy)
    expected = -best_response(small_tree, strategy_of(small_tree, policy), MIN)[0]
    assert answer_values(form, sub, x) == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_answers_below_roots_are_the_naive_ones(small_tree: GameTree[Any], seed: int) -> None:
    """▲ plays another policy below live roots, and the one before below those that are frozen."""
    form = SequenceForm(small_tree)
    before, after = (mixed_policy(small_tree, 2 * seed + turn) for turn in (0, 1))
    roots = roots_at_random(small_tree, np.random.default_rng(seed))
    live = dict(zip(roots.node.tolist(), roots.live.tolist(), strict=True))

    def mine(child: int) -> float:
        root = child
        while root not in live:
            root = int(small_tree.parent[root])
        return float((after if live[root] else before)[small_tree.slot[child]])

    sub = subgame_form(form, roots, before)
    values = answer_values(form, sub, played_from_roots(form, sub, after))
    for group in range(sub.groups):
        here = roots.group == group
        weights = {node: reach(small_tree, before, node) for node in roots.node[here].tolist()}
        total = sum(weights.values())
        alive = sum(reach(small_tree, before, node) for node in roots.node[here & roots.live])
        assert sub.weight[group] == pytest.approx(total, abs=1e-12)
        assert sub.alive[group] == pytest.approx(alive / total, abs=1e-12)
        assert values[group] * total == pytest.approx(answer(small_tree, mine, weights), abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_expectation_is_bilinear(small_tree: GameTree[Any], seed: int) -> None:
    form = SequenceForm(small_tree)
    policy = random_policy(small_tree, np.random.default_rng(seed))
    sub = subgame_form(form, WHOLE, policy)
    x, y = played_from_roots(form, sub, policy), answers_by(form, sub, policy)
    expected = expected_value(small_tree, strategy_of(small_tree, policy))
    assert y @ (sub.payoff @ x + sub.fixed) == pytest.approx(expected, abs=1e-9)


def test_plan_becomes_the_policy_it_was_made_from(small_tree: GameTree[Any]) -> None:
    form = SequenceForm(small_tree)
    policy = mixed_policy(small_tree, 5)
    sub = subgame_form(form, WHOLE, policy)
    x = played_from_roots(form, sub, policy)
    again = policy_from(form, sub.infosets, sub.slots, x, form.uniform())
    mine = np.repeat(small_tree.infosets.player == MAX, np.diff(small_tree.infosets.offsets))
    assert again[mine] == pytest.approx(policy[mine], abs=1e-9)
    assert np.array_equal(again[~mine], form.uniform()[~mine])


def test_plan_leaves_infosets_alone_that_it_does_not_get_to(kuhn: GameTree[Any]) -> None:
    """▲ always bets, and so is never asked to call."""
    form = SequenceForm(kuhn)
    policy = np.where(kuhn.infosets.action == BET, 1.0, 0.0)
    sub = subgame_form(form, WHOLE, policy)
    x = played_from_roots(form, sub, policy)
    again = policy_from(form, sub.infosets, sub.slots, x, form.uniform())
    opening = np.isin(np.arange(len(policy)), sub.slots) & (form.before[form.infoset_of] == NO_SLOT)
    assert np.array_equal(again[opening], policy[opening])
    assert np.array_equal(again[~opening], form.uniform()[~opening])
