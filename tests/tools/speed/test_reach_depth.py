"""The depth that the players' own strategies reach, against a recursion."""

import pytest

from obscuro.search.tree import LEAF, ROOT_INFOSET, ROOTS, Tree
from tests.search.test_subgame import a_turn
from tools.speed.search_scale import reach_weighted_depth


def plies_below(tree: Tree, node: int, reach: float) -> tuple[float, float]:
    """Reach times plies of the leaves below a node, and their reach."""
    plies = total = 0.0
    for k in range(int(tree.node_edges[node])):
        weight = reach * float(tree.strategy[tree.node_first_action[node] + k])
        child = int(tree.edge_child[tree.node_first_edge[node] + k])
        if child == LEAF:
            plies += weight * (int(tree.node_depth[node]) + 1)
            total += weight
        else:
            below, there = plies_below(tree, child, weight)
            plies, total = plies + below, total + there
    return plies, total


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_mean_over_play(seed: int) -> None:
    tree = a_turn(seed, 2).search.tree
    first = int(tree.infoset_first[ROOT_INFOSET])
    sums = [
        plies_below(tree, j, float(tree.strategy[first + j]))
        for j in range(int(tree.counts[ROOTS]))
    ]
    expected = sum(p for p, _ in sums) / sum(t for _, t in sums)
    assert 1 < expected < 10
    assert reach_weighted_depth(tree) == pytest.approx(expected, rel=1e-5)


def test_where_nothing_is_reached_it_is_nothing() -> None:
    tree = a_turn(0, 2).search.tree
    first = int(tree.infoset_first[ROOT_INFOSET])
    tree.strategy[first : first + int(tree.counts[ROOTS])] = 0
    assert reach_weighted_depth(tree) == 0
