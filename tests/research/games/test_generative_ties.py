"""Why three infosets are too few in the second seat of Goofspiel with ten cards, and when not.

All J's have one node in an infoset of Goofspiel, equally likely, and many have equal values. Which of
these a block keeps decides whether it is as good as 1-KLSS or loses everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.cfr import CounterfactualRegret
from obscuro.research.games.extensive_form import Mirrored
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.generative import DiverseBlock, both_have_acted
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.klss import SubgameSolver, guaranteed
from obscuro.research.games.root_rules import RootBudget, RootView
from obscuro.research.games.subgame_program import AsSolved, Choice, Margins
from obscuro.search.k_centre import k_centres

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CounterfactualBlock(RootBudget):
    """Chooses by values that are weighed by the reach of J, not given that J is reached."""

    size: int

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        kept = np.zeros(len(here), np.bool_)
        kept[k_centres(view.alternate * view.sub.weight, self.size)] = True
        return kept


@dataclass(frozen=True)
class QuantileBlock(RootBudget):
    """Chooses at equal distances in the order of the values, so that equal values count often."""

    size: int

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        kept = np.zeros(len(here), np.bool_)
        order = np.argsort(view.alternate, kind="stable")
        kept[order[np.linspace(0, len(here) - 1, self.size).round().astype(int)]] = True
        return kept


@cache
def game() -> GameTree[Any]:
    return enumerate_game(Mirrored(Goofspiel(10, "increasing", 3)))


@cache
def blueprint(simultaneous: bool) -> Floats:
    solver = CounterfactualRegret(game(), simultaneous=simultaneous)
    solver.run(30)
    return solver.average()


def lost(
    policy: Floats,
    budget: RootBudget | None,
    choice: Choice | None = None,
    everywhere: bool = False,
) -> float:
    tree = game()
    solver = SubgameSolver(tree, np.zeros_like(policy), 1, choice or Margins(), budget)
    where = None if everywhere else both_have_acted(tree)
    return -guaranteed(tree, solver.solve_everywhere(policy, where=where).policy)


def test_the_prototypes_blueprint_updates_both_players_at_once() -> None:
    assert -guaranteed(game(), blueprint(False)) == pytest.approx(0.1254, abs=5e-5)
    assert -guaranteed(game(), blueprint(True)) == pytest.approx(0.1083, abs=5e-5)
    assert lost(blueprint(True), None) == pytest.approx(0.0659, abs=5e-5)


def test_which_of_equal_values_is_kept_decides() -> None:
    policy = blueprint(True)
    assert lost(policy, DiverseBlock(3)) > 0.9
    losses = [lost(policy, DiverseBlock(3, seed=seed)) for seed in (1, 2)]
    assert losses == pytest.approx([0.0775, 1.0], abs=5e-5)
    assert lost(policy, QuantileBlock(3)) == pytest.approx(0.0775, abs=5e-5)


@pytest.mark.parametrize("simultaneous", [False, True])
def test_other_readings_of_the_paper_lose_everything_too(simultaneous: bool) -> None:
    policy = blueprint(simultaneous)
    assert lost(policy, CounterfactualBlock(3)) > 0.9, "values weighed by reach"
    assert lost(policy, DiverseBlock(3, reweight=True)) > 0.8, "margins weighed by reach"
    assert lost(policy, DiverseBlock(3), choice=AsSolved()) > 0.8, "another optimal strategy"
    assert lost(policy, DiverseBlock(3), everywhere=True) > 0.9, "from the first infoset on"


@pytest.mark.parametrize("simultaneous", [False, True])
def test_ten_infosets_do_as_well_as_all(simultaneous: bool) -> None:
    policy = blueprint(simultaneous)
    assert lost(policy, DiverseBlock(10)) == pytest.approx(lost(policy, None), abs=1e-6)
