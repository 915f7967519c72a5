"""What a trunk takes over from the last one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from obscuro.research.games.game_tree import GameTree
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.zs21.blueprint import SolvedTrunk, keep, margins
from obscuro.research.zs21.chess_trunk import plant
from obscuro.research.zs21.gadget_program import Profile
from obscuro.research.zs21.trunk import LEAF, GrownLeaves, Words
from obscuro.search.game import CHANCE, MAX, MIN

from ..games.conftest import tree_of
from .small_games import SmallTrunkGame, blueprint, expand_level, mixed_policy, whole_game

NO_STATES = np.zeros((0, 1), dtype=np.uint64), np.zeros((0, 2), dtype=np.uint64)
GAMES = ("kuhn", "leduc", "goofspiel_random", "matching_pennies")
every_game = pytest.mark.parametrize("name", GAMES)


def some_infosets(tree: GameTree[Any], count: int) -> list[int]:
    """▲'s infosets, spread over the depths."""
    mine = np.flatnonzero(tree.infosets.player == MAX)
    return mine[np.linspace(0, len(mine) - 1, count).astype(int)].tolist()


def worth(tree: GameTree[Any], policy: np.ndarray, members: dict[int, float]) -> float:
    """What ▼ can't bring ▲ below from nodes that ▼ can't tell apart, each with its reach."""
    below: dict[int, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    total = 0.0
    mover = MAX
    for node, reach in members.items():
        degree = int(tree.degree[node])
        if not degree:
            total += reach * float(tree.payoff[node])
            continue
        mover = int(tree.player[node])
        for index in range(degree):
            child = int(tree.first[node]) + index
            played = 1.0
            if mover == CHANCE:
                played = float(tree.chance[child])
            elif mover == MAX:
                played = float(policy[tree.slot[child]])
            answer = index if mover == MIN else 0
            below[answer][int(tree.keys[child, MIN])][child] = reach * played
    sums = [
        sum(worth(tree, policy, each) for each in classes.values()) for classes in below.values()
    ]
    return total + (min(sums) if sums else 0.0)


def class_of(tree: GameTree[Any], policy: np.ndarray, node: int) -> dict[int, float]:
    """All nodes that ▼ can't tell from a node, with their reach by chance and ▲."""
    reach = SequenceForm(tree).reach(policy)
    return {
        int(other): float(reach[other])
        for other in np.flatnonzero(tree.keys[:, MIN] == tree.keys[node, MIN])
    }


@every_game
def test_the_old_strategy_has_no_margin_over_itself(name: str) -> None:
    tree = tree_of(name)
    policy = mixed_policy(tree, 7)
    form = SequenceForm(tree)
    mine = form.reach(policy) / form.chance
    for infoset in some_infosets(tree, 6):
        solution = blueprint(tree, policy)
        kept = keep(
            solution, int(tree.infosets.key[infoset]), np.random.default_rng(1), reach=False
        )
        trunk = plant(solution.trunk.game, solution, kept, *NO_STATES, lambda: False)
        while expand_level(trunk):
            pass
        nodes = trunk.nodes
        state = nodes.state[:, 0].astype(np.int64)
        here = mine[state[np.flatnonzero(nodes.live)[0]]]
        x = np.zeros(trunk.tables[MAX].size)
        x[nodes.sequence[nodes.live, MAX]] = mine[state[nodes.live]] / here
        profile = Profile(x, np.zeros(trunk.tables[MIN].size), 0.0, 0.0, "maxmargin")
        assert margins(SolvedTrunk(trunk, profile, len(trunk))) == pytest.approx(0.0, abs=1e-9)


@every_game
def test_alternate_values_are_best_responses_less_gifts(name: str) -> None:
    tree = tree_of(name)
    policy = mixed_policy(tree, 11)
    for infoset in some_infosets(tree, 4):
        solution = blueprint(tree, policy)
        kept = keep(solution, int(tree.infosets.key[infoset]), np.random.default_rng(1))
        for group in range(len(kept.alternate)):
            nodes = solution.trunk.nodes
            members = kept.group == group
            node = int(nodes.state[kept.node[members][0], 0])
            same = class_of(tree, policy, node)
            live = nodes.state[kept.node[members & kept.live], 0].astype(int)
            own = sum(same[each] for each in live.tolist())
            gift = 0.0
            child = node
            while child:
                above = int(tree.parent[child])
                if tree.player[above] == MIN:
                    choice = child - int(tree.first[above])
                    place = class_of(tree, policy, above)
                    after: dict[int, dict[int, float]] = defaultdict(dict)
                    for each, reach in place.items():
                        next_ = int(tree.first[each]) + choice
                        after[int(tree.keys[next_, MIN])][next_] = reach
                    chosen = sum(worth(tree, policy, each) for each in after.values())
                    gift += (chosen - worth(tree, policy, place)) / sum(place.values())
                child = above
            expected = worth(tree, policy, same) / own - gift
            assert kept.alternate[group] == pytest.approx(expected, abs=1e-9)
            assert gift >= -1e-12


def test_an_unknown_infoset_keeps_nothing() -> None:
    solution = blueprint(tree_of("kuhn"), mixed_policy(tree_of("kuhn"), 1))
    kept = keep(solution, 12345, np.random.default_rng(1))
    assert len(kept.node) == 0
    assert kept.value == np.inf


def test_what_was_expanded_after_the_solution_is_a_leaf_again() -> None:
    tree = tree_of("goofspiel_random")
    trunk = whole_game(tree, plies=4)
    size = len(trunk)
    x = np.zeros(trunk.tables[MAX].size)
    x[trunk.nodes.sequence[:, MAX]] = 1.0  # as if every action were certain
    profile = Profile(x, np.zeros(trunk.tables[MIN].size), 0.0, 0.0, "maxmargin")
    expand_level(trunk)
    assert len(trunk) > size
    deep = np.flatnonzero((trunk.nodes.depth == 4) & (trunk.nodes.first != LEAF))
    key = int(trunk.nodes.key[deep[0], MAX])
    solution = SolvedTrunk(trunk, profile, size)
    kept = keep(solution, key, np.random.default_rng(1))
    assert len(kept.node)
    next_ = plant(trunk.game, solution, kept, *NO_STATES, lambda: False)
    assert next_.carried == len(kept.node)  # the roots alone
    assert len(next_) > next_.carried  # which were expanded anew


class Alike(SmallTrunkGame):
    """A game in which all states are transpositions of one another."""

    state_words = 2

    def grow(self, states: Words, keys: Words) -> GrownLeaves:
        grown = super().grow(states[:, 1:], keys)
        same = np.zeros_like(grown.states)
        return grown._replace(states=np.concatenate((same, grown.states), axis=1))


def test_of_transpositions_one_is_kept() -> None:
    tree = tree_of("leduc")
    policy = mixed_policy(tree, 2)
    infoset = some_infosets(tree, 6)[0]
    key = int(tree.infosets.key[infoset])
    apart = keep(blueprint(tree, policy), key, np.random.default_rng(1))
    merged = keep(blueprint(tree, policy, Alike), key, np.random.default_rng(1))
    assert apart.live.sum() > 1
    assert merged.live.sum() == 1
    others = {
        int(keep(blueprint(tree, policy, Alike), key, np.random.default_rng(seed)).node[0])
        for seed in range(6)
    }
    assert len(others) > 1  # a random one
