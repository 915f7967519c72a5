"""Depth-limited CFR+ with exact bottoms, and with values that are right only where one goes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.value_functions.limited_trunk import (
    LimitedGame,
    LimitedTrunk,
    RegionCfr,
    TrunkExploitability,
)
from obscuro.research.value_functions.random_trunks import (
    DepthLimitedCfr,
    RememberedValues,
    SolvedBottoms,
    zero_values,
)
from obscuro.research.value_functions.value_network import goofspiel
from obscuro.search.game import MAX, MIN

Floats = NDArray[np.float64]


def kuhn_after_the_first_bet() -> LimitedGame:
    return LimitedGame(
        enumerate_game(KuhnPoker()),
        3,
        lambda state: state.betting,
        lambda state, player: state.cards[player],
    )


@pytest.mark.parametrize("make", [kuhn_after_the_first_bet, lambda: goofspiel(4, 2)])
def test_exact_bottoms_lead_to_a_trunk_that_nobody_exploits(make: Any) -> None:
    game = make()
    solver = DepthLimitedCfr(game, SolvedBottoms(game, 100))
    measured = TrunkExploitability(game.tree, solver.region.slots)
    uniform = measured.of(solver.average())
    solver.run(150)
    assert solver.region.iterations == 150
    assert measured.of(solver.average()) < min(0.01, uniform / 4)


def test_exact_values_are_the_best_that_is_left_also_where_a_player_does_not_go() -> None:
    game = kuhn_after_the_first_bet()
    bottoms = SolvedBottoms(game, 2000)
    trunk, above = LimitedTrunk(game), RegionCfr(game.tree, (0, game.level))
    offsets, player = game.tree.infosets.offsets, game.tree.infosets.player
    policy = above.policy.copy()
    policy[::2], policy[1::2] = 1.0, 0.0  # nobody bets
    policy[:2] = 0.0, 1.0  # but ▲ with one card
    reach = above.reach(None, policy).copy()
    assert (trunk.ranges(reach)[MAX] == 0.0).sum() == 3
    values = bottoms(trunk, reach)
    average = bottoms.region.average()
    below_limit = np.unique(np.searchsorted(offsets, bottoms.region.slots, side="right") - 1)
    for side in (MAX, MIN):
        own = below_limit[player[below_limit] == side]
        most = np.full_like(values[side], -np.inf)
        for choices in product((0.0, 1.0), repeat=len(own)):
            tried = average.copy()
            for infoset, first in zip(own.tolist(), choices, strict=True):
                tried[offsets[infoset] : offsets[infoset + 1]] = first, 1.0 - first
            below = bottoms.region.reach(reach[bottoms.region.roots].copy(), tried)
            found = bottoms.region.values(below, tried, side, None)
            most = np.maximum(most, trunk.counterfactual(found[trunk.leaves], below, side))
        np.testing.assert_allclose(values[side], most, atol=2e-3)


def test_without_values_the_trunk_can_be_exploited() -> None:
    game = goofspiel(4, 2)
    solver = DepthLimitedCfr(game, zero_values)
    solver.run(100)
    assert TrunkExploitability(game.tree, solver.region.slots).of(solver.average()) > 0.1


@pytest.mark.slow
def test_exact_values_of_an_equilibrium_add_up_to_the_games_value() -> None:
    game = kuhn_after_the_first_bet()
    solver = DepthLimitedCfr(game, SolvedBottoms(game, 300))
    solver.run(300)
    trunk, average = solver.trunk, solver.average()
    reach = solver.region.reach(None, average)
    values = SolvedBottoms(game, 1000)(trunk, reach)
    ranges = trunk.ranges(reach)
    for side, sign in ((MAX, 1), (MIN, -1)):
        assert (values[side] * ranges[side]).sum() == pytest.approx(-sign / 18, abs=0.01)


# -- V, Example 4.18 ------------------------------------------------------------------------------

HEADS, TAILS, NOTHING, MAD = 0, 1, 0, 1


class MadState(NamedTuple):
    pennies: tuple[int, ...] = ()
    mad: tuple[int, ...] = ()


class MadPennies:
    """Matching pennies, a little more for two heads; then ▲ does nothing, or gives 1,000 away."""

    name = "mad_pennies"
    scale = 1 / 1002

    def start(self) -> MadState:
        return MadState()

    def player(self, state: MadState) -> int:
        if state.mad:
            return TERMINAL
        return (MAX, MIN, MAX)[len(state.pennies)]

    def actions(self, state: MadState) -> Sequence[int]:
        return [] if state.mad else [0, 1]

    def chances(self, state: MadState) -> Sequence[float]:
        return []

    def apply(self, state: MadState, action: int) -> MadState:
        if len(state.pennies) < 2:
            return state._replace(pennies=(*state.pennies, action))
        return state._replace(mad=(action,))

    def payoff(self, state: MadState) -> float:
        return pennies_value(state) - 1000.0 * state.mad[0]

    def observation(self, state: MadState, player: int) -> Observation:
        shown = state.pennies if len(state.pennies) == 2 else ()
        return (len(state.pennies), len(state.mad), *shown, *state.mad)


def pennies_value(state: MadState) -> float:
    if state.pennies == (HEADS, HEADS):
        return 1.01
    return 1.0 if state.pennies == (TAILS, TAILS) else -1.0


class MadValues:
    """The values of the leaves if ▲ does nothing; where it does not go, it may believe it goes mad."""

    def __init__(self, *, where_unreached: bool) -> None:
        self.where_unreached = where_unreached

    def __call__(self, trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
        values = np.array([pennies_value(trunk.game.tree.states[n]) for n in trunk.leaves])
        if self.where_unreached:
            values = values - 1000.0 * (reach[trunk.leaves, MAX] == 0.0)
        return [
            trunk.counterfactual(values, reach, MAX),
            trunk.counterfactual(-values, reach, MIN),
        ]


def heads_by(values: MadValues) -> tuple[float, float]:
    """How often ▲ and ▼ play heads after many iterations."""
    game = LimitedGame(
        enumerate_game(MadPennies()), 2, lambda state: state.pennies, lambda state, player: 0
    )
    solver = DepthLimitedCfr(game, values)
    solver.run(2000)
    average = solver.average()
    return float(average[HEADS]), float(average[2 + HEADS])


def test_values_that_are_right_only_where_one_goes_mislead_cfr() -> None:
    mine, theirs = heads_by(MadValues(where_unreached=True))
    assert mine > 0.99 and theirs < 0.01


def test_values_that_are_right_wherever_one_could_go_do_not() -> None:
    assert heads_by(MadValues(where_unreached=False)) == pytest.approx((0.5, 0.5), abs=0.005)


def test_the_better_word_on_every_third_question_is_kept() -> None:
    game = goofspiel(3, 1)
    solved = SolvedBottoms(game, 20)
    kept = RememberedValues(zero_values, solved, every=3)
    solver = DepthLimitedCfr(game, kept)
    plain = DepthLimitedCfr(game, zero_values)
    solver.run(3)  # two questions each
    plain.run(3)
    np.testing.assert_array_equal(solver.average(), plain.average())
    examples = kept.examples()
    assert len(examples.state) == 2 * len(solver.trunk.public)
    start = DepthLimitedCfr(game, zero_values)
    said = solved(start.trunk, start.region.reach(None, start.region.policy))
    first = examples.where(np.arange(len(examples.state)) < len(solver.trunk.public))
    np.testing.assert_allclose(first.values, np.concatenate(said, axis=1), rtol=1e-6)
