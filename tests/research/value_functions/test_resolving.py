"""Continual resolving: with good values it is nearly an equilibrium, and the gadget is safe."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.games.game_tree import (
    best_response,
    exploitability,
    policy_of,
    strategy_of,
)
from obscuro.research.value_functions.limited_trunk import LimitedTrunk, RegionCfr
from obscuro.research.value_functions.random_trunks import (
    SolvedBottoms,
    random_policy,
    zero_values,
)
from obscuro.research.value_functions.resolving import resolve, resolving_policy
from obscuro.research.value_functions.value_network import goofspiel
from obscuro.search.game import MAX, MIN

GAME = goofspiel(4, 2)


def test_with_solved_bottoms_it_is_nearly_an_equilibrium_and_with_values_of_0_it_is_not() -> None:
    tree = GAME.tree
    lost = [
        exploitability(tree, strategy_of(tree, resolving_policy(GAME, values, 100, 200)))
        * tree.game.scale
        for values in (SolvedBottoms(GAME, 100), zero_values)
    ]
    assert lost[0] < 0.02
    assert lost[1] > 0.2


@pytest.mark.parametrize("side", [MAX, MIN])
def test_a_best_response_gets_less_than_what_it_could_get_before(side: int) -> None:
    tree = GAME.tree
    trunk = LimitedTrunk(GAME)
    above = RegionCfr(tree, (0, GAME.level))
    below = RegionCfr(tree, (GAME.level, len(tree.levels) - 1))
    random = np.random.default_rng(3)
    played = random_policy(above, GAME, random)
    reach = above.reach(None, played).copy()
    # What the other player can get at most in each of its infosets at the limit.
    other = 1 - side
    strategy = strategy_of(tree, played)
    old, response = best_response(tree, strategy, other)
    answered = policy_of(tree, strategy | response)
    bottoms = below.reach(reach[below.roots].copy(), answered)
    worth = trunk.counterfactual(
        below.values(bottoms, answered, other, None)[trunk.leaves], bottoms, other
    )
    owner = tree.infosets.owner
    again = resolve(GAME, trunk, side, reach, worth, 400)
    changed = np.where(owner == side, again, played)
    changed[above.slots] = played[above.slots]
    new = best_response(tree, strategy_of(tree, changed), other)[0]
    assert new < old - 0.05 / tree.game.scale
