"""The arrays of a tree, and how it grows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from obscuro.search.game import CHANCE, MAX, MIN, Expansion
from obscuro.search.pace import Limits
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.tree import (
    ACTIONS,
    EDGES,
    FULL,
    INFOSETS,
    LEAF,
    NODES,
    OPEN,
    ROOM_FOR_ROOTS,
    ROOTS,
    TERMINAL,
    Tree,
    allocate_tree,
    attach,
    bytes_per_edge,
    find_infoset,
    has_room,
    infoset_for,
    new_infoset,
)
from tests.search.invariants import check
from tests.sizes import quick_among

from .random_game import OUR_KEY, RandomGame
from .test_subgame import next_keys
from .trees import (
    actions_of,
    copied,
    grow_at_random,
    open_leaves,
    random_search,
    run_iterations,
)

# -- a thousand random operations ------------------------------------------------------------------


KINDS = ("grow", "select", "solve", "turn", "lost")


@pytest.mark.parametrize(
    ("operations", "unfrozen"),
    quick_among(product([300, 1000], [True, False]), lambda case: case == (300, True)),
)
def test_random_operations_keep_every_invariant(unfrozen: bool, operations: int) -> None:
    """Leaves expanded at random or by selection, iterations, searches, turns, lost places."""
    rng = np.random.default_rng(7)
    game = RandomGame(7, plies=200, movers=(MAX, MIN))
    search = Search([game], SearchParameters(unfrozen=unfrozen), 4 << 20, seed=7)
    our_key, turns, done = OUR_KEY, 0, dict.fromkeys(KINDS, 0)
    search.begin(our_key, game.roots(3, 4, rng), [])
    for _ in range(operations):
        what = rng.choice(list(done), p=(0.4, 0.25, 0.25, 0.07, 0.03))
        if what == "grow":
            expand_at_random(search, game, rng, our_key)
        elif what == "select":
            search.expand_once()
        elif what == "solve":
            run_iterations(search, int(rng.integers(1, 4)))
        else:
            turns += 1
            search.run(Limits(nodes=search.progress.nodes + 100), threading.Event())
            on = next_keys(search.tree, our_key) if what == "turn" else []
            our_key = int(rng.choice(np.array(on, np.uint64))) if on else 1000 + turns
            search.keep(our_key, 2)
            new = game.roots(int(rng.integers(1, 5)), 1, rng, 2 * turns)
            new.keys[:, MAX] = our_key
            pieces = [search.expand_roots(new.states, new.keys)] if rng.random() < 0.7 else []
            search.begin(our_key, new, pieces)
            if rng.random() < 0.5:
                run_iterations(search, 1)
            search.expand_once()
            search.run(Limits(nodes=50), threading.Event())
        check(search.tree)
        done[str(what)] += 1
    assert min(done.values()) > operations // 100, done


def expand_at_random(
    search: Search, game: RandomGame, rng: np.random.Generator, our_key: int
) -> None:
    """Expand a few open leaves, whichever they are."""
    edges, above = open_leaves(search.tree)
    chosen = rng.choice(len(edges), min(len(edges), 4), replace=False)
    edges, above = edges[chosen], above[chosen]
    expansion = game.expand(search.tree.edge_state[edges], search.tree.edge_keys[edges])
    freeze = not search.parameters.unfrozen
    attach(search.tree, np.uint64(our_key), freeze, edges, above, expansion)


# -- what is broken is found -----------------------------------------------------------------------

Break = Callable[[Tree], None]


def inner_nodes(tree: Tree, player: int) -> list[int]:
    """Nodes below the root states that belong to a player, deepest last."""
    nodes = np.arange(int(tree.counts[ROOTS]), int(tree.counts[NODES]))
    mine = nodes[tree.node_player[nodes] == player]
    found: list[int] = mine[np.argsort(tree.node_depth[mine], kind="stable")].tolist()
    return found


def move_to_infoset(tree: Tree, node: int, infoset: int) -> None:
    """Make a node one of an infoset of as many actions."""
    tree.node_infoset[node] = infoset
    tree.node_first_action[node] = tree.infoset_first[infoset]
    for child in np.flatnonzero(tree.node_parent[: tree.counts[NODES]] == node):
        slot = tree.node_parent_edge[child] - tree.node_first_edge[node]
        tree.node_parent_action[child] = tree.infoset_first[infoset] + slot


def to_a_foreign_infoset(tree: Tree, *, with_its_key: bool) -> None:
    """Move one of several nodes of an infoset to another one of its player after other actions."""
    nodes = [node for node in inner_nodes(tree, MIN) if tree.node_depth[node] > 1]
    for node in nodes:
        for other in nodes:
            own, foreign = int(tree.node_infoset[node]), int(tree.node_infoset[other])
            same_size = tree.infoset_actions[own] == tree.infoset_actions[foreign]
            several = np.count_nonzero(tree.node_infoset == own) > 1
            if (
                own != foreign
                and same_size
                and several
                and root_of(tree, node) != root_of(tree, other)
            ):
                move_to_infoset(tree, node, foreign)
                if with_its_key:
                    tree.edge_keys[tree.node_parent_edge[node], MIN] = tree.infoset_key[foreign]
                return
    raise LookupError("no two such infosets")


def root_of(tree: Tree, node: int) -> int:
    """The J that a node is under; for ▼, J is an own choice."""
    while tree.node_parent[node] >= 0:
        node = int(tree.node_parent[node])
    return node


def give_two_infosets_one_key(tree: Tree) -> None:
    """▲ moves at the root states, so that ▼'s keys there are no infosets yet."""
    tree.edge_keys[tree.node_first_edge[:2], MIN] = 4711


def set_at(name: str, place: Callable[[Tree], object], value: float) -> Break:
    def broken(tree: Tree) -> None:
        getattr(tree, name)[place(tree)] = value

    return broken


def first_action_of(player: int) -> Callable[[Tree], int]:
    return lambda tree: int(tree.node_first_action[inner_nodes(tree, player)[0]])


def our_infoset(tree: Tree) -> int:
    """An infoset of ▲'s within our subtrees."""
    ours = (node for node in inner_nodes(tree, MAX) if tree.node_ours[node])
    return int(tree.node_infoset[next(ours)])


def last(player: int) -> Callable[[Tree], int]:
    return lambda tree: inner_nodes(tree, player)[-1]


def above_last(array: str) -> Callable[[Tree], object]:
    """What `array` says of the deepest node of ▲'s."""
    return lambda tree: getattr(tree, array)[inner_nodes(tree, MAX)[-1]]


BREAKS: list[tuple[str, Break]] = [
    ("stored before its parent", set_at("node_parent", last(MAX), 10**6)),
    ("lost its parent", set_at("node_parent", last(MAX), -1)),
    ("not its parent's", set_at("node_parent", last(MAX), 0)),
    ("child and parent disagree", set_at("edge_child", above_last("node_parent_edge"), 1)),
    ("without children", set_at("node_edges", last(MAX), 0)),
    ("action is not the edge's", set_at("node_parent_action", last(MAX), 0)),
    ("players differ", set_at("node_player", last(MAX), MIN)),
    ("a wrong depth", set_at("node_depth", last(MAX), 77)),
    ("foreign infoset", lambda tree: to_a_foreign_infoset(tree, with_its_key=False)),
    ("own actions differ", lambda tree: to_a_foreign_infoset(tree, with_its_key=True)),
    ("two J with one key", give_two_infosets_one_key),
    ("not in the table", set_at("table", lambda tree: np.s_[:], 0)),
    ("not its infoset's", set_at("infoset_first", lambda tree: int(tree.counts[INFOSETS]) - 1, 1)),
    ("waits for its update", set_at("infoset_touched", lambda tree: 2, 1)),
    ("▼ or chance is frozen", set_at("infoset_frozen", lambda tree: 1, 1)),
    ("our subtrees is frozen", set_at("infoset_frozen", our_infoset, 1)),
    ("ours and not ours", set_at("node_ours", last(MAX), 2)),
    ("below a NEW node", set_at("node_new", above_last("node_parent"), 1)),
    ("an unknown status", set_at("edge_status", lambda tree: 5, 7)),
    ("was expanded", set_at("edge_status", above_last("node_parent_edge"), TERMINAL)),
    ("strategy", set_at("strategy", first_action_of(MAX), 1.5)),
    ("strategy", set_at("strategy", first_action_of(MIN), -0.1)),
    ("strategy", set_at("strategy", first_action_of(CHANCE), 0.9)),
    ("the root's strategy", set_at("strategy", lambda tree: 0, 1.2)),
    ("a regret", set_at("regret", first_action_of(MAX), -1e-3)),
    ("a regret", set_at("regret", first_action_of(MAX), np.nan)),
    ("a value out of range", set_at("edge_value", lambda tree: 3, 1.2)),
    ("a value out of range", set_at("edge_value", lambda tree: 3, np.nan)),
    ("a visit without a pick", set_at("infoset_visits", our_infoset, 10**6)),
    ("an action picked", set_at("picks", first_action_of(MAX), -1)),
    ("statistics", set_at("value_spread", first_action_of(MAX), -1)),
]


@pytest.mark.parametrize(("what", "break_it"), BREAKS)
def test_what_is_broken_is_found(what: str, break_it: Break) -> None:
    search = random_search(3, expansions=200)
    run_iterations(search, 3)
    search.tree.node_new[: search.tree.counts[NODES]] = 0
    check(search.tree)
    break_it(search.tree)
    with pytest.raises(AssertionError, match=what):
        check(search.tree)


def test_a_newcomer_with_a_foreign_key_is_kept_apart_and_allowed() -> None:
    """Two 64-bit keys may collide: the second infoset then has no name, and play goes on."""
    search = random_search(3, expansions=200)
    tree = search.tree
    victim = inner_nodes(tree, MIN)[0]
    key = tree.infoset_key[tree.node_infoset[victim]]
    edges, above = open_leaves(tree)
    game = RandomGame(3)
    for edge, node in zip(edges, above, strict=True):
        expansion = game.expand(tree.edge_state[[edge]], tree.edge_keys[[edge]])
        if expansion.player[0] == MAX and tree.edge_status[edge] == OPEN:
            tree.edge_keys[edge, MAX] = key  # now ▲'s key is one of ▼'s
            attach(tree, np.uint64(OUR_KEY), False, np.array([edge]), np.array([node]), expansion)
            break
    newcomer = int(tree.node_infoset[tree.counts[NODES] - 1])
    assert tree.infoset_key[newcomer] == 0
    assert tree.infoset_player[newcomer] == MAX
    assert find_infoset(tree, key) == tree.node_infoset[victim]
    check(tree)
    run_iterations(search, 5)
    grow_at_random(tree, game, np.random.default_rng(3), 100)
    search.begin(OUR_KEY, game.roots(1, 1, np.random.default_rng(1)), [])
    check(search.tree)
    tree.infoset_key[newcomer] = 1  # but what is foreign without reason is not
    with pytest.raises(AssertionError):
        check(tree)


def test_every_infoset_finds_itself() -> None:
    tree = random_search(5, expansions=500).tree
    for infoset in np.flatnonzero(tree.infoset_key[: tree.counts[INFOSETS]]):
        assert find_infoset(tree, tree.infoset_key[infoset]) == infoset
        assert tree.strategy[actions_of(tree, int(infoset))].sum() == pytest.approx(1)
    assert find_infoset(tree, np.uint64(4711)) == -1


# -- memory ----------------------------------------------------------------------------------------


def bytes_of(tree: Tree) -> int:
    return sum(array.nbytes for array in tree)


@pytest.mark.parametrize("words", [1, 2, 9])
@pytest.mark.parametrize("edges", [100_000, 1 << 20, 3_000_001])
def test_an_edge_takes_no_more_than_its_share(edges: int, words: int) -> None:
    tree = allocate_tree(edges, words)
    assert 0.85 < bytes_of(tree) / (edges * bytes_per_edge(words)) <= 1


@pytest.mark.parametrize("mebibytes", [1, 16, 100])
def test_both_trees_fit_into_the_hash(mebibytes: int) -> None:
    search = Search([RandomGame(1)], SearchParameters(), mebibytes << 20)
    held = bytes_of(search.tree) + bytes_of(search.spare)
    assert 0.85 * (mebibytes << 20) < held <= mebibytes << 20


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
