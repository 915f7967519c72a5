"""Each switch and parameter of the search changes what it says, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from obscuro.research.games.average import AverageStrategy
from obscuro.search import search as search_loop
from obscuro.search.game import MAX, MIN, Expansion
from obscuro.search.keeping import keep_roots
from obscuro.search.pace import Limits
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots, alternate_values
from obscuro.search.tree import ACTIONS, INFOSETS, LEAF, NODES, ROOTS, Tree, find_infoset
from tests.sizes import quick_among

from .naive import History, all_histories
from .random_game import OUR_KEY, RandomGame
from .test_subgame import next_keys, root_edge
from .trees import actions_of, copied, random_search, run_iterations

GAME = RandomGame(9, plies=30, movers=(MAX, MIN))


def after_a_turn(
    likelihood: Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.float32]] | None = None,
    **switches: Any,
) -> Search:
    """A second turn's subgame, with kept and new roots; the first turn is the same for all."""
    search = Search([GAME], SearchParameters(), 4 << 20, seed=1)
    rng = np.random.default_rng(0)
    search.begin(OUR_KEY, GAME.roots(4, 5, rng), [])
    search.run(Limits(nodes=1500), threading.Event())
    search.parameters = SearchParameters(**switches)

    def suits(key: int) -> tuple[bool, float]:
        """Histories outside our infoset are kept with subtrees, and ▼'s infosets are not equally likely."""
        kept = keep_roots(search.tree, search.gadget, key, 2)
        outside = search.tree.edge_keys[kept.edges, MAX] != np.uint64(key)
        outside &= search.tree.edge_child[kept.edges] != LEAF
        return bool(outside.any()), float(np.ptp(kept.reach))

    our_key = max(sorted(set(next_keys(search.tree, OUR_KEY))), key=suits)
    search.keep(our_key, 2)
    new = GAME.roots(3, 1, rng, 2)
    new.keys[:, MAX] = our_key
    expansions = [search.expand_roots(new.states, new.keys)]
    search.begin(our_key, new, expansions, likelihood=likelihood)
    return search


def different(one: Tree, other: Tree) -> set[str]:
    """The names of the arrays in which two trees differ."""
    return {
        name
        for name, array in one._asdict().items()
        if not np.array_equal(array, getattr(other, name))
    }


@pytest.fixture(scope="module")
def base() -> Search:
    return after_a_turn()


def test_the_resolve_prior_changes_alpha_and_the_root_that_follows_from_it(base: Search) -> None:
    uniform = after_a_turn(mixed_prior=False)
    assert different(base.tree, uniform.tree) == {"strategy"}
    root = actions_of(base.tree, 0)
    changed = np.flatnonzero(base.tree.strategy != uniform.tree.strategy)
    assert set(changed) <= set(range(root.start, root.stop))
    assert np.allclose(uniform.gadget.prior, 1 / len(uniform.gadget.prior))
    assert base.gadget.prior.max() > 2 * base.gadget.prior.min()
    for name, array in base.gadget._asdict().items():
        assert np.array_equal(array, getattr(uniform.gadget, name)) == (name != "prior"), name


def test_a_soft_root_changes_the_roots_strategy_alone(base: Search) -> None:
    soft = after_a_turn(soft_root=0.2)
    assert different(base.tree, soft.tree) == {"strategy"}
    root = actions_of(base.tree, 0)
    changed = np.flatnonzero(base.tree.strategy != soft.tree.strategy)
    assert set(changed) <= set(range(root.start, root.stop))
    expected = 0.8 * base.tree.strategy[root] + 0.2 * base.gadget.prior
    np.testing.assert_allclose(soft.tree.strategy[root], expected, rtol=1e-5)


def test_a_root_temperature_makes_infosets_likelier_that_are_good_for_the_opponent(
    base: Search,
) -> None:
    by_value = after_a_turn(root_temperature=0.5, mixed_prior=False)
    assert different(base.tree, by_value.tree) == {"strategy"}
    tree, gadget = by_value.tree, by_value.gadget
    kept = len(gadget.prior) - 3
    values = gadget.alternate.astype(float)
    leaves = tree.node_first_edge[kept : kept + 3]
    values[kept:] = tree.edge_value[leaves]
    new = np.exp(-np.arctanh(values[kept:]) / 0.5)
    np.testing.assert_allclose(gadget.prior[kept:] / gadget.prior[kept], new / new[0], rtol=1e-4)
    assert gadget.prior.sum() == pytest.approx(1, abs=1e-5)
    mixed = after_a_turn(root_temperature=0.5)
    played = 2 * base.gadget.prior - 1 / len(base.gadget.prior)  # y / Σ y
    np.testing.assert_allclose(mixed.gadget.prior, (played + gadget.prior) / 2, atol=1e-5)


def test_likelihoods_of_the_roots_change_alpha(base: Search) -> None:
    def likelihood(states: npt.NDArray[np.uint64]) -> npt.NDArray[np.float32]:
        return np.asarray(1 + states[:, 0] % np.uint64(7), dtype=np.float32)

    by_weight = after_a_turn(likelihood, mixed_prior=False)
    assert different(base.tree, by_weight.tree) == {"strategy"}
    tree, roots = by_weight.tree, len(by_weight.gadget.prior)
    own = []
    for j in range(roots):
        first = tree.node_first_edge[j]
        edges = np.arange(first, first + tree.node_edges[j])
        edges = edges[tree.edge_keys[edges, MAX] == by_weight.our_key]
        shares = tree.strategy[tree.node_first_action[j] + edges - first] + np.float32(1e-6)
        own.append(float(np.average(likelihood(tree.edge_state[edges]), weights=shares)))
    assert len(set(own)) > 2
    np.testing.assert_allclose(by_weight.gadget.prior, np.array(own) / sum(own), rtol=1e-3)
    even = after_a_turn(lambda states: np.ones(len(states), dtype=np.float32))
    np.testing.assert_allclose(even.gadget.prior, base.gadget.prior, rtol=1e-5)


def test_freezing_changes_what_is_frozen_and_nothing_else(base: Search) -> None:
    frozen = after_a_turn(unfrozen=False)
    assert different(base.tree, frozen.tree) == {"infoset_frozen"}
    assert not base.tree.infoset_frozen.any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "switch",
    [
        {"one_sided": False},
        {"puct_c": 3.0},
        {"puct_least_variance": 0.5},
    ],
)
def test_exploration_changes_selection_and_neither_the_subgame_nor_the_solver(
    base: Search, switch: dict[str, Any]
) -> None:
    other, same = after_a_turn(**switch), after_a_turn()
    assert not different(base.tree, other.tree)
    for search in (other, same):
        run_iterations(search, 10)
    assert not different(same.tree, other.tree)
    for search in (other, same):
        for _ in range(20):
            search.select(MAX, search.random)
    names = different(same.tree, other.tree)
    assert "picks" in names
    selection = {"picks", "infoset_visits", "value_mean", "value_spread", "edge_status"}
    assert names <= selection


@pytest.mark.parametrize(
    "switch", [{"purification": False}, {"max_support": 1}, {"min_infoset_size": 7}]
)
def test_what_is_for_the_player_leaves_the_search_as_it_is(
    base: Search, switch: dict[str, Any]
) -> None:
    other, same = after_a_turn(**switch), after_a_turn()
    for search in (other, same):
        search.run(Limits(nodes=500), threading.Event())
    assert not different(same.tree, other.tree)


def test_two_sided_both_players_explore_in_one_walk() -> None:
    for one_sided in (True, False):
        search = after_a_turn(one_sided=one_sided)
        run_iterations(search, 10)
        players = search.tree.infoset_player
        both = 0
        for _ in range(100):
            before = search.tree.infoset_visits.copy()
            search.select(MAX, search.random)
            # A batch alternates, so look at single walks: as many visits of each as explorers.
            moved = players[search.tree.infoset_visits != before]
            both += len(np.unique(moved)) == 2
        assert both
        visits = [search.tree.infoset_visits[players == side].sum() for side in (MAX, MIN)]
        assert min(visits) > 0


# -- unfrozen nodes of I² --------------------------------------------------------------------------


def known_to_be_false(search: Search, our_key: int) -> dict[tuple[int, ...], History]:
    """Histories below root states that we know to be false, but not ▼ that we do; by state."""
    tree = search.tree
    return {
        tuple(tree.edge_state[h.edge].tolist()): h
        for h in all_histories(tree)
        if tree.edge_keys[root_edge(tree, h), MAX] != our_key
    }


@pytest.mark.parametrize("unfrozen", quick_among([True, False], bool))
def test_what_we_know_to_be_false_is_kept_and_expanded_over_many_turns(unfrozen: bool) -> None:
    """And solved, if unfrozen; else our strategy there stays (C.6)."""
    kept_again = grown = solved = 0
    for seed in range(10):
        game = RandomGame(seed, plies=60, movers=(MAX, MIN))
        rng = np.random.default_rng(seed)
        search = Search([game], SearchParameters(unfrozen=unfrozen), 8 << 20, seed=seed)
        search.begin(OUR_KEY, game.roots(4, 6, rng), [])
        our_key = OUR_KEY
        false_before: set[tuple[int, ...]] = set()
        for _ in range(5):
            start = copied(search.tree)
            at_start = known_to_be_false(search, our_key)
            kept_again += len(at_start.keys() & false_before)
            search.run(Limits(nodes=600), threading.Event())
            at_end = known_to_be_false(search, our_key)
            grown += len(at_end) - len(at_start)
            solved += changed_infosets(start, search.tree)
            false_before = set(at_end)
            following = next_keys(search.tree, our_key)
            if not following:
                break
            our_key = int(rng.choice(np.array(following, np.uint64)))
            search.keep(our_key, 2)
            search.begin(our_key, no_new_roots(), [])
        if kept_again > 100 and grown > 300 and (solved >= 10 or not unfrozen):
            break
    assert kept_again > 100
    assert grown > 300
    assert (solved >= 10) if unfrozen else (solved == 0)


def changed_infosets(before: Tree, after: Tree) -> int:
    """How many of our infosets outside the present one have another strategy than before."""
    nodes = int(before.counts[NODES])
    outside = (before.node_player[:nodes] == MAX) & (before.node_ours[:nodes] == 0)
    changed = 0
    for infoset in np.unique(before.node_infoset[:nodes][outside]):
        actions = actions_of(before, int(infoset))
        changed += not np.array_equal(before.strategy[actions], after.strategy[actions])
    return changed


def no_new_roots() -> NewRoots:
    none, words = np.zeros(0, np.float32), np.zeros((0, 2), np.uint64)
    return NewRoots(np.zeros(1, np.int64), words, words, none, none, none)


# -- both gadgets in one search --------------------------------------------------------------------


class Path(RandomGame):
    """One move at a time, and a given value at each ply."""

    def __init__(self, values: list[float]) -> None:
        super().__init__(1)
        self.values = values

    def expand(self, states: Any, keys: Any) -> Expansion:
        plies = [int(ply) + 1 for _, ply in states.tolist()]
        count = len(plies)
        return Expansion(
            player=np.array([(ply - 1) % 2 for ply in plies], np.int8),
            offsets=np.arange(count + 1),
            states=np.array([(0, ply) for ply in plies], np.uint64),
            keys=keys + np.uint64(1000),
            values=np.array([self.values[ply] for ply in plies], np.float32),
            terminal=np.zeros(count, np.uint8),
            chance=np.zeros(count, np.float32),
        )


def test_resolve_and_maxmargin_change_over_in_mid_search() -> None:
    """Whenever what is found deeper makes our infoset worth less or more than it was thought."""
    values = [0.0, 0.5, -0.5, 0.4, -0.2, 0.3]
    game = Path(values)
    search = Search([game], SearchParameters(), 1 << 20)
    root = NewRoots(
        offsets=np.array([0, 1]),
        states=np.zeros((1, 2), np.uint64),
        keys=np.array([[OUR_KEY, 99]], np.uint64),
        weights=np.ones(1, np.float32),
        values=np.zeros(1, np.float32),
        alternate=np.full(1, 0.1, np.float32),
    )
    search.begin(OUR_KEY, root, [])
    gadget, strategy = search.gadget, search.tree.strategy
    for ply, value in enumerate(values):
        run_iterations(search, 300)
        assert gadget.value[0] == pytest.approx(value)
        if value < 0.1:  # ▼ enters: Resolve
            assert gadget.p_max[0] == gadget.enter[0] == 1
            assert strategy[0] == gadget.prior[0]
        else:  # ▼ would rather leave: Maxmargin
            assert gadget.p_max[0] == 0
            assert strategy[0] == gadget.margin[0] == 1
        if ply + 1 < len(values):
            search.expand_once()
    assert search.tree.counts[NODES] == len(values)


# -- what is played --------------------------------------------------------------------------------


def test_the_last_iterate_is_reported_and_not_the_average(monkeypatch: pytest.MonkeyPatch) -> None:
    search = random_search(4, expansions=400)
    average = AverageStrategy(search.tree)
    for _ in range(4):
        run_iterations(search, 1)
        average.add()
    search.parameters = SearchParameters(iterations_per_expansion=1)
    monkeypatch.setattr(search_loop, "BATCH", 1)
    progress = search.run(Limits(deadline=0.0), threading.Event())
    average.add()
    assert progress.iterations == 1
    own = actions_of(search.tree, int(find_infoset(search.tree, np.uint64(OUR_KEY))))
    assert np.array_equal(progress.policy, search.tree.strategy[own])
    assert not np.allclose(progress.policy, average.policies()[OUR_KEY], atol=0.01)


def test_new_positions_are_worth_no_more_than_the_last_search() -> None:
    values = np.array([-0.4, 0.1, 0.6], np.float32)
    assert alternate_values(values, 0.2).tolist() == pytest.approx([-0.4, 0.1, 0.2])
    assert alternate_values(values, 0.2).dtype == np.float32
    assert alternate_values(values, None).tolist() == values.tolist()


def test_the_root_starts_with_the_gadgets_own_mixture() -> None:
    search = after_a_turn()
    tree, gadget = search.tree, search.gadget
    m = int(tree.counts[ROOTS])
    expected = 0.5 * gadget.prior * 0.5 + 0.5 / m
    assert tree.strategy[:m] == pytest.approx(expected)
    assert int(tree.counts[ACTIONS]) > int(tree.counts[INFOSETS])
