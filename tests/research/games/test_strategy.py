from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.game_tree import GameTree, policy_of, strategy_of

from .oracle import random_policy


def test_policy_survives_the_way_through_a_mapping(tree: GameTree[Any]) -> None:
    policy = random_policy(tree, np.random.default_rng(3))
    assert np.allclose(policy_of(tree, strategy_of(tree, policy)), policy, rtol=0, atol=1e-15)


def test_missing_infosets_are_uniform_and_unknown_keys_ignored(leduc: GameTree[Any]) -> None:
    counts = np.diff(leduc.infosets.offsets)
    policy = policy_of(leduc, {1: [1.0]})
    assert np.array_equal(policy, np.repeat(1.0 / counts, counts))


def test_single_precision_is_normalised(kuhn: GameTree[Any]) -> None:
    key = int(kuhn.infosets.key[0])
    policy = policy_of(kuhn, {key: np.array([0.1, 0.9], np.float32)})
    assert policy[:2].sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("wrong", [[1.0], [0.2, 0.2], [1.5, -0.5], [np.nan, 1.0], [0.5, 0.5, 0.0]])
def test_what_is_no_distribution_is_refused(kuhn: GameTree[Any], wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="infoset"):
        policy_of(kuhn, {int(kuhn.infosets.key[0]): wrong})
