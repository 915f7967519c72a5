"""The histories at the root, their weights, and what our actions are worth there."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.search_game import solve
from obscuro.search.gadget import new_gadget
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.root_values import RootValues, our_histories, root_values
from obscuro.search.search import Search
from obscuro.search.tree import LEAF, NODES, ROOT_INFOSET, TERMINAL
from tools.play.losses import edges_along

from .naive import History, NaiveSubgame, all_histories
from .random_game import OUR_KEY, RandomGame
from .test_subgame import likely_key
from .trees import grow_at_random, random_search, random_strategies, run_iterations

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


def solved(seed: int) -> Search:
    """A search with random strategies, some of them pure, and the gadget's choice by its rules."""
    search = random_search(seed, infosets=5, game=GAME, expansions=600)
    run_iterations(search, 3)
    random_strategies(search.tree, np.random.default_rng(seed))
    return search


def found_in(search: Search, key: int = OUR_KEY) -> RootValues | None:
    return root_values(search.tree, search.gadget, np.uint64(key), at_roots=key == OUR_KEY)


class Oracle:
    """The same by recursion over the histories of an infoset of ours."""

    def __init__(self, search: Search, key: int) -> None:
        self.tree = search.tree
        self.naive = NaiveSubgame(search.tree, key, 0)
        self.histories = [
            history
            for history in self.naive.histories
            if self.naive.key(history, MAX) == key and self.tree.edge_child[history.edge] != LEAF
        ]

    def weights(self, choice: np.ndarray) -> list[float]:
        """Return the histories' shares. choice: of J by the root, float[m]."""
        reach = [
            float(choice[history.path[0][0]])
            * self.naive.reach(history.path, MIN)
            * self.naive.reach(history.path, CHANCE)
            for history in self.histories
        ]
        return [each / sum(reach) for each in reach]

    def values(self) -> list[list[float]]:
        return [[self.naive.value(child) for child in each.children] for each in self.histories]

    def nodes(self, action: int) -> int:
        """Count the histories below an action."""

        def below(history: History) -> int:
            return len(history.children) + sum(below(child) for child in history.children)

        return sum(below(history.children[action]) for history in self.histories)


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_values_are_those_of_a_walk_through_the_tree(seed: int, depth: int) -> None:
    search = solved(seed)
    tree = search.tree
    key = likely_key(tree, depth) if depth else OUR_KEY
    oracle = Oracle(search, key)
    found = found_in(search, key)
    assert found is not None and len(oracle.histories) > 1
    edges = [history.edge for history in oracle.histories]
    order = np.argsort(edges)
    np.testing.assert_array_equal(found.states, tree.edge_state[edges][order])
    np.testing.assert_allclose(found.values, np.array(oracle.values())[order], atol=1e-5)
    own = [oracle.naive.reach(history.path, MAX) for history in oracle.histories]
    if own[0] > 0:
        first = int(tree.infoset_first[ROOT_INFOSET])
        weights = np.array(oracle.weights(tree.strategy[first:]))[order]
        np.testing.assert_allclose(found.weights, weights, atol=1e-5)
        means = weights @ np.array(oracle.values())[order]
        np.testing.assert_allclose(found.means(), means, atol=1e-5)
    assert found.nodes.tolist() == [oracle.nodes(a) for a in range(len(found.policy))]
    assert found.policy.sum() == pytest.approx(1)


def test_the_prior_weighs_where_the_other_side_does_not_come() -> None:
    search = solved(5)
    first = int(search.tree.infoset_first[ROOT_INFOSET])
    search.tree.strategy[first : first + len(search.gadget.prior)] = 0
    found = found_in(search)
    assert found is not None
    expected = Oracle(search, OUR_KEY).weights(search.gadget.prior)
    np.testing.assert_allclose(sorted(found.weights), sorted(expected), atol=1e-5)
    search.gadget.prior[:] = 0
    alike = found_in(search)
    assert alike is not None
    np.testing.assert_allclose(alike.weights, 1 / len(alike.weights))


def test_the_best_mean_of_a_solved_tree_is_its_value() -> None:
    search = solved(6)
    run_iterations(search, 3000)
    found = found_in(search)
    assert found is not None
    played = float(found.policy @ found.means())
    assert found.means().max() == pytest.approx(played, abs=0.01)
    assert (found.means()[found.policy > 0.01] > played - 0.02).all()


def test_the_values_of_a_solved_game_are_those_known_by_hand() -> None:
    # Kuhn poker (1950). Facing a bet the queen calls with 1/3, and the jack bluffs with 1/3. The
    # values are chips, times 1/2: to check, and to bet.
    by_hand = {
        "jack": {"queen": (-1, -2 / 3 + 2 / 3), "king": (-1, -2)},
        "king": {"jack": (1 / 3 * 2 + 2 / 3, 1), "queen": (1, 1 / 3 * 2 + 2 / 3)},
    }
    cards = ("jack", "queen", "king")
    game = enumerate_game(KuhnPoker())
    solution = solve(game, 3000)
    one = np.ones(1, dtype=np.float32)
    for node, state in enumerate(game.states):
        if len(state.cards) != 2 or state.betting or cards[state.cards[0]] not in by_hand:
            continue
        key = game.keys[node][MAX]
        found = root_values(solution.tree, new_gadget(-one, one), key, at_roots=True)
        assert found is not None
        expected = by_hand[cards[state.cards[0]]]
        dealt = [game.states[int(words[0])].cards for words in found.states]
        hands = [expected[cards[theirs]] for _, theirs in dealt]
        np.testing.assert_allclose(2 * found.values, hands, atol=1e-3)
        np.testing.assert_allclose(found.weights, 0.5, atol=1e-6)


def test_nothing_in_the_search_changes() -> None:
    search = solved(7)
    before = [array.tobytes() for array in (*search.tree, *search.gadget)]
    assert search.tree.edge_value.any()
    search.our_key = search.root_key = np.uint64(OUR_KEY)
    first, second = search.root_values(), search.root_values()
    assert first is not None and second is not None
    assert [array.tobytes() for array in (*search.tree, *search.gadget)] == before
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_infoset_that_is_not_expanded_has_no_values() -> None:
    assert found_in(solved(8), key=1) is None
    search = random_search(9, infosets=2, game=GAME, expansions=0)
    assert found_in(search) is None
