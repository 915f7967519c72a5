from __future__ import annotations

import threading
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

from obscuro.research.any_game.turn_tree import untimed_roots
from obscuro.search.gadget import Gadget
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.keeping import (
    MAX_ROOT_SHARE,
    KeptRoots,
    keep_roots,
    nothing_kept,
)
from obscuro.search.pace import Limits
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.subgame import CARRY_SHARE, NewRoots, build_subgame
from obscuro.search.tree import (
    EDGES,
    FULL,
    IN_FLIGHT,
    INFOSETS,
    LEAF,
    NODES,
    ROOTS,
    TERMINAL,
    Tree,
    allocate_tree,
    find_infoset,
)
from tests.search.invariants import check
from tests.sizes import quick_among

from .naive import History, NaiveSubgame, all_histories
from .random_game import OUR_KEY, RandomGame, UntimedRandomGame
from .trees import (
    actions_of,
    copied,
    grow_at_random,
    open_leaves,
    random_search,
    random_strategies,
    run_iterations,
)

GAME = RandomGame(17, plies=20)
DEPTHS = [0, 1, 2, 3, 4]


class Turn(NamedTuple):
    """A tree that has been searched, and where the game has gone since."""

    search: Search
    our_key: int
    depth: int
    naive: NaiveSubgame


def likely_key(tree: Tree, depth: int) -> int:
    """The information key that most histories of our infoset's subtrees have at this depth."""
    keys: Counter[int] = Counter()
    for history in all_histories(tree):
        ours = tree.edge_keys[root_edge(tree, history), MAX] == OUR_KEY
        if history.ply == depth and ours and tree.edge_status[history.edge] != TERMINAL:
            keys[int(tree.edge_keys[history.edge, MAX])] += 1
    return keys.most_common(1)[0][0]


def root_edge(tree: Tree, history: History) -> int:
    node, action = history.path[0]
    return int(tree.node_first_edge[node]) + action


def a_turn(seed: int, depth: int, **arguments: Any) -> Turn:
    search = random_search(seed, infosets=5, game=GAME, expansions=500, **arguments)
    run_iterations(search, 5)
    random_strategies(search.tree, np.random.default_rng(seed), pure=0.4)
    grow_at_random(search.tree, GAME, np.random.default_rng(seed), 20)  # these are NEW
    our_key = likely_key(search.tree, depth)
    return Turn(search, our_key, depth, NaiveSubgame(search.tree, our_key, depth))


def next_subgame(turn: Turn, new: NewRoots | None = None, **switches: bool) -> tuple[Tree, Gadget]:
    """The next subgame in a tree of its own; the old one stays in turn.search."""
    tree = allocate_tree(40_000, 2)
    kept = keep_roots(turn.search.tree, turn.search.gadget, turn.our_key, turn.depth)
    new = new or no_roots()
    parameters = SearchParameters(**switches)  # type: ignore[arg-type]
    gadget = build_subgame(turn.search.tree, tree, kept, new, turn.our_key, parameters)
    return tree, gadget


def no_roots() -> NewRoots:
    none = np.zeros(0, np.float32)
    words = np.zeros((0, 2), np.uint64)
    return NewRoots(np.zeros(1, np.int64), words, words, none, none, none)


def by_state(tree: Tree) -> dict[tuple[int, ...], History]:
    """All histories by their states, which name them."""
    histories = all_histories(tree)
    found = {tuple(tree.edge_state[h.edge].tolist()): h for h in histories}
    assert len(found) == len(histories)
    return found


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", range(3))
def test_kept_infosets_are_the_naive_ones(seed: int, depth: int) -> None:
    search, our_key, _, naive = a_turn(seed, depth)
    compare_kept(keep_roots(search.tree, search.gadget, our_key, depth), search.tree, naive)


def compare_kept(kept: KeptRoots, tree: Tree, naive: NaiveSubgame) -> None:
    assert len(kept.offsets) - 1 == len(naive.infosets) > 0
    for j in range(len(naive.infosets)):
        members = slice(int(kept.offsets[j]), int(kept.offsets[j + 1]))
        edges = kept.edges[members].tolist()
        expected = naive.infosets[int(tree.edge_keys[edges[0], MIN])]
        assert sorted(edges) == sorted(expected.edges)
        weights = dict(zip(expected.edges, expected.weights, strict=True))
        assert kept.weights[members].tolist() == pytest.approx(
            [weights[edge] for edge in edges], abs=1e-5
        )
        assert kept.reach[j] == pytest.approx(expected.reach, abs=1e-5)
        assert kept.alternate[j] == pytest.approx(expected.value - expected.gift, abs=1e-5)
        assert expected.gift >= 0


@pytest.mark.parametrize("seed", range(12))
def test_kept_infosets_of_untimed_games_are_the_naive_ones(seed: int) -> None:
    search, our_key, naive = an_untimed_turn(seed)
    kept = untimed_roots(search, our_key)
    compare_kept(kept, search.tree, naive)


def test_untimed_cases_have_infosets_in_several_plies() -> None:
    found: Counter[str] = Counter()
    for seed in range(12):
        _, our_key, naive = an_untimed_turn(seed)
        kept = [naive.by_edge[e] for j in naive.infosets.values() for e in j.edges]
        own = [h for h in naive.histories if naive.key(h, MAX) == our_key]
        found["left out below another one"] += bool(naive.below)
        found["ours below the roots"] += any(h.edge in naive.below for h in own)
        found["ours in several plies"] += len({h.ply for h in own}) > 1
        found["roots in several plies"] += len({h.ply for h in kept}) > 1
        found["one J in several plies"] += any(
            len({naive.by_edge[e].ply for e in j.edges}) > 1 for j in naive.infosets.values()
        )
        found["gift"] += any(j.gift > 0.01 for j in naive.infosets.values())
    assert len(found) == 6 and min(found.values()) >= 3, found


def an_untimed_turn(seed: int) -> tuple[Search, int, NaiveSubgame]:
    """A turn of an untimed game at ▲'s commonest key; for odd seeds, after a try that failed."""
    game = UntimedRandomGame(seed, plies=20)
    search = random_search(seed, infosets=4, game=game, expansions=400)
    run_iterations(search, 5)
    random_strategies(search.tree, np.random.default_rng(seed), pure=0.4)
    grow_at_random(search.tree, game, np.random.default_rng(seed), 20)  # these are NEW
    tree, keys = search.tree, Counter[int]()
    for history in all_histories(tree):
        moves = int(tree.edge_state[history.edge, 1]) % 2 == MAX
        tried = tree.node_player[history.path[-1][0]] == MAX
        goes_on = history.ply > 0 and tree.edge_status[history.edge] != TERMINAL
        if moves and goes_on and tried == seed % 2:
            keys[int(tree.edge_keys[history.edge, MAX])] += 1
    our_key = keys.most_common(1)[0][0]
    return search, our_key, NaiveSubgame(tree, our_key, None)


def test_the_cases_compared_are_not_all_alike() -> None:
    """Gifts, infosets we don't play to, histories we know to be false, ends of the game."""
    found: Counter[str] = Counter()
    for seed in range(3):
        for depth in DEPTHS:
            tree, our_key, naive = (t := a_turn(seed, depth)).search.tree, t.our_key, t.naive
            for key, kept in naive.infosets.items():
                histories = [naive.by_edge[edge] for edge in kept.edges]
                ours = [naive.key(h, MAX) == our_key for h in histories]
                reaches = [naive.reach(h.path, MAX) for h in histories]
                found["gift"] += kept.gift > 0.01
                found["unreached by us"] += not any(reaches)
                found["unreached by them"] += kept.reach == 0
                found["known to be false"] += not all(ours)
                found["several histories"] += len(histories) > 1
                found["mixed weights"] += 0 < min(kept.weights) < max(kept.weights)
                found["over"] += any(
                    h.ply == depth
                    and naive.key(h, MIN) == key
                    and tree.edge_status[h.edge] == TERMINAL
                    for h in naive.histories
                )
                found["with a subtree"] += any(h.children for h in histories)
    assert len(found) == 8 and min(found.values()) >= 3, found


@pytest.mark.parametrize("depth", DEPTHS)
def test_keep_returns_the_states_that_have_our_key(depth: int) -> None:
    search, our_key, _, naive = a_turn(1, depth)
    expected = [
        tuple(search.tree.edge_state[h.edge].tolist())
        for h in naive.histories
        if h.ply == depth
        and naive.key(h, MAX) == our_key
        and search.tree.edge_status[h.edge] != TERMINAL
    ]
    states = search.keep(our_key, depth)
    assert sorted(map(tuple, states.tolist())) == sorted(expected)


def test_an_unknown_key_keeps_nothing() -> None:
    search, _, depth, _ = a_turn(0, 2)
    assert len(search.keep(4711, depth)) == 0
    search.begin(4711, GAME.roots(3, 1, np.random.default_rng(0), 2), [])
    check(search.tree)
    assert search.tree.counts[ROOTS] == 3
    assert search.tree.counts[NODES] == 3


def test_too_many_infosets_are_cut_to_a_share_of_the_nodes() -> None:
    rng = np.random.default_rng(2)
    search = Search([GAME], SearchParameters(), 1)
    search.begin(OUR_KEY, GAME.roots(400, 1, rng), [])
    run_iterations(search, 1)
    most = len(search.tree.node_player) // MAX_ROOT_SHARE
    own = search.tree.edge_keys[: search.tree.counts[EDGES], MAX] == OUR_KEY
    assert np.count_nonzero(own) > most
    kept = keep_roots(search.tree, search.gadget, OUR_KEY, 0)
    assert len(kept.alternate) == len(kept.reach) == len(kept.offsets) - 1 == most
    assert len(kept.edges) == len(kept.weights) == kept.offsets[-1] == most


# -- what is built ---------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", range(3))
def test_subtrees_are_carried_over_whole(seed: int, depth: int) -> None:
    turn = a_turn(seed, depth)
    old = turn.search.tree
    tree, _ = next_subgame(turn)
    check(tree)
    expected = set()
    queue = [turn.naive.by_edge[e] for j in turn.naive.infosets.values() for e in j.edges]
    while queue:
        history = queue.pop()
        expected.add(tuple(old.edge_state[history.edge].tolist()))
        queue.extend(history.children)
    before, after = by_state(old), by_state(tree)
    assert after.keys() == expected
    for state, history in after.items():
        source = before[state]
        assert history.ply == source.ply - depth
        assert [tree.edge_state[child.edge].tolist() for child in history.children] == [
            old.edge_state[child.edge].tolist() for child in source.children
        ]
        for name in ("edge_value", "edge_keys", "edge_status"):
            ours, theirs = (getattr(t, name)[h.edge] for t, h in ((tree, history), (old, source)))
            assert np.array_equal(ours, theirs), name
        if history.children:
            node, previous = (h.children[0].path[-1][0] for h in (history, source))
            assert tree.node_player[node] == old.node_player[previous]
            assert tree.node_new[node] == old.node_new[previous]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("seed", range(3))
def test_infosets_keep_their_strategies_regrets_and_statistics(seed: int, depth: int) -> None:
    turn = a_turn(seed, depth)
    for walk in range(50):  # gather some statistics
        turn.search.select(walk % 2, turn.search.random)
    tree, _ = next_subgame(turn)
    old = turn.search.tree
    nodes = int(tree.counts[NODES])
    before = by_state(old)
    compared = 0
    for node in range(int(tree.counts[ROOTS]), nodes):
        state = tuple(tree.edge_state[tree.node_parent_edge[node]].tolist())
        previous = before[state].children[0].path[-1][0]
        infoset, source = int(tree.node_infoset[node]), int(old.node_infoset[previous])
        for name in ("key", "player", "actions", "visits", "reach"):
            array = f"infoset_{name}"
            assert getattr(tree, array)[infoset] == getattr(old, array)[source], array
        for name in ("strategy", "regret", "cfv", "picks", "value_mean", "value_spread"):
            mine, theirs = actions_of(tree, infoset), actions_of(old, source)
            assert np.array_equal(getattr(tree, name)[mine], getattr(old, name)[theirs]), name
        compared += 1
    assert compared
    assert not tree.infoset_touched.any()


def test_leaves_in_flight_are_open_again() -> None:
    turn = a_turn(0, 2)
    edges, _ = open_leaves(turn.search.tree)
    turn.search.tree.edge_status[edges] = IN_FLIGHT
    tree, _ = next_subgame(turn)
    assert not (tree.edge_status[: tree.counts[EDGES]] == IN_FLIGHT).any()
    check(tree)


@pytest.mark.parametrize("mixed_prior", [True, False])
def test_kept_roots_come_first_then_the_new_ones(mixed_prior: bool) -> None:
    turn = a_turn(0, 2)
    new = GAME.roots(6, 3, np.random.default_rng(5), 2)
    kept = keep_roots(turn.search.tree, turn.search.gadget, turn.our_key, turn.depth)
    tree, gadget = next_subgame(turn, new, mixed_prior=mixed_prior)
    check(tree)
    first, m = len(kept.offsets) - 1, len(kept.offsets) - 1 + 6
    assert tree.counts[ROOTS] == tree.infoset_actions[0] == m
    np.testing.assert_allclose(gadget.alternate, np.append(kept.alternate, new.alternate))
    for j in range(m):
        source, roots = (j, kept) if j < first else (j - first, new)
        part = slice(int(roots.offsets[source]), int(roots.offsets[source + 1]))
        edges = int(tree.node_first_edge[j]) + np.arange(part.stop - part.start)
        weights = tree.strategy[actions_of(tree, int(tree.node_infoset[j]))]
        assert tree.node_player[j] == CHANCE
        assert np.array_equal(weights, roots.weights[part])
        assert weights.sum() == pytest.approx(1, abs=1e-5)
        if isinstance(roots, NewRoots):
            assert np.array_equal(tree.edge_state[edges], roots.states[part])
            assert np.array_equal(tree.edge_keys[edges], roots.keys[part])
            assert np.array_equal(tree.edge_value[edges], roots.values[part])
            assert (tree.edge_child[edges] == LEAF).all()
        else:
            assert np.array_equal(
                tree.edge_state[edges], turn.search.tree.edge_state[roots.edges[part]]
            )
    played = np.append(kept.reach, np.zeros(6)).astype(float)
    expected = np.full(m, 1 / m)
    if mixed_prior:
        expected = (played / played.sum() + expected) / 2
    np.testing.assert_allclose(gadget.prior, expected, rtol=1e-5)
    assert len(np.unique(gadget.prior)) > 1 or not mixed_prior


def test_the_prior_is_uniform_if_the_opponent_plays_to_no_infoset() -> None:
    turn = a_turn(0, 2)
    turn.search.tree.strategy[actions_of(turn.search.tree, 0)] = 0
    _, gadget = next_subgame(turn)
    assert np.allclose(gadget.prior, 1 / len(gadget.prior))


def test_our_infoset_is_made_of_the_roots_with_our_key() -> None:
    turn = a_turn(1, 2)
    tree, _ = next_subgame(turn)
    roots = int(tree.counts[ROOTS])
    for node in range(roots, int(tree.counts[NODES])):
        above = int(tree.node_parent[node])
        key = tree.edge_keys[tree.node_parent_edge[node], MAX]
        expected = key == turn.our_key if above < roots else tree.node_ours[above]
        assert tree.node_ours[node] == expected
    assert tree.node_ours[: tree.counts[NODES]].any()


@pytest.mark.parametrize("unfrozen", [True, False])
def test_freezing_touches_our_infosets_outside_the_present_one(unfrozen: bool) -> None:
    turn = a_turn(1, 2)
    tree, gadget = next_subgame(turn, unfrozen=unfrozen)
    roots, nodes = int(tree.counts[ROOTS]), int(tree.counts[NODES])
    for node in range(roots, nodes):
        outside = tree.node_player[node] == MAX and not tree.node_ours[node]
        assert tree.infoset_frozen[tree.node_infoset[node]] == (outside and not unfrozen)
    before = copied(tree)
    turn.search.tree, turn.search.gadget = tree, gadget
    run_iterations(turn.search, 10)
    changed = 0
    for infoset in range(1, int(tree.counts[INFOSETS])):
        actions = actions_of(tree, infoset)
        same = np.array_equal(tree.strategy[actions], before.strategy[actions])
        assert same or not tree.infoset_frozen[infoset]
        changed += not same
    assert changed
    assert tree.infoset_frozen.any() != unfrozen


def test_what_does_not_fit_stays_a_leaf_with_its_value() -> None:
    turn = a_turn(0, 0)
    old = turn.search.tree
    kept = keep_roots(old, turn.search.gadget, turn.our_key, 0)
    small = allocate_tree(4096, 2, nodes=600)
    build_subgame(old, small, kept, no_roots(), turn.our_key, SearchParameters())
    check(small)
    assert small.counts[FULL] == 0
    assert small.counts[NODES] == int(CARRY_SHARE * 600) < old.counts[NODES]  # the rest can grow
    before, after = by_state(old), by_state(small)
    cut = [state for state, h in after.items() if before[state].children and not h.children]
    assert cut
    for state in cut:
        edge, source = after[state].edge, before[state].edge
        assert small.edge_value[edge] == old.edge_value[source]


def test_without_a_last_search_only_the_new_roots_are_there() -> None:
    new = GAME.roots(4, 5, np.random.default_rng(1))
    old, tree = allocate_tree(4096, 2), allocate_tree(4096, 2)
    gadget = build_subgame(old, tree, nothing_kept(), new, OUR_KEY, SearchParameters())
    check(tree)
    assert tree.counts[NODES] == tree.counts[ROOTS] == 4
    assert tree.nodes == new.offsets[-1]
    assert np.allclose(gadget.prior, 1 / 4)
    assert np.array_equal(gadget.alternate, new.alternate)


@pytest.mark.parametrize("temperature", [0.0, 0.2])
def test_a_new_root_counts_for_those_that_it_stands_for(temperature: float) -> None:
    new = GAME.roots(4, 5, np.random.default_rng(1))
    masses = np.array([2.5, 0.5, 0.25, 0.75], np.float32)
    priors = []
    for stands_for in (None, np.ones(4, np.float32), masses):
        old, tree = allocate_tree(4096, 2), allocate_tree(4096, 2)
        roots = new._replace(masses=stands_for)
        gadget = build_subgame(
            old,
            tree,
            nothing_kept(),
            roots,
            OUR_KEY,
            SearchParameters(root_temperature=temperature),
        )
        priors.append(gadget.prior)
    plain, even, weighed = priors
    assert np.array_equal(plain, even)
    expected = plain * masses / (plain * masses).sum()
    assert weighed == pytest.approx(expected, rel=1e-5)


# -- turn after turn -------------------------------------------------------------------------------


@pytest.mark.parametrize("unfrozen", [True, False])
@pytest.mark.parametrize("seed", quick_among(range(2), lambda seed: seed == 1))
def test_invariants_hold_turn_after_turn(seed: int, unfrozen: bool) -> None:
    game = RandomGame(seed, plies=40, movers=(MAX, MIN))
    rng = np.random.default_rng(seed)
    search = Search([game], SearchParameters(unfrozen=unfrozen), 4 << 20, seed=seed)
    our_key, kept_some = OUR_KEY, 0
    search.begin(our_key, game.roots(3, 4, rng), [])
    for turn in range(1, 7):
        progress = search.run(Limits(nodes=300), threading.Event())
        check(search.tree)
        assert progress.nodes >= 300 or progress.exhausted
        assert int(find_infoset(search.tree, np.uint64(our_key))) > 0
        our_key = int(rng.choice(np.array(next_keys(search.tree, our_key), np.uint64)))
        own = search.keep(our_key, 2)
        kept_some += len(own) > 1
        new = game.roots(int(rng.integers(1, 5)), 1, rng, 2 * turn)
        new.keys[:, MAX] = our_key
        expansion = search.expand_roots(new.states, new.keys)
        search.begin(our_key, new, [expansion])
        check(search.tree)
        assert search.progress.sampled == len(new.states)
        states = search.tree.edge_state[: search.tree.counts[EDGES]].tolist()
        assert all(state in states for state in own.tolist())
        first = int(search.tree.counts[ROOTS]) - len(new.alternate)
        edges = search.tree.node_first_edge[first : search.tree.counts[ROOTS]]
        assert (search.tree.edge_child[edges] != LEAF).all()  # expanded at once
        grow_at_random(search.tree, game, rng, 1000, our_key=our_key, freeze=not unfrozen)
        check(search.tree)
    assert kept_some >= 3


def next_keys(tree: Tree, our_key: int) -> list[int]:
    """Our keys two plies on, once for each history of our infoset that goes on."""
    return [
        int(tree.edge_keys[h.edge, MAX])
        for h in all_histories(tree)
        if h.ply == 2
        and tree.edge_keys[root_edge(tree, h), MAX] == our_key
        and tree.edge_status[h.edge] != TERMINAL
    ]


def test_kept_roots_of_nothing_are_empty() -> None:
    nothing: KeptRoots = nothing_kept()
    assert nothing.offsets.tolist() == [0]
    assert not len(nothing.edges) and not len(nothing.alternate)
