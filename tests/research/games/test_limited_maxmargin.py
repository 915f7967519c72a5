"""Maxmargin by CFR+, beside the same iterations written plainly, and beside the linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.cfr import CounterfactualRegret
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.generative import DiverseBlock, both_have_acted
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.klss import SubgameSolver, guaranteed
from obscuro.research.games.limited_maxmargin import LimitedMaxmargin, regret_maxmargin
from obscuro.research.games.root_rules import RootView, margins
from obscuro.research.games.subgame_program import AsSolved, Margins, solve_maxmargin
from obscuro.search.game import MAX

from .oracle import random_policy

Floats = NDArray[np.float64]


def blueprint(tree: GameTree[Any], iterations: int = 10) -> Floats:
    solver = CounterfactualRegret(tree)
    solver.run(iterations)
    return solver.average()


def views(tree: GameTree[Any], policy: Floats, step: int = 1) -> list[RootView]:
    solver = SubgameSolver(tree, np.zeros_like(policy), 1, Margins())
    infosets = np.flatnonzero(tree.infosets.player == MAX).tolist()[::step]
    return [solver.view(solver.roots(infoset, policy), policy) for infoset in infosets]


class PlainSide:
    """One player's decisions as lists of sequences, with the sequence before each."""

    def __init__(self, decisions: list[tuple[int, list[int]]]) -> None:
        self.decisions = decisions
        size = 1 + max(sequence for _, choices in decisions for sequence in choices)
        self.regret, self.total, self.policy = np.zeros(size), np.zeros(size), np.zeros(size)
        for _, choices in decisions:
            self.policy[choices] = 1 / len(choices)

    def plan(self) -> Floats:
        plan = self.policy.copy()
        for above, choices in self.decisions:
            plan[choices] *= plan[above] if above >= 0 else 1.0
        return plan

    def update(self, gains: Floats, weight: int) -> None:
        for above, choices in reversed(self.decisions):
            mean = float(self.policy[choices] @ gains[choices])
            if above >= 0:
                gains[above] += mean
            self.regret[choices] = np.maximum(self.regret[choices] + gains[choices] - mean, 0)
            mass = self.regret[choices].sum()
            self.policy[choices] = self.regret[choices] / mass if mass > 0 else 1 / len(choices)
        self.total += weight * self.plan()


def plain_cfr(view: RootView, iterations: int) -> Floats:
    """The same iterations with a dense matrix, each margin divided by its live share."""
    sub, offsets = view.sub, view.form.tree.infosets.offsets

    def decisions(infosets: Any, above: Any, begin: int) -> list[tuple[int, list[int]]]:
        found = []
        for infoset, before in zip(infosets.tolist(), above.tolist(), strict=True):
            degree = int(offsets[infoset + 1] - offsets[infoset])
            found.append((before, list(range(begin, begin + degree))))
            begin += degree
        return found

    mine = PlainSide(decisions(sub.infosets, sub.above, 0))
    choices = [(-1, list(range(sub.groups))), *decisions(sub.answers, sub.follows, sub.groups)]
    theirs = PlainSide(choices)
    payoff, fixed = sub.payoff.toarray(), sub.fixed.copy()
    fixed[: sub.groups] -= view.alternate
    group = dict(enumerate(range(sub.groups)))
    for above, rows in choices[1:]:
        group |= dict.fromkeys(rows, group[above])
    alive = np.array([sub.alive[group[row]] for row in range(len(fixed))])
    for iteration in range(1, iterations + 1):
        mine.update(payoff.T @ (theirs.plan() / alive), iteration)
        theirs.update(-(payoff @ mine.plan() + fixed) / alive, iteration)
    return mine.total / sum(range(1, iterations + 1))


def test_iterations_are_those_of_plain_cfr(leduc: GameTree[Any]) -> None:
    # At random: where regrets are equal, rounding decides between pure and uniform play.
    policy = 0.5 * random_policy(leduc, np.random.default_rng(2)) + 0.5 * blueprint(leduc, 1)
    shares = []
    for view in views(leduc, policy, 40):
        found = regret_maxmargin(view.form, view.sub, view.alternate, 7)
        assert found == pytest.approx(plain_cfr(view, 7), abs=1e-9)
        shares += view.sub.alive.tolist()
    assert min(shares) < 0.9, "else it would not matter in which units a margin is"


def test_in_the_limit_it_is_the_linear_programs_margin(tiny_tree: GameTree[Any]) -> None:
    policy = blueprint(tiny_tree, 3)
    floor = np.zeros_like(policy)
    for view in views(tiny_tree, policy):
        exact = solve_maxmargin(view.form, view.sub, floor, view.alternate, AsSolved())
        x = LimitedMaxmargin(10**9, most=5000).solve(view, floor)
        least = margins(view, x, view.alternate).min() * tiny_tree.game.scale
        assert least <= exact.margin * tiny_tree.game.scale + 1e-7
        assert least >= exact.margin * tiny_tree.game.scale - 1e-3


def test_a_limit_counts_the_nodes_below_the_live_roots(leduc: GameTree[Any]) -> None:
    tree, policy = leduc, blueprint(leduc, 3)

    def below(node: int) -> int:
        children = range(tree.first[node], tree.first[node] + tree.degree[node])
        return 1 + sum(below(child) for child in children)

    for view in views(tree, policy, 60):
        nodes = sum(below(node) for node in view.roots.node[view.roots.live].tolist())
        assert LimitedMaxmargin(20 * nodes).iterations(view) == 10
        assert LimitedMaxmargin(20 * nodes - 1).iterations(view) == 9
        assert LimitedMaxmargin(1).iterations(view) == 1
        assert LimitedMaxmargin(10**12, most=33).iterations(view) == 33


@pytest.mark.slow
def test_with_a_small_limit_few_infosets_are_refined_better_than_all() -> None:
    tree = enumerate_game(Goofspiel(5, "increasing", 3))
    policy = blueprint(tree, 10)
    floor = np.zeros_like(policy)

    def lost(rule: Any, budget: Any = None) -> float:
        solver = SubgameSolver(tree, floor, 1, rule, budget)
        return -guaranteed(
            tree, solver.solve_everywhere(policy, where=both_have_acted(tree)).policy
        )

    exact = lost(Margins())
    assert lost(LimitedMaxmargin(10**6)) == pytest.approx(exact, abs=0.02)
    assert lost(LimitedMaxmargin(1)) > exact + 0.1
    assert lost(LimitedMaxmargin(10**5), DiverseBlock(3)) < lost(LimitedMaxmargin(10**3))


def test_a_floor_is_refused(kuhn: GameTree[Any]) -> None:
    policy = blueprint(kuhn)
    with pytest.raises(ValueError, match="least probability"):
        LimitedMaxmargin(100).solve(views(kuhn, policy)[0], np.full_like(policy, 0.1))
