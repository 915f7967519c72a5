"""The soft root: Resolve at one end, unsafe solving against the prior at the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.klss_rows import ROWS, floor_of
from obscuro.research.games.root_rules import Prior, SoftRoot, ValuePrior, even_prior, mixed_prior
from obscuro.research.games.sequence_form import (
    SequenceForm,
    SubgameRoots,
    answer_values,
    played_from_roots,
    subgame_form,
)
from obscuro.research.games.subgame_program import AsSolved, Tie, soft_value, solve_soft
from obscuro.search.game import MAX

from .naive_subgames import best_soft, knowledge_set
from .oracle import random_policy

PRECISION = 1e-6  # what a chain of linear programs may lose, for payoffs in [-1, 1]
RAISED = 0.75  # added to all alternate values, for payoffs in [-1, 1], so that ▲ has to lose some
TIES: list[Tie] = ["margins", "expectation", "as solved"]


class Case:
    """One subgame of a game, with a prior at random."""

    def __init__(self, tree: GameTree[Any], order: int | None, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.tree, self.form = tree, SequenceForm(tree)
        self.policy = 0.7 * random_policy(tree, rng) + 0.3 * self.form.uniform()
        infoset = int(rng.choice(np.flatnonzero(tree.infosets.player == MAX)))
        self.inside = knowledge_set(tree, np.flatnonzero(tree.infoset == infoset).tolist(), order)
        self.floor = np.zeros_like(self.policy)
        solver = SubgameSolver(tree, self.floor, order, AsSolved())
        self.roots = solver.roots(infoset, self.policy)
        self.sub = subgame_form(self.form, self.roots, self.policy)
        before = played_from_roots(self.form, self.sub, self.policy)
        self.raised = RAISED / tree.game.scale
        self.alternate = answer_values(self.form, self.sub, before) + self.raised
        self.prior: NDArray[np.float64] = rng.dirichlet(np.ones(self.sub.groups))

    def margins(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (answer_values(self.form, self.sub, x) - self.alternate) / self.sub.alive

    def solve(self, epsilon: float, tie: Tie = "margins") -> NDArray[np.float64]:
        return solve_soft(self.form, self.sub, self.floor, self.alternate, self.prior, epsilon, tie)

    def naive(self, epsilon: float) -> float:
        first = {
            int(self.roots.node[self.roots.group == group].min()): float(self.prior[group])
            for group in range(self.sub.groups)
        }
        return best_soft(self.tree, self.inside, self.policy, first, epsilon, self.raised)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("order", [1, 2, COMMON_KNOWLEDGE])
def test_soft_value_is_that_of_the_naive_program(
    tiny_tree: GameTree[Any], order: int | None, epsilon: float
) -> None:
    """0 is Resolve, 1 the game in which chance deals ▼'s infosets by the prior."""
    case = Case(tiny_tree, order, 5)
    found = soft_value(case.margins(case.solve(epsilon)), case.prior, epsilon)
    assert found == pytest.approx(case.naive(epsilon), rel=1e-5, abs=1e-6)
    assert epsilon > 0.0 or found < 0.0, "with Resolve something has to be lost"


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
def test_ties_are_broken_among_the_optimal(tiny_tree: GameTree[Any], epsilon: float) -> None:
    case = Case(tiny_tree, 2, 9)
    margins = {tie: case.margins(case.solve(epsilon, tie)) for tie in TIES}
    values = [soft_value(each, case.prior, epsilon) for each in margins.values()]
    assert values == pytest.approx([values[0]] * len(TIES), rel=1e-5, abs=1e-6)
    for each in margins.values():
        assert margins["margins"].sum() >= each.sum() - 1e-4
        assert case.prior @ margins["expectation"] >= case.prior @ each - 1e-4


def test_at_the_start_of_a_game_unsafe_solving_finds_an_equilibrium(
    tiny_tree: GameTree[Any],
) -> None:
    form = SequenceForm(tiny_tree)
    nothing = np.zeros(len(tiny_tree.infosets.action))
    start = SubgameRoots(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_))
    sub = subgame_form(form, start, form.uniform())
    x = solve_soft(form, sub, nothing, np.zeros(1), np.ones(1), 1.0)
    expected = least_exploitable(tiny_tree, nothing, AsSolved()).value
    assert answer_values(form, sub, x)[0] == pytest.approx(expected, abs=1e-7)


# -- safety -------------------------------------------------------------------------------------

priors = pytest.mark.parametrize("prior", [mixed_prior, even_prior, ValuePrior(0.5)])


@priors
@pytest.mark.parametrize("tie", TIES)
def test_resolve_with_common_knowledge_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], prior: Prior, tie: Tie
) -> None:
    policy = Case(tiny_tree, 1, 2).policy
    solver = SubgameSolver(
        tiny_tree, np.zeros_like(policy), COMMON_KNOWLEDGE, SoftRoot(0.0, prior, tie)
    )
    nested = solver.solve_everywhere(policy)
    least = guaranteed(tiny_tree, policy) - PRECISION / tiny_tree.game.scale
    assert guaranteed(tiny_tree, nested.policy) >= least


@pytest.mark.parametrize("tie", TIES)
def test_resolve_at_one_infoset_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], tie: Tie
) -> None:
    """K, Lemma 11, with Resolve in place of Maxmargin: no margin is below 0."""
    policy = Case(tiny_tree, 1, 3).policy
    solver = SubgameSolver(tiny_tree, np.zeros_like(policy), 1, SoftRoot(0.0, tie=tie))
    least = guaranteed(tiny_tree, policy) - PRECISION / tiny_tree.game.scale
    infosets = np.flatnonzero(tiny_tree.infosets.player == MAX)
    for infoset in np.random.default_rng(3).choice(infosets, 4).tolist():
        assert guaranteed(tiny_tree, solver.solve(infoset, policy)) >= least


def test_unsafe_solving_makes_a_good_blueprint_more_exploitable() -> None:
    row = ROWS["kuhn"]
    tree = enumerate_game(row.make())
    floor = floor_of(tree, row)
    policy = least_exploitable(tree, floor, AsSolved()).policy
    values = {
        epsilon: guaranteed(
            tree,
            SubgameSolver(tree, floor, COMMON_KNOWLEDGE, SoftRoot(epsilon))
            .solve_everywhere(policy)
            .policy,
        )
        for epsilon in (0.0, 1.0)
    }
    assert values[0.0] > guaranteed(tree, policy) > values[1.0]
