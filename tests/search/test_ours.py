"""Infosets of ▼ of which a part is ours: their weight in α, and the walks that stay in that part."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from obscuro.search.game import MAX, MIN
from obscuro.search.keeping import keep_roots
from obscuro.search.pace import Limits
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.selection import NOTHING, _sample_ours, exploration, release, select_leaf
from obscuro.search.subgame import LEAST_OURS, NOT_OURS
from obscuro.search.tree import LEAF, NO_PARENT, ROOT_INFOSET

from .random_game import OUR_KEY, RandomGame
from .test_subgame import next_keys
from .trees import actions_of, copied, random_strategies, run_iterations

GAME = RandomGame(9, plies=30, movers=(MAX, MIN))


def after_a_turn(**keys: Any) -> Search:
    """A second turn's subgame after mixed play; most of its J have histories in and outside of I."""
    search = Search([GAME], SearchParameters(), 4 << 20, seed=1)
    rng = np.random.default_rng(0)
    search.begin(OUR_KEY, GAME.roots(4, 5, rng), [])
    search.run(Limits(nodes=1500), threading.Event())
    random_strategies(search.tree, rng, pure=0.1)
    search.parameters = SearchParameters(**keys)

    def mixed(key: int) -> int:
        kept = keep_roots(search.tree, search.gadget, key, 2)
        ours = kept.weights * (search.tree.edge_keys[kept.edges, MAX] == np.uint64(key))
        shares = np.add.reduceat(ours, kept.offsets[:-1])
        return int(((shares > NOT_OURS) & (shares < 0.9)).sum())

    our_key = max(sorted(set(next_keys(search.tree, OUR_KEY))), key=mixed)
    assert mixed(our_key) > 1
    search.keep(our_key, 2)
    new = GAME.roots(2, 1, rng, 2)
    new.keys[:, MAX] = our_key
    search.begin(our_key, new, [search.expand_roots(new.states, new.keys)])
    return search


@pytest.fixture(scope="module")
def base() -> Search:
    return after_a_turn()


def histories(search: Search, j: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The edges of root J, and their probabilities within our infoset, 0 outside; not normalized."""
    tree = search.tree
    first, count = int(tree.node_first_edge[j]), int(tree.node_edges[j])
    edges = np.arange(first, first + count)
    action = int(tree.node_first_action[j])
    weights = tree.strategy[action : action + count].astype(float)
    weights[tree.edge_keys[edges, MAX] != search.our_key] = 0
    return edges, weights


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_what_is_ours_of_an_infoset_has_alpha_for_itself(base: Search, power: float) -> None:
    scaled = after_a_turn(ours_prior=power)
    expected = []
    for j, prior in enumerate(base.gadget.prior):
        share = histories(base, j)[1].sum()
        expected.append(prior / (max(share, LEAST_OURS) if share > NOT_OURS else 1) ** power)
    np.testing.assert_allclose(scaled.gadget.prior, expected / np.sum(expected), rtol=1e-4)
    assert not np.allclose(scaled.gadget.prior, base.gadget.prior, rtol=0.1)
    for name, array in base.gadget._asdict().items():
        assert np.array_equal(array, getattr(scaled.gadget, name)) == (name != "prior"), name


def test_a_share_of_the_walks_stays_in_our_infoset(base: Search) -> None:
    """All of them where it is 1, wherever J has a history that is ours."""
    search = after_a_turn()
    run_iterations(search, 3)
    search.tree.strategy[actions_of(search.tree, ROOT_INFOSET)] = 1  # ▼ picks any J
    found = {}
    for share in (0.0, 0.5, 1.0):
        tree, random = copied(search.tree), np.array([5], dtype=np.uint64)
        rule = exploration(SearchParameters(ours_share=share))
        inside = []
        for walk in range(4000):
            leaf, node = select_leaf(tree, (MAX, MIN)[walk % 2], rule, random)
            if leaf == NOTHING:
                continue
            release(tree, np.array([leaf], dtype=np.int32))
            edge = int(leaf)
            while tree.node_parent[node] != NO_PARENT:
                action = tree.node_parent_action[node]
                node = tree.node_parent[node]
                edge = int(action - tree.node_first_action[node] + tree.node_first_edge[node])
            edges, weights = histories(search, int(node))
            if weights.any():
                inside.append(weights[edge - edges[0]] > 0)
        assert len(inside) > 500
        found[share] = float(np.mean(inside))
    assert found[0.0] < 0.85
    assert found[0.0] + 0.05 < found[0.5] < 0.95
    assert found[1.0] == 1


def test_histories_of_ours_are_drawn_by_their_probabilities(base: Search) -> None:
    random, draws = np.array([5], dtype=np.uint64), 5000
    for j in range(len(base.gadget.prior)):
        edges, weights = histories(base, j)
        weights[base.tree.edge_child[edges] == LEAF] = 0
        drawn = [int(_sample_ours(base.tree, j, random)) for _ in range(draws)]
        if not weights.any():
            assert set(drawn) == {-1}
            continue
        expected = draws * weights / weights.sum()
        counts = np.bincount(drawn, minlength=len(edges))
        assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()
