"""What a search holds at the root of its thinking, against a walk through the whole tree."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from obscuro.search.game import MAX
from obscuro.search.root_values import our_histories
from obscuro.search.search import Search
from obscuro.search.tree import LEAF, NODES, TERMINAL
from tools.play.losses import edges_along

from .naive import all_histories
from .random_game import OUR_KEY, RandomGame
from .test_subgame import likely_key
from .trees import grow_at_random, random_search, random_strategies

GAME = RandomGame(17, plies=20)


def searched(seed: int, expansions: int = 400) -> Search:
    """A search with random strategies and a random prior."""
    search = random_search(seed, infosets=5, game=GAME, expansions=expansions)
    rng = np.random.default_rng(seed)
    random_strategies(search.tree, rng)
    search.gadget.prior[:] = rng.dirichlet(np.ones(len(search.gadget.prior)))
    return search


def walked(search: Search, key: int, nodes_before: int) -> dict[int, tuple[bool, float]]:
    """By edge: whether its history of the infoset was expanded, and its share, in plain Python."""
    tree, found, reach = search.tree, {}, defaultdict(float)
    for history in all_histories(tree):
        if tree.edge_keys[history.edge, MAX] != key or tree.edge_status[history.edge] == TERMINAL:
            continue
        child = int(tree.edge_child[history.edge])
        found[history.edge] = child != LEAF and child < nodes_before
        reach[history.edge] = float(search.gadget.prior[history.path[0][0]])
        for node, action in history.path:
            reach[history.edge] *= float(tree.strategy[tree.node_first_action[node] + action])
    total = sum(reach.values())
    return {edge: (found[edge], reach[edge] / total if total else 0.0) for edge in found}


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_histories_of_our_infoset_with_their_shares(seed: int, depth: int) -> None:
    search = searched(seed)
    tree = search.tree
    key = likely_key(tree, depth) if depth else OUR_KEY
    before = int(tree.counts[NODES])
    grow_at_random(tree, GAME, np.random.default_rng(seed), 200)
    found = our_histories(
        tree, search.gadget.prior, np.uint64(key), at_roots=depth == 0, nodes_before=before
    )
    expected = walked(search, key, before)
    edges = sorted(expected)
    assert len(edges) >= 2
    assert found.edges.tolist() == edges
    np.testing.assert_array_equal(found.states, tree.edge_state[edges])
    assert found.expanded.tolist() == [expected[edge][0] for edge in edges]
    np.testing.assert_allclose(found.weights, [expected[edge][1] for edge in edges], rtol=1e-5)
    assert found.weights.sum() == pytest.approx(1) or not found.weights.any()


def test_what_is_expanded_only_during_the_search_does_not_count() -> None:
    search = searched(4, expansions=10)
    tree = search.tree
    before = int(tree.counts[NODES])
    grow_at_random(tree, GAME, np.random.default_rng(4), 2000)
    counts = [
        our_histories(
            tree, search.gadget.prior, np.uint64(OUR_KEY), at_roots=True, nodes_before=nodes
        ).expanded.sum()
        for nodes in (before, int(tree.counts[NODES]))
    ]
    assert counts[0] < counts[1]


def test_an_infoset_that_is_not_in_the_tree_has_no_history() -> None:
    search = searched(5)
    found = our_histories(
        search.tree, search.gadget.prior, np.uint64(1), at_roots=False, nodes_before=10
    )
    assert len(found.states) == len(found.expanded) == len(found.weights) == 0


def test_a_line_is_followed_as_far_as_the_tree_knows_it() -> None:
    tree = searched(6).tree
    longest = 0
    for history in all_histories(tree):
        (root, first), *below = history.path
        edge = int(tree.node_first_edge[root]) + first
        actions = [action for _, action in below]
        line = edges_along(tree, edge, actions)
        assert len(line) == len(below) and (not line or line[-1] == history.edge)
        if tree.edge_child[history.edge] == LEAF:
            assert edges_along(tree, edge, [*actions, 0]) == line
        longest = max(longest, len(line))
    assert longest >= 3
