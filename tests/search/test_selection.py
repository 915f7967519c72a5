from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search.expanders import Batch
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.random import uniform
from obscuro.search.search import Search
from obscuro.search.selection import (
    NOTHING,
    explore,
    release,
    select_batch,
    select_leaf,
)
from obscuro.search.tree import (
    IN_FLIGHT,
    INFOSETS,
    LEAF,
    NO_PARENT,
    OPEN,
    ROOT_INFOSET,
    TERMINAL,
    Tree,
)

from .random_game import RandomGame
from .trees import (
    actions_of,
    copied,
    grow_at_random,
    open_leaves,
    random_search,
    random_strategies,
    run_iterations,
)

C = np.float32(1)


def solved_search(seed: int) -> Search:
    search = random_search(seed)
    run_iterations(search, 3)
    return search


def random_state(seed: int) -> NDArray[np.uint64]:
    return np.array([seed], np.uint64)


def widest_infoset(tree: Tree, player: int) -> int:
    count = int(tree.counts[INFOSETS])
    sizes = np.where(tree.infoset_player[:count] == player, tree.infoset_actions[:count], 0)
    sizes[ROOT_INFOSET] = 0
    return int(np.argmax(sizes))


class NaiveExplorer:
    """The exploring player's statistics at one infoset, as lists of samples."""

    def __init__(self, actions: int) -> None:
        self.samples: list[list[float]] = [[-1.0, 1.0] for _ in range(actions)]
        self.picks = [0] * actions
        self.visits = 0

    def visit(self, values: list[float], c: float) -> list[float]:
        """Take in u(I, a) for all a; returns Q̄(I, a)."""
        self.visits += 1
        for samples, value in zip(self.samples, values, strict=True):
            samples.append(value)
        return [
            value + c * float(np.std(samples)) * self.visits**0.5 / (1 + picks)
            for value, samples, picks in zip(values, self.samples, self.picks, strict=True)
        ]


# -- one infoset -----------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("player", [MAX, MIN])
def test_statistics_and_choices_are_the_naive_ones(player: int, c: float) -> None:
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, player)
    actions, rng, random = actions_of(tree, infoset), np.random.default_rng(1), random_state(1)
    count = actions.stop - actions.start
    naive = NaiveExplorer(count)
    by_support = 0
    for _ in range(400):
        reach = rng.uniform(0.01, 1)
        values = rng.uniform(-1, 1, count)
        strategy = rng.dirichlet(np.ones(count)) * (rng.random(count) < 0.6)
        tree.cfv[actions], tree.infoset_reach[infoset] = reach * values, reach
        tree.strategy[actions] = strategy
        upcoming = random.copy()
        optimistic = naive.visit(values.tolist(), c)
        chosen = explore(tree, infoset, np.float32(c), random)
        if uniform(upcoming) >= 0.5 and strategy.any():
            by_support += 1
            support = np.flatnonzero(strategy)
            assert chosen == support[int(uniform(upcoming) * np.float32(len(support)))]
        else:
            assert optimistic[chosen] >= max(optimistic) - 1e-4
        naive.picks[chosen] += 1
        assert tree.picks[actions].tolist() == naive.picks
        assert tree.infoset_visits[infoset] == naive.visits
    sums = [sum(samples) for samples in naive.samples]
    squares = [sum(x * x for x in samples) for samples in naive.samples]
    np.testing.assert_allclose(tree.value_sum[actions], sums, atol=1e-3)
    np.testing.assert_allclose(tree.value_squares[actions], squares, rtol=1e-5)
    assert 150 < by_support < 250


def test_half_is_even_over_the_support_and_half_is_the_best_by_puct() -> None:
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, MAX)
    actions = actions_of(tree, infoset)
    assert actions.stop - actions.start == 3
    tree.cfv[actions], tree.infoset_reach[infoset] = (0.05, 0.01, 0.04), 0.1
    tree.strategy[actions] = (0, 0.9, 0.1)
    random, counts, draws = random_state(2), np.zeros(3), 6000
    for _ in range(draws):
        tree.infoset_visits[infoset], tree.picks[actions] = 3, 1
        tree.value_sum[actions], tree.value_squares[actions] = 0, 3
        counts[explore(tree, infoset, C, random)] += 1
    expected = draws * np.array([0.5, 0.25, 0.25])
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_an_infoset_that_nobody_reaches_is_worth_nothing_but_explored() -> None:
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, MIN)
    actions = actions_of(tree, infoset)
    tree.cfv[actions], tree.infoset_reach[infoset] = 7, 0
    explore(tree, infoset, C, random_state(1))
    assert not tree.value_sum[actions].any()
    assert tree.infoset_visits[infoset] == tree.picks[actions].sum() == 1


def test_an_action_that_looks_bad_is_tried_after_all() -> None:
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, MAX)
    actions = actions_of(tree, infoset)
    tree.cfv[actions], tree.infoset_reach[infoset] = (0.5, -0.5, -0.8), 1
    tree.strategy[actions] = (1, 0, 0)
    random = random_state(1)
    for _ in range(1000):
        explore(tree, infoset, C, random)
    assert (tree.picks[actions] > 0).all()
    assert tree.picks[actions][0] > 900


# -- a walk ----------------------------------------------------------------------------------------


def path_to(tree: Tree, edge: int, node: int) -> list[tuple[int, int]]:
    """(node, edge) from the root's chance node down to the leaf."""
    path = [(node, edge)]
    while tree.node_parent[node] != NO_PARENT:
        edge, node = int(tree.node_parent_edge[node]), int(tree.node_parent[node])
        path.append((node, edge))
    return path[::-1]


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("explorer", [MAX, MIN])
@pytest.mark.parametrize("seed", range(3))
def test_a_walk_ends_at_an_open_leaf_and_only_the_explorer_departs_from_its_strategy(
    seed: int, explorer: int, one_sided: bool
) -> None:
    search = random_search(seed)
    tree, random = search.tree, random_state(seed)
    random_strategies(tree, np.random.default_rng(seed), pure=0.6)
    run_iterations(search, 1)
    random_strategies(tree, np.random.default_rng(seed), pure=0.6)
    found = departed = 0
    for _ in range(400):
        before = copied(tree)
        edge, node = select_leaf(tree, explorer, one_sided, C, random)
        if edge == NOTHING:
            assert np.array_equal(tree.edge_status, before.edge_status)
            continue
        found += 1
        assert before.edge_status[edge] == OPEN and before.edge_child[edge] == LEAF
        assert tree.edge_status[edge] == IN_FLIGHT
        assert np.count_nonzero(tree.edge_status != before.edge_status) == 1
        path = path_to(tree, int(edge), int(node))
        for above, below in path:
            assert not tree.node_new[above]
            action = tree.node_first_action[above] + below - tree.node_first_edge[above]
            player = tree.node_player[above]
            played = tree.strategy[action] > 0
            if player == CHANCE or (one_sided and player != explorer):
                assert played
            departed += not played
        root = actions_of(tree, ROOT_INFOSET)
        picked = tree.picks[root] - before.picks[root]
        explores_root = explorer == MIN or not one_sided
        assert picked.tolist() == [int(explores_root and j == path[0][0]) for j in range(4)]
        if one_sided:
            others = tree.infoset_player != explorer
            assert np.array_equal(tree.infoset_visits[others], before.infoset_visits[others])
    assert found > 5
    assert departed > 0


@pytest.mark.parametrize("one_sided", [True, False])
def test_new_nodes_are_not_entered(one_sided: bool) -> None:
    search = random_search(1)
    random = random_state(1)
    run_iterations(search, 1)
    grow_at_random(search.tree, RandomGame(1), np.random.default_rng(1), 200)
    for walk in range(500):
        edge, node = select_leaf(search.tree, walk % 2, one_sided, C, random)
        if edge != NOTHING:
            assert not search.tree.node_new[node]


def test_before_the_first_iteration_nothing_is_selected() -> None:
    search = random_search(1)
    random = random_state(1)
    for explorer in (MAX, MIN):
        assert select_leaf(search.tree, explorer, True, C, random) == (NOTHING, NOTHING)


def test_neither_terminal_leaves_nor_those_in_flight_are_selected() -> None:
    tree = solved_search(2).tree
    random = random_state(2)
    edges, _ = open_leaves(tree)
    tree.edge_status[edges] = IN_FLIGHT
    tree.edge_status[edges[::2]] = TERMINAL
    for walk in range(500):
        assert select_leaf(tree, walk % 2, False, C, random) == (NOTHING, NOTHING)


def test_the_opponents_infoset_is_drawn_in_proportion_even_if_that_is_no_distribution() -> None:
    tree = solved_search(0).tree
    tree.strategy[actions_of(tree, ROOT_INFOSET)] = (0.1, 0, 0.2, 0.1)
    random, counts = random_state(4), np.zeros(4)
    for _ in range(2000):
        edge, node = select_leaf(tree, MAX, True, C, random)
        if edge != NOTHING:
            tree.edge_status[edge] = OPEN
            counts[path_to(tree, int(edge), int(node))[0][0]] += 1
    assert counts[1] == 0
    assert counts[0] > 0 and counts[2] > 0 and counts[3] > 0


def test_without_any_infoset_to_pick_nothing_is_selected() -> None:
    tree = solved_search(0).tree
    tree.strategy[actions_of(tree, ROOT_INFOSET)] = 0
    assert select_leaf(tree, MAX, True, C, random_state(1)) == (NOTHING, NOTHING)


# -- a batch ---------------------------------------------------------------------------------------


def select(tree: Tree, explorer: int, size: int, seed: int) -> Batch:
    edges, nodes = np.full(size, -7, np.int32), np.full(size, -7, np.int32)
    states, keys = np.zeros((size, 2), np.uint64), np.zeros((size, 2), np.uint64)
    random = random_state(seed)
    found = select_batch(tree, explorer, True, C, random, edges, nodes, states, keys)
    return Batch(edges[:found], nodes[:found], states[:found], keys[:found])


def test_a_batch_holds_different_leaves_with_their_states_and_keys() -> None:
    tree = solved_search(0).tree
    batch = select(tree, MAX, 16, 1)
    edges, nodes, found = batch.edges, batch.nodes, len(batch.edges)
    assert 4 < found <= 16
    assert len(set(edges.tolist())) == found
    assert (tree.edge_status[edges] == IN_FLIGHT).all()
    assert np.count_nonzero(tree.edge_status == IN_FLIGHT) == found
    assert np.array_equal(batch.states, tree.edge_state[edges])
    assert np.array_equal(batch.keys, tree.edge_keys[edges])
    first = tree.node_first_edge[nodes]
    assert ((first <= edges) & (edges < first + tree.node_edges[nodes])).all()


def test_explorers_take_turns_within_a_batch() -> None:
    tree = solved_search(0).tree
    before = copied(tree)
    select(tree, MAX, 16, 1)
    visits = tree.infoset_visits - before.infoset_visits
    count = int(tree.counts[INFOSETS])
    players = tree.infoset_player[:count]
    assert visits[:count][players == MAX].any() and visits[:count][players == MIN].any()


def test_a_batch_of_an_exhausted_tree_is_empty() -> None:
    search = random_search(0, game=RandomGame(0, plies=3), expansions=10_000)
    run_iterations(search, 1)
    assert not len(open_leaves(search.tree)[0])
    assert not len(select(search.tree, MAX, 16, 1).edges)


def test_released_leaves_can_be_selected_again() -> None:
    tree = solved_search(0).tree
    batch = select(tree, MIN, 8, 1)
    tree.edge_status[batch.edges[0]] = OPEN  # attached in the meantime
    release(tree, batch.edges)
    assert not (tree.edge_status == IN_FLIGHT).any()
    assert (tree.edge_status[batch.edges] == OPEN).all()
