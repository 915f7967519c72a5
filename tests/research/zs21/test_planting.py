"""The trunk at the start of a turn."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.zs21.blueprint import keep, nothing_kept
from obscuro.research.zs21.chess_trunk import entropies, information_price, plant
from obscuro.research.zs21.trunk import LEAF
from obscuro.search.game import MAX

from ..games.conftest import tree_of
from .small_games import SmallTrunkGame, blueprint, mixed_policy


def deals(count: int) -> tuple[np.ndarray, np.ndarray]:
    """States of Leduc poker in which ▲ has the same card, and keys by which ▼ tells them apart."""
    tree = tree_of("leduc")
    first = int(np.flatnonzero(tree.infosets.player == MAX)[0])
    nodes = np.flatnonzero((tree.infoset == first) & (tree.player == MAX))[:count]
    keys = tree.keys[nodes].copy()
    keys[:, 1] = 1000 + np.arange(len(nodes))
    return nodes.astype(np.uint64)[:, np.newaxis], keys


def test_fresh_roots_are_expanded_and_known_to_the_other_side() -> None:
    states, keys = deals(3)
    trunk = plant(
        SmallTrunkGame(tree_of("leduc")), None, nothing_kept(), states, keys, lambda: False
    )
    assert trunk.groups == trunk.roots == trunk.fresh == 3
    assert (trunk.nodes.first[:3] != LEAF).all()
    assert trunk.carried == 0


def test_the_alternate_of_a_fresh_root_is_its_value_but_no_more_than_ours_was() -> None:
    tree = tree_of("leduc")
    solution = blueprint(tree, mixed_policy(tree, 1))
    infoset = int(np.flatnonzero(tree.infosets.player == MAX)[0])
    kept = keep(solution, int(tree.infosets.key[infoset]), np.random.default_rng(1))
    states, keys = deals(4)
    game = SmallTrunkGame(tree)
    game_values = game.grow(states, keys)
    best = [part.max() for part in np.split(game_values.values, game_values.offsets[1:-1])]
    for limit in (-0.5, 0.0, 0.5):
        trunk = plant(game, solution, kept._replace(value=limit), states, keys, lambda: False)
        fresh = trunk.alternate[len(kept.alternate) :]
        assert fresh == pytest.approx(np.minimum(best, limit))


def test_late_planting_expands_some_root_all_the_same() -> None:
    states, keys = deals(4)
    trunk = plant(
        SmallTrunkGame(tree_of("leduc")), None, nothing_kept(), states, keys, lambda: True
    )
    assert trunk.roots >= 1
    assert trunk.nodes.first[0] != LEAF


def test_one_root_tells_nothing_new() -> None:
    states, keys = deals(1)
    trunk = plant(
        SmallTrunkGame(tree_of("leduc")), None, nothing_kept(), states, keys, lambda: False
    )
    assert entropies(trunk) == pytest.approx(0.0)
    assert information_price(trunk, 10**6) == pytest.approx(0.1)


def test_each_bit_halves_the_price() -> None:
    states, keys = deals(4)
    game = SmallTrunkGame(tree_of("leduc"))
    trunk = plant(game, None, nothing_kept(), states, keys, lambda: False)
    nodes = trunk.nodes
    for root in range(4):  # the first action tells all four apart, the second one two pairs
        nodes.key[nodes.first[root], MAX] = root
        nodes.key[nodes.first[root] + 1, MAX] = root // 2
    assert entropies(trunk) == pytest.approx([2.0, 1.0])
    assert information_price(trunk, 10**7) == pytest.approx([0.25, 0.5])
