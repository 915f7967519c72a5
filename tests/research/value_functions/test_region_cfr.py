"""CFR+ on a region, beside a recursive one on the whole tree.

The games are without symmetries. In a symmetric one regrets that are equal but for rounding decide
between pure and uniform play, and no two orders of summing agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.value_functions.limited_trunk import RegionCfr
from tests.research.games.oracle import cfr_plus


@pytest.mark.parametrize("game", [KuhnPoker(), LeducPoker()])
def test_a_region_that_is_the_game_is_solved_as_by_recursion(game: Any) -> None:
    tree: GameTree[Any] = enumerate_game(game)
    region = RegionCfr(tree, (0, len(tree.levels) - 1))
    iterations = 8 if len(tree.states) < 2000 else 3
    region.iterate(None)
    region.iterate(None, iterations - 1)
    assert region.average() == pytest.approx(cfr_plus(tree, iterations), abs=1e-12)
    assert np.array_equal(region.slots, np.arange(len(tree.infosets.action)))


def test_regions_share_the_infosets_between_them() -> None:
    tree = enumerate_game(LeducPoker())
    above, below = RegionCfr(tree, (0, 5)), RegionCfr(tree, (5, len(tree.levels) - 1))
    both = np.concatenate([above.slots, below.slots])
    assert np.array_equal(np.sort(both), np.arange(len(tree.infosets.action)))


def test_restart_forgets() -> None:
    tree = enumerate_game(KuhnPoker())
    region = RegionCfr(tree, (0, len(tree.levels) - 1))
    region.iterate(None, 3)
    once = region.average()
    region.restart()
    assert region.iterations == 0
    region.iterate(None, 3)
    assert np.array_equal(region.average(), once)
