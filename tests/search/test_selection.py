"""Random numbers, and which leaf to expand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.selection import (
    BLOCKED,
    ENDED,
    NOTHING,
    Batch,
    Exploration,
    exploration,
    explore,
    release,
    sample,
    select_batch,
    select_leaf,
    uniform,
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


def state(seed: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([seed], np.uint64)


def test_uniform_is_in_the_unit_interval_and_even() -> None:
    random = state(1)
    numbers = np.array([uniform(random) for _ in range(20_000)])
    assert (numbers >= 0).all() and (numbers < 1).all()
    counts, _ = np.histogram(numbers, 20, (0, 1))
    assert (np.abs(counts - 1000) < 150).all()  # five standard deviations
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03


def test_same_state_same_numbers() -> None:
    one, same, other = state(7), state(7), state(8)
    numbers = [uniform(one) for _ in range(5)]
    assert numbers == [uniform(same) for _ in range(5)]
    assert numbers != [uniform(other) for _ in range(5)]
    assert one[0] == same[0]


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0, 4.0], [0.0, 0.25, 0.0, 0.75], [1e-6, 3e-6]])
def test_sample_draws_in_proportion_to_any_weights(weights: list[float]) -> None:
    random, draws = state(3), 10_000
    weighted = np.array(weights, np.float32)
    counts = np.bincount([sample(random, weighted) for _ in range(draws)], minlength=len(weights))
    expected = draws * weighted / weighted.sum()
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()


def test_sample_never_draws_what_has_no_weight() -> None:
    random = state(5)
    weights = np.array([0, 1e-30, 0, 1e-30, 0], np.float32)
    assert {sample(random, weights) for _ in range(500)} == {1, 3}


def test_sample_of_nothing_says_so() -> None:
    assert sample(state(1), np.zeros(4, np.float32)) == -1
    assert sample(state(1), np.zeros(0, np.float32)) == -1


ONE_SIDED = exploration(SearchParameters())
TWO_SIDED = ONE_SIDED._replace(one_sided=False)
LITERAL = ONE_SIDED._replace(least_variance=np.float32(0))
FLOORED = ONE_SIDED._replace(least_variance=np.float32(0.4))


def with_c(rule: Exploration, c: float) -> Exploration:
    return rule._replace(puct_c=np.float32(c))


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

    def __init__(self, actions: int, rule: Exploration) -> None:
        self.samples: list[list[float]] = [[-1.0, 1.0] for _ in range(actions)]
        self.picks = [0] * actions
        self.visits = 0
        self.rule = rule

    def sigma(self, action: int) -> float:
        return max(float(np.var(self.samples[action])), float(self.rule.least_variance))

    def visit(self, values: list[float]) -> list[float]:
        """Take in u(I, a) for all a; returns Q̄(I, a)."""
        self.visits += 1
        for samples, value in zip(self.samples, values, strict=True):
            samples.append(value)
        c = float(self.rule.puct_c)
        return [
            value + c * self.sigma(a) * self.visits**0.5 / (1 + self.picks[a])
            for a, value in enumerate(values)
        ]

    def pick(self, action: int) -> None:
        self.picks[action] += 1


# -- one infoset -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [LITERAL, FLOORED])
@pytest.mark.parametrize("c", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("player", [MAX, MIN])
def test_statistics_and_choices_are_the_naive_ones(
    player: int, c: float, rule: Exploration
) -> None:
    rule = with_c(rule, c)
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, player)
    actions, rng, random = actions_of(tree, infoset), np.random.default_rng(1), random_state(1)
    count = actions.stop - actions.start
    naive = NaiveExplorer(count, rule)
    by_support = 0
    for _ in range(400):
        reach = rng.uniform(0.01, 1)
        values = rng.uniform(-1, 1, count)
        strategy = rng.dirichlet(np.ones(count)) * (rng.random(count) < 0.6)
        tree.cfv[actions], tree.infoset_reach[infoset] = reach * values, reach
        tree.strategy[actions] = strategy
        upcoming = random.copy()
        optimistic = naive.visit(values.tolist())
        chosen = int(explore(tree, infoset, rule, random))
        if uniform(upcoming) >= 0.5 and strategy.any():
            by_support += 1
            support = np.flatnonzero(strategy)
            assert chosen == support[int(uniform(upcoming) * np.float32(len(support)))]
        else:
            assert optimistic[chosen] >= max(optimistic) - 1e-4
        naive.pick(chosen)
        assert tree.picks[actions].tolist() == naive.picks
        assert tree.infoset_visits[infoset] == naive.visits
    means = [np.mean(samples) for samples in naive.samples]
    spreads = [np.var(samples) * len(samples) for samples in naive.samples]
    np.testing.assert_allclose(tree.value_mean[actions], means, atol=1e-5)
    np.testing.assert_allclose(tree.value_spread[actions], spreads, rtol=1e-4)
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
        tree.value_mean[actions], tree.value_spread[actions] = 0, 3
        counts[explore(tree, infoset, ONE_SIDED, random)] += 1
    expected = draws * np.array([0.5, 0.25, 0.25])
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_an_unreached_infoset_is_worth_nothing_but_explored() -> None:
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, MIN)
    actions = actions_of(tree, infoset)
    tree.cfv[actions], tree.infoset_reach[infoset] = 7, 0
    explore(tree, infoset, ONE_SIDED, random_state(1))
    assert not tree.value_mean[actions].any()
    assert tree.infoset_visits[infoset] == tree.picks[actions].sum() == 1


@pytest.mark.parametrize("at_root", [False, True])
def test_what_enters_the_statistics_is_within_the_range_of_values(at_root: bool) -> None:
    """Whatever a counterfactual value over a small reach would give."""
    tree = solved_search(0).tree
    infoset = ROOT_INFOSET if at_root else widest_infoset(tree, MAX)
    actions, most = actions_of(tree, infoset), 2.0 if at_root else 1.0
    tree.infoset_reach[infoset] = 1e-6
    tree.cfv[actions] = 0.3 * (-1.0) ** np.arange(actions.stop - actions.start)
    tree.value_mean[actions] = 0
    tree.value_spread[actions] = 2
    tree.infoset_visits[infoset] = 0
    tree.picks[actions] = 0
    random = random_state(1)
    for _ in range(200):
        explore(tree, infoset, FLOORED, random)
    assert (np.abs(tree.value_mean[actions]) <= most).all()
    assert np.abs(tree.value_mean[actions]).max() > 0.9 * most
    assert (tree.value_spread[actions] <= 202 * most**2).all()


def picks_of_settled_actions(rule: Exploration, gap: float, visits: int) -> list[int]:
    """How often each of three actions is picked that are worth 0.4 and twice less by `gap`."""
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, MAX)
    actions = actions_of(tree, infoset)
    values = (0.4, 0.4 - gap, 0.4 - gap)
    tree.cfv[actions], tree.infoset_reach[infoset] = values, 1
    tree.strategy[actions] = (1, 0, 0)
    random = random_state(1)
    for _ in range(visits):
        explore(tree, infoset, rule, random)
    return [int(picks) for picks in tree.picks[actions]]


def test_the_variance_of_settled_actions_vanishes_but_for_its_least_value() -> None:
    few, many = (picks_of_settled_actions(LITERAL, 0.3, visits) for visits in (100, 30_000))
    assert few[1:] == many[1:]  # they are never tried again
    again = picks_of_settled_actions(FLOORED, 0.3, 30_000)
    assert min(again[1:]) > max(many[1:])
    more = picks_of_settled_actions(FLOORED, 0.3, 120_000)
    assert min(more[1:]) > max(again[1:])


def test_the_variance_keeps_its_accuracy_over_many_visits() -> None:
    tree = solved_search(0).tree
    infoset = widest_infoset(tree, MAX)
    actions, rng, random = actions_of(tree, infoset), np.random.default_rng(1), random_state(1)
    tree.infoset_reach[infoset] = 1
    for _ in range(200_000):
        tree.cfv[actions] = (0.83, 0.9 + 0.02 * (rng.random() - 0.5), -0.9)
        explore(tree, infoset, ONE_SIDED, random)
    variance = tree.value_spread[actions] / tree.infoset_visits[infoset]
    assert variance == pytest.approx([1.7e-5, 0.02**2 / 12 + 1.8e-5, 1.8e-5], rel=0.05)


# -- a walk ----------------------------------------------------------------------------------------


def path_to(tree: Tree, edge: int, node: int) -> list[tuple[int, int]]:
    """(node, edge) from the root's chance node down to the leaf."""
    path = [(node, edge)]
    while tree.node_parent[node] != NO_PARENT:
        edge, node = int(tree.node_parent_edge[node]), int(tree.node_parent[node])
        path.append((node, edge))
    return path[::-1]


@pytest.mark.parametrize("rule", [ONE_SIDED, TWO_SIDED])
@pytest.mark.parametrize("explorer", [MAX, MIN])
@pytest.mark.parametrize("seed", range(3))
def test_a_walk_ends_at_an_open_leaf_and_only_the_explorer_departs_from_its_strategy(
    seed: int, explorer: int, rule: Exploration
) -> None:
    one_sided = rule.one_sided
    search = random_search(seed)
    tree, random = search.tree, random_state(seed)
    random_strategies(tree, np.random.default_rng(seed), pure=0.6)
    run_iterations(search, 1)
    random_strategies(tree, np.random.default_rng(seed), pure=0.6)
    found = departed = 0
    for _ in range(400):
        before = copied(tree)
        edge, node = select_leaf(tree, explorer, rule, random)
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


@pytest.mark.parametrize("rule", [ONE_SIDED, TWO_SIDED])
def test_new_nodes_are_not_entered(rule: Exploration) -> None:
    search = random_search(1)
    random = random_state(1)
    run_iterations(search, 1)
    grow_at_random(search.tree, RandomGame(1), np.random.default_rng(1), 200)
    blocked = 0
    for walk in range(500):
        edge, node = select_leaf(search.tree, walk % 2, rule, random)
        blocked += edge == NOTHING and node == BLOCKED
        if edge != NOTHING:
            assert not search.tree.node_new[node]
    assert blocked


def test_before_the_first_iteration_nothing_is_selected() -> None:
    search = random_search(1)
    random = random_state(1)
    for explorer in (MAX, MIN):
        assert select_leaf(search.tree, explorer, ONE_SIDED, random) == (NOTHING, BLOCKED)


def test_neither_terminal_leaves_nor_those_in_flight_are_selected() -> None:
    tree = solved_search(2).tree
    random = random_state(2)
    edges, _ = open_leaves(tree)
    tree.edge_status[edges] = IN_FLIGHT
    tree.edge_status[edges[::2]] = TERMINAL
    why = set()
    for walk in range(500):
        edge, reason = select_leaf(tree, walk % 2, TWO_SIDED, random)
        assert edge == NOTHING
        why.add(int(reason))
    assert why == {ENDED, BLOCKED}


def test_the_opponents_infoset_is_drawn_in_proportion_even_if_that_is_no_distribution() -> None:
    tree = solved_search(0).tree
    tree.strategy[actions_of(tree, ROOT_INFOSET)] = (0.1, 0, 0.2, 0.1)
    random, counts = random_state(4), np.zeros(4)
    for _ in range(2000):
        edge, node = select_leaf(tree, MAX, ONE_SIDED, random)
        if edge != NOTHING:
            tree.edge_status[edge] = OPEN
            counts[path_to(tree, int(edge), int(node))[0][0]] += 1
    assert counts[1] == 0
    assert counts[0] > 0 and counts[2] > 0 and counts[3] > 0


def test_without_any_infoset_to_pick_nothing_is_selected() -> None:
    tree = solved_search(0).tree
    tree.strategy[actions_of(tree, ROOT_INFOSET)] = 0
    assert select_leaf(tree, MAX, ONE_SIDED, random_state(1)) == (NOTHING, ENDED)


# -- a batch ---------------------------------------------------------------------------------------


def select(tree: Tree, explorer: int, size: int, seed: int) -> Batch:
    edges, nodes = np.full(size, -7, np.int32), np.full(size, -7, np.int32)
    states, keys = np.zeros((size, 2), np.uint64), np.zeros((size, 2), np.uint64)
    random = random_state(seed)
    found = select_batch(tree, explorer, ONE_SIDED, random, edges, nodes, states, keys)
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


def test_a_batch_ends_when_only_the_solver_can_open_the_way() -> None:
    tree = solved_search(0).tree
    tree.node_new[:] = 1
    before = tree.infoset_visits.sum()
    assert not len(select(tree, MIN, 16, 1).edges)
    assert tree.infoset_visits.sum() - before <= 16 / 2 + 1  # of 64 walks, as each is a visit


def test_released_leaves_can_be_selected_again() -> None:
    tree = solved_search(0).tree
    batch = select(tree, MIN, 8, 1)
    tree.edge_status[batch.edges[0]] = OPEN  # attached in the meantime
    release(tree, batch.edges)
    assert not (tree.edge_status == IN_FLIGHT).any()
    assert (tree.edge_status[batch.edges] == OPEN).all()
