"""Transpositions: which nodes have the same future, and what merging them does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.klss_rows import ROWS, floor_of, normalisation
from obscuro.research.games.root_rules import MergedTranspositions, transpositions
from obscuro.research.games.subgame_program import AsSolved, Margins
from obscuro.search.game import MAX, MIN

from .naive_subgames import children
from .test_klss import mixed_policy


def ours(tree: GameTree[Any]) -> list[NDArray[np.int64]]:
    """The nodes of each of ▲'s infosets."""
    infosets = np.flatnonzero(tree.infosets.player == MAX)
    return [np.flatnonzero(tree.infoset == infoset) for infoset in infosets.tolist()]


def walks(tree: GameTree[Any], node: int) -> dict[tuple[int, ...], int]:
    """The node to which each sequence of actions leads."""
    found = {(): node}
    for child in children(tree, node):
        action = int(tree.action[child])
        found |= {(action, *later): end for later, end in walks(tree, child).items()}
    return found


def same_future(tree: GameTree[Any], one: int, other: int) -> bool:
    """K's definition, sequence by sequence; of what ▼ observes only what it can tell apart counts."""
    mine, theirs = walks(tree, one), walks(tree, other)
    if mine.keys() != theirs.keys():
        return False
    for actions, end in mine.items():
        twin = theirs[actions]
        if tree.player[end] != tree.player[twin] or tree.payoff[end] != tree.payoff[twin]:
            return False
        if tree.player[end] != TERMINAL and tree.keys[end, MAX] != tree.keys[twin, MAX]:
            return False
        if actions and tree.chance[end] != tree.chance[twin]:
            return False
        for others, far in mine.items():
            apart = tree.keys[end, MIN] != tree.keys[far, MIN]
            if len(others) == len(actions) and apart != bool(
                tree.keys[twin, MIN] != tree.keys[theirs[others], MIN]
            ):
                return False
    return True


def test_nodes_of_one_number_have_the_same_future(tiny_tree: GameTree[Any]) -> None:
    for nodes in ours(tiny_tree)[:20]:
        numbers = transpositions(tiny_tree, nodes)
        for i, one in enumerate(nodes.tolist()):
            for j, other in enumerate(nodes.tolist()):
                assert (numbers[i] == numbers[j]) == same_future(tiny_tree, one, other)


def test_cards_that_both_win_are_transpositions(kuhn: GameTree[Any]) -> None:
    """▲'s jack loses to the queen and to the king; ▲'s queen wins one and loses one."""
    for nodes in ours(kuhn):
        card = kuhn.states[nodes[0]].cards[0]
        assert len(set(transpositions(kuhn, nodes).tolist())) == (2 if card == 1 else 1)


def test_boards_of_another_order_are_transpositions_in_dark_hex() -> None:
    tree = enumerate_game(ROWS["dark_hex"].make())
    merged = [len(nodes) - len(set(transpositions(tree, nodes).tolist())) for nodes in ours(tree)]
    assert (sum(merged), np.count_nonzero(merged)) == (36, 18)


def test_matching_pennies_have_no_transpositions() -> None:
    tree = enumerate_game(ROWS["matching_pennies"].make())
    assert all(len(set(transpositions(tree, nodes).tolist())) == len(nodes) for nodes in ours(tree))


# -- merging ------------------------------------------------------------------------------------


def test_one_infoset_of_the_opponent_stays_for_each_future(tiny_tree: GameTree[Any]) -> None:
    policy = mixed_policy(tiny_tree, 1)
    solver = SubgameSolver(tiny_tree, np.zeros_like(policy), 1, Margins())
    for infoset in np.flatnonzero(tiny_tree.infosets.player == MAX).tolist()[:20]:
        roots = solver.roots(infoset, policy)
        view = solver.view(roots, policy)
        nodes = roots.node[roots.live]
        numbers = transpositions(tiny_tree, nodes)
        here = np.ones(len(nodes), np.int64)
        for seed in range(3):
            kept = MergedTranspositions(seed).kept(view, here)
            assert np.array_equal(kept, MergedTranspositions(seed).kept(view, here))
            group = roots.group[roots.live]
            assert sorted(numbers[kept[group]].tolist()) == sorted(set(numbers.tolist()))


class Row:
    """A row of the paper's table: exploitability of the blueprint and after 1-KLSS."""

    def __init__(self, name: str) -> None:
        self.tree = enumerate_game(ROWS[name].make())
        self.floor = floor_of(self.tree, ROWS[name])
        self.value = least_exploitable(self.tree, np.zeros_like(self.floor), AsSolved()).value
        self.policy = least_exploitable(self.tree, self.floor, AsSolved()).policy

    def lost(self, policy: NDArray[np.float64]) -> float:
        return (self.value - guaranteed(self.tree, policy)) * normalisation(self.tree)

    def after(self, seed: int | None) -> float:
        budget = None if seed is None else MergedTranspositions(seed)
        solver = SubgameSolver(self.tree, self.floor, 1, Margins(), budget)
        return self.lost(solver.solve_everywhere(self.policy).policy)


@pytest.mark.parametrize("name", ["dark_hex", "goofspiel_increasing"])
def test_merging_changes_nothing_where_a_position_counts(name: str) -> None:
    row = Row(name)
    assert [row.after(seed) for seed in range(4)] == pytest.approx([row.after(None)] * 4, abs=1e-6)


def test_merging_is_over_optimistic_in_poker() -> None:
    """K, Section 4. ▲'s jack then faces the queen or the king, which ▼ plays differently."""
    row = Row("kuhn")
    after = [row.after(seed) for seed in range(6)]
    assert min(after) == pytest.approx(row.after(None), abs=1e-6)
    assert max(after) > 2 * row.lost(row.policy)


@pytest.mark.parametrize("order", [2, COMMON_KNOWLEDGE])
def test_other_orders_are_refused(kuhn: GameTree[Any], order: int | None) -> None:
    policy = mixed_policy(kuhn, 1)
    budget = MergedTranspositions(0)
    solver = SubgameSolver(kuhn, np.zeros_like(policy), order, Margins(), budget)
    with pytest.raises(ValueError, match="1-KLSS only"):
        solver.solve_everywhere(policy)
