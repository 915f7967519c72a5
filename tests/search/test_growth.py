from __future__ import annotations

import numpy as np
import pytest

from obscuro.search.game import CHANCE, MAX, MIN, Expansion
from obscuro.search.parameters import SearchParameters
from obscuro.search.tree import (
    ACTIONS,
    EDGES,
    FULL,
    INFOSETS,
    LEAF,
    NODES,
    OPEN,
    ROOM_FOR_ROOTS,
    TERMINAL,
    Tree,
    allocate_tree,
    attach,
    find_infoset,
    has_room,
    infoset_for,
    new_infoset,
)
from tests.search.invariants import check

from .random_game import OUR_KEY, RandomGame
from .trees import (
    actions_of,
    copied,
    grow_at_random,
    open_leaves,
    random_search,
    run_iterations,
)


def expand_one(tree: Tree, game: RandomGame, leaf: int, freeze: bool = False) -> Expansion:
    """Attach the children of one open leaf, chosen by its place among them."""
    edges, above = (array[leaf : leaf + 1] for array in open_leaves(tree))
    expansion = game.expand(tree.edge_state[edges], tree.edge_keys[edges])
    attach(tree, np.uint64(OUR_KEY), freeze, edges, above, expansion)
    return expansion


@pytest.mark.parametrize("seed", range(4))
def test_a_grown_tree_keeps_all_invariants(seed: int) -> None:
    check(random_search(seed, expansions=1000).tree)


@pytest.mark.parametrize("seed", range(3))
def test_a_new_infoset_is_pure_on_the_child_best_for_its_player(seed: int) -> None:
    game = RandomGame(seed)
    tree = random_search(seed, expansions=0).tree
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(150):
        edges, _ = open_leaves(tree)
        infosets, before = int(tree.counts[INFOSETS]), copied(tree)
        expansion = expand_one(tree, game, int(rng.integers(len(edges))))
        player, infoset = int(expansion.player[0]), int(tree.node_infoset[tree.counts[NODES] - 1])
        strategy = tree.strategy[actions_of(tree, infoset)]
        seen.add((player, infoset >= infosets))
        if player == CHANCE:
            assert infoset >= infosets
            assert np.array_equal(strategy, expansion.chance)
        elif infoset >= infosets:
            best = np.argmax(expansion.values * (1 if player == MAX else -1))
            assert strategy.tolist() == np.eye(len(strategy))[best].tolist()
        else:
            assert np.array_equal(strategy, before.strategy[actions_of(before, infoset)])
    assert seen == {(CHANCE, True), (MAX, True), (MIN, True), (MAX, False), (MIN, False)}


def test_an_expansion_becomes_a_node_with_its_children_as_leaves() -> None:
    game = RandomGame(1)
    tree = random_search(1, expansions=60).tree
    (edge, *_), (above, *_) = open_leaves(tree)
    expansion = expand_one(tree, game, 0)
    node = int(tree.counts[NODES]) - 1
    assert (tree.edge_child[edge], tree.edge_status[edge]) == (node, OPEN)
    assert (tree.node_parent[node], tree.node_parent_edge[node]) == (above, edge)
    assert tree.node_depth[node] == tree.node_depth[above] + 1
    assert tree.node_new[node] == 1
    first, count = int(tree.node_first_edge[node]), len(expansion.values)
    assert (first + count, count) == (tree.counts[EDGES], tree.node_edges[node])
    children = slice(first, first + count)
    assert np.array_equal(tree.edge_state[children], expansion.states)
    assert np.array_equal(tree.edge_keys[children], expansion.keys)
    assert np.array_equal(tree.edge_value[children], expansion.values)
    assert (tree.edge_child[children] == LEAF).all()
    assert np.array_equal(tree.edge_status[children] == TERMINAL, expansion.terminal == 1)


def test_a_new_infoset_starts_without_statistics_but_the_prior_samples() -> None:
    tree = random_search(1, expansions=60).tree
    expand_one(tree, RandomGame(1), 0)
    infoset = int(tree.counts[INFOSETS]) - 1
    actions = actions_of(tree, infoset)
    assert tree.infoset_visits[infoset] == tree.infoset_reach[infoset] == 0
    for name in ("regret", "cfv", "picks", "value_mean"):
        assert not getattr(tree, name)[actions].any(), name
    assert (tree.value_spread[actions] == 2).all()


def test_a_leaf_that_has_been_expanded_is_not_expanded_twice() -> None:
    tree = random_search(1, expansions=60).tree
    edges, above = (array[:1] for array in open_leaves(tree))
    expansion = RandomGame(1).expand(tree.edge_state[edges], tree.edge_keys[edges])
    key = np.uint64(OUR_KEY)
    assert attach(tree, key, False, edges, above, expansion)[0] == 1
    before = copied(tree)
    assert attach(tree, key, False, edges, above, expansion) == (0, 0)
    assert np.array_equal(tree.counts, before.counts)


def test_two_infosets_with_one_key_are_kept_apart() -> None:
    tree = allocate_tree(4096, 2)
    new_infoset(tree, np.uint64(0), MIN, 1)
    values, none = np.array([0.1, 0.3], np.float32), np.zeros(3, np.float32)
    key = np.uint64(77)
    two = infoset_for(tree, key, MAX, values, none, 1, False)
    assert infoset_for(tree, key, MAX, values, none, 1, False) == two
    three = infoset_for(tree, key, MAX, none, none, 1, False)
    assert three != two
    assert find_infoset(tree, key) == two


# -- whose infosets are ours, and freezing ----------------------------------------------------------


def test_the_subtrees_of_root_states_with_our_key_are_ours() -> None:
    tree = random_search(2, expansions=400).tree
    roots = int(tree.infoset_actions[0])
    for node in range(roots, int(tree.counts[NODES])):
        top = node
        while tree.node_parent[top] >= roots:
            top = int(tree.node_parent[top])
        key = tree.edge_keys[tree.node_parent_edge[top], MAX]
        assert tree.node_ours[node] == (key == OUR_KEY)
    assert 0 < np.count_nonzero(tree.node_ours) < tree.counts[NODES] - roots


def test_freezing_keeps_our_other_infosets_as_they_were_made() -> None:
    search = random_search(2, expansions=400, parameters=SearchParameters(unfrozen=False))
    tree = search.tree
    for node in range(int(tree.infoset_actions[0]), int(tree.counts[NODES])):
        expected = tree.node_player[node] == MAX and not tree.node_ours[node]
        assert tree.infoset_frozen[tree.node_infoset[node]] == expected
    before = copied(tree)
    run_iterations(search, 20)
    count = int(tree.counts[INFOSETS])
    frozen = np.flatnonzero(tree.infoset_frozen[:count])
    assert len(frozen)
    for i in frozen:
        actions = actions_of(tree, int(i))
        assert np.array_equal(tree.strategy[actions], before.strategy[actions])
    assert not np.array_equal(tree.strategy, before.strategy)


# -- a full tree -----------------------------------------------------------------------------------


def test_a_tree_has_room_until_only_the_margin_for_roots_is_left() -> None:
    tree = allocate_tree(6000, 2, nodes=1500)
    assert has_room(tree, 10)
    for count, capacity in ((NODES, 1500), (INFOSETS, 1500), (EDGES, 6000), (ACTIONS, 6000)):
        per_call = 1 if capacity == 1500 else 10
        tree.counts[count] = capacity - ROOM_FOR_ROOTS - per_call
        full = not has_room(tree, 10)
        assert full == (capacity == 1500)  # of nodes and infosets one more stays free
        tree.counts[count] += 1
        assert not has_room(tree, 10)
        tree.counts[count] = 0


def test_what_does_not_fit_is_left_a_leaf_and_the_tree_says_so() -> None:
    game, rng = RandomGame(3), np.random.default_rng(3)
    tree = allocate_tree(4096, 2, nodes=ROOM_FOR_ROOTS + 200)
    search = random_search(3, game=game, expansions=0)
    search.spare = tree
    search.begin(OUR_KEY, game.roots(4, 6, rng), [])
    with pytest.raises(AssertionError):  # the helper wants all of them attached
        grow_at_random(search.tree, game, rng, 1000)
    assert search.tree is tree
    assert tree.counts[FULL] == 1
    assert tree.counts[NODES] == 199
    check(tree)
    run_iterations(search, 10)
    check(tree)
