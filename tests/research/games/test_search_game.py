from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree
from obscuro.research.games.kuhn import KuhnState
from obscuro.research.games.search_game import SearchGame
from obscuro.search.game import CHANCE, MAX, MIN, Game


def test_kuhn_starts_with_its_six_deals(kuhn: GameTree[Any]) -> None:
    roots = SearchGame(kuhn).roots()
    assert roots.states.shape == (6, 1)
    assert np.allclose(roots.probabilities, 1 / 6, atol=1e-15)
    assert np.all(kuhn.player[roots.states[:, 0]] == MAX)
    assert len(np.unique(roots.keys[:, MAX])) == len(np.unique(roots.keys[:, MIN])) == 3


def test_leduc_starts_with_its_thirty_deals(leduc: GameTree[Any]) -> None:
    roots = SearchGame(leduc).roots()
    assert roots.states.shape == (30, 1)
    assert roots.probabilities.sum() == pytest.approx(1.0, abs=1e-12)


def test_expanding_everything_rebuilds_the_tree(tree: GameTree[Any]) -> None:
    game: Game = SearchGame(tree)
    roots = SearchGame(tree).roots()
    states, keys = roots.states, roots.keys
    reached = [states[:, 0]]
    while len(states):
        expansion = game.expand(states, keys)
        nodes = states[:, 0].astype(np.int64)
        children = expansion.states[:, 0].astype(np.int64)
        parents = np.repeat(np.arange(len(nodes)), np.diff(expansion.offsets))
        over = tree.player[children] == TERMINAL
        by_chance = expansion.player[parents] == CHANCE
        assert np.array_equal(expansion.player, tree.player[nodes])
        assert np.array_equal(nodes[parents], tree.parent[children])
        assert np.array_equal(expansion.keys, tree.keys[children])
        assert np.array_equal(expansion.terminal, over)
        assert np.allclose(expansion.values, tree.payoff[children] * tree.game.scale, atol=1e-7)
        assert np.allclose(expansion.chance[by_chance], tree.chance[children][by_chance])
        reached.append(expansion.states[:, 0])
        states, keys = expansion.states[~over], expansion.keys[~over]
    # All but what is above the roots: chance's first plies.
    assert sum(map(len, reached)) == len(tree.states) - int(roots.states[0, 0])


def test_leducs_public_card_is_a_chance_node(leduc: GameTree[Any]) -> None:
    node = int(np.flatnonzero(leduc.player == CHANCE)[-1])
    expansion = SearchGame(leduc).expand(np.array([[node]], np.uint64), leduc.keys[[node]])
    assert expansion.player.tolist() == [CHANCE]
    assert expansion.chance.tolist() == [0.25] * 4


def test_leaves_may_come_in_any_order_and_twice(leduc: GameTree[Any]) -> None:
    game = SearchGame(leduc)
    inner = np.flatnonzero(leduc.player != TERMINAL)
    leaves = np.random.default_rng(5).choice(inner, 200)
    together = game.expand(leaves.astype(np.uint64)[:, None], leduc.keys[leaves])
    for i, leaf in enumerate(leaves):
        alone = game.expand(np.array([[leaf]], np.uint64), leduc.keys[[leaf]])
        part = slice(*together.offsets[i : i + 2])
        assert np.array_equal(together.states[part], alone.states)
        assert np.array_equal(together.keys[part], alone.keys)


def test_no_leaves_have_no_children(kuhn: GameTree[Any]) -> None:
    expansion = SearchGame(kuhn).expand(np.empty((0, 1), np.uint64), np.empty((0, 2), np.uint64))
    assert expansion.offsets.tolist() == [0]
    assert expansion.states.shape == (0, 1)
    assert expansion.keys.shape == (0, 2)


def test_children_are_chained_to_the_keys_that_are_given(kuhn: GameTree[Any]) -> None:
    game = SearchGame(kuhn)
    states = game.roots().states[:1]
    fresh = np.array([[17, 19]], np.uint64)
    known, afresh = game.expand(states, kuhn.keys[states[:, 0]]), game.expand(states, fresh)
    assert not np.intersect1d(known.keys, afresh.keys).size
    # ▲ moved: passing and betting differ for both.
    assert len(np.unique(afresh.keys)) == 4


def test_leaves_take_the_evaluators_values(kuhn: GameTree[Any]) -> None:
    def evaluate(state: KuhnState) -> float:
        return 0.25 * (state.cards[0] - state.cards[1]) if len(state.cards) == 2 else 0.0

    game = SearchGame(kuhn, evaluate)
    roots = game.roots()
    expected = [evaluate(kuhn.states[node]) for node in roots.states[:, 0]]
    assert roots.values.tolist() == expected
    expansion = game.expand(roots.states, roots.keys)
    assert expansion.values.tolist() == np.repeat(expected, 2).tolist()


def test_terminal_leaves_are_refused(kuhn: GameTree[Any]) -> None:
    last = len(kuhn.states) - 1
    with pytest.raises(ValueError, match="terminal"):
        SearchGame(kuhn).expand(np.array([[last]], np.uint64), kuhn.keys[[last]])


def test_types_are_those_of_the_interface(tree: GameTree[Any]) -> None:
    game = SearchGame(tree)
    roots = game.roots()
    expansion = game.expand(roots.states, roots.keys)
    assert game.state_words == 1
    assert {name: array.dtype for name, array in expansion._asdict().items()} == {
        "player": np.int8,
        "offsets": np.int64,
        "states": np.uint64,
        "keys": np.uint64,
        "values": np.float32,
        "terminal": np.uint8,
        "chance": np.float32,
    }
