from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.klss import SubgameSolver
from obscuro.research.games.klss_rows import FigurePennies
from obscuro.research.games.matching_pennies import HEADS, TAILS, PenniesState
from obscuro.research.games.sequence_form import (
    SequenceForm,
    SubgameForm,
    SubgameRoots,
    answer_values,
    answers_by,
    played_from_roots,
    subgame_form,
)
from obscuro.research.games.subgame_program import (
    Against,
    AsSolved,
    AtRandom,
    Choice,
    Margins,
    Solved,
    solve_maxmargin,
)
from obscuro.search.game import MAX

from .naive_subgames import best_margin, knowledge_set, margins
from .oracle import random_policy

ORDERS = [1, 2, 3, None]


# -- the example of K, Appendix C ---------------------------------------------------------------


class Example:
    """The subgame at R_1 in Figure 1, the uniform blueprint."""

    def __init__(self, order: int | None) -> None:
        self.tree = enumerate_game(FigurePennies(4))
        self.form = SequenceForm(self.tree)
        self.policy = self.form.uniform()
        node = self.tree.states.index(PenniesState(1))
        self.floor = np.zeros(len(self.policy))
        solver = SubgameSolver(self.tree, self.floor, order, Margins())
        self.roots = solver.roots(int(self.tree.infoset[node]), self.policy)
        self.sub = subgame_form(self.form, self.roots, self.policy)
        self.alternate = answer_values(
            self.form, self.sub, played_from_roots(self.form, self.sub, self.policy)
        )

    def row(self, told: int, penny: int) -> int:
        """▼'s row for a penny where it knows `told`, ⌊n/2⌋."""
        node = self.tree.states.index(PenniesState(max(2 * told, 1), (HEADS,)))
        slot = self.tree.infosets.offsets[self.tree.infoset[node]] + penny
        return self.sub.groups + int(np.flatnonzero(self.sub.rows == slot)[0])

    def groups(self) -> dict[int, int]:
        """The group of each number that ▼ can have been told, in this order."""
        told = [int(self.tree.states[node].number) // 2 for node in self.roots.node]
        return dict(sorted(zip(told, self.roots.group.tolist(), strict=True)))

    def matrix(self) -> NDArray[np.float64]:
        """▼'s rows C_0h, C_0t, C_2h, C_2t, …: a factor for each of ▲'s columns, and the rest."""
        lines = []
        for told, group in self.groups().items():
            for penny in (HEADS, TAILS):
                row = self.row(told, penny)
                line = [*self.sub.payoff.toarray()[row], self.sub.fixed[row]]
                lines.append(np.array(line) / self.sub.alive[group])
        return np.array(lines)

    def alternates(self) -> list[float]:
        """The alternate values of C'_0, C'_2, …"""
        values = self.alternate / self.sub.alive
        return [float(values[group]) for group in self.groups().values()]


def test_common_knowledge_subgame_is_that_of_the_figure() -> None:
    """The columns: R_1 h and t, R_3 h and t, what doesn't depend on ▲."""
    example = Example(None)
    expected = [
        [1, 0, 0, 0, 0],  # C_0 h
        [0, 4, 0, 0, 0],  # C_0 t
        [1, 0, 3 / 2, 0, 0],  # C_2 h
        [0, 3 / 2, 0, 1, 0],  # C_2 t
        [0, 0, 4, 0, 0],  # C_4 h
        [0, 0, 0, 1, 0],  # C_4 t
    ]
    assert example.matrix() == pytest.approx(np.array(expected), abs=1e-12)
    # The paper's text subtracts 1/2, 5/2 and 2. But the matrix has C_2's rows halved, so that 5/4
    # belongs there, and at C'_4 its own blueprint values have 1/2, for two tails.
    assert example.alternates() == pytest.approx([1 / 2, 5 / 4, 1 / 2], abs=1e-12)


def test_knowledge_limited_subgame_is_that_of_the_figure() -> None:
    """The columns: R_1 h and t, what ▲'s frozen strategy gives at the number 3."""
    example = Example(1)
    expected = [
        [1, 0, 0],  # C_0 h
        [0, 4, 0],  # C_0 t
        [2, 0, 3 / 2],  # C_2 h
        [0, 3, 1],  # C_2 t
    ]
    assert example.matrix() == pytest.approx(np.array(expected), abs=1e-12)
    # The paper's text subtracts 3 at C'_2, which its own blueprint values have as 5/2.
    assert example.alternates() == pytest.approx([1 / 2, 5 / 2], abs=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_uniform_play_is_the_best_of_the_figure(order: int | None) -> None:
    example = Example(order)
    solved = solve_maxmargin(
        example.form, example.sub, example.floor, example.alternate, AsSolved()
    )
    assert solved.margin == pytest.approx(0.0, abs=1e-9)


# -- any game -----------------------------------------------------------------------------------


class Case:
    """One subgame of a game, at one of ▲'s infosets, by a random policy that has no zeros."""

    def __init__(self, tree: GameTree[Any], order: int | None, seed: int, floor: float) -> None:
        rng = np.random.default_rng(seed)
        self.tree, self.form = tree, SequenceForm(tree)
        degrees = np.diff(tree.infosets.offsets)
        mine = np.repeat(np.where(tree.infosets.player == MAX, 1.0, 0.0) / degrees, degrees)
        self.floor = floor * mine
        self.policy = 0.7 * random_policy(tree, rng) + 0.3 * self.form.uniform()
        self.infoset = int(rng.choice(np.flatnonzero(tree.infosets.player == MAX)))
        self.nodes = np.flatnonzero(tree.infoset == self.infoset).tolist()
        self.inside = knowledge_set(tree, self.nodes, order)
        self.solver = SubgameSolver(tree, self.floor, order, Margins())
        self.roots: SubgameRoots = self.solver.roots(self.infoset, self.policy)
        self.sub: SubgameForm = subgame_form(self.form, self.roots, self.policy)
        self.before = played_from_roots(self.form, self.sub, self.policy)
        self.alternate = answer_values(self.form, self.sub, self.before)

    def solve(self, choice: Choice) -> Solved:
        return solve_maxmargin(self.form, self.sub, self.floor, self.alternate, choice)

    def margins(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        gains = answer_values(self.form, self.sub, x) - self.alternate
        return gains / self.sub.alive


every_order = pytest.mark.parametrize("order", ORDERS)


@every_order
@pytest.mark.parametrize("floor", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(2))
def test_least_margin_is_that_of_the_naive_program(
    tiny_tree: GameTree[Any], order: int | None, floor: float, seed: int
) -> None:
    case = Case(tiny_tree, order, seed, floor)
    at_root = {int(tiny_tree.infoset[node]) for node in case.inside}
    expected = best_margin(tiny_tree, case.inside, case.policy, case.floor, at_root)
    assert case.solve(AsSolved()).margin == pytest.approx(expected, abs=1e-7)


@every_order
def test_no_strategy_found_has_a_lesser_margin_than_promised(
    tiny_tree: GameTree[Any], order: int | None
) -> None:
    case = Case(tiny_tree, order, 7, 0.25)
    opponent = random_policy(tiny_tree, np.random.default_rng(1))
    choices: list[Choice] = [
        AsSolved(),
        Margins(),
        AtRandom(1),
        Against(opponent),
        Against(opponent, worst=True),
        AsSolved("highs-ipm"),
    ]
    solved = [case.solve(choice) for choice in choices]
    for each in solved:
        assert each.margin == pytest.approx(solved[0].margin, abs=1e-7)
        assert case.margins(each.x).min() == pytest.approx(each.margin, abs=1e-6)
    sums = [case.margins(each.x).sum() for each in solved]
    assert sums[1] >= max(sums) - 1e-6
    y = answers_by(case.form, case.sub, opponent)
    gains = [y @ (case.sub.payoff @ each.x) for each in solved]
    assert gains[3] >= max(gains) - 1e-6
    assert gains[4] <= min(gains) + 1e-6


@every_order
def test_margins_are_those_of_the_policy_in_the_whole_game(
    tiny_tree: GameTree[Any], order: int | None
) -> None:
    case = Case(tiny_tree, order, 3, 0.0)
    after = case.solver.solve(case.infoset, case.policy)
    expected = margins(tiny_tree, case.inside, case.policy, after)
    assert min(expected) == pytest.approx(case.solve(Margins()).margin, abs=1e-6)
    changed = np.flatnonzero(after != case.policy)
    assert np.all(tiny_tree.infosets.player[case.form.infoset_of[changed]] == MAX)


def test_opponents_plan_holds_us_down_to_the_margin(tiny_tree: GameTree[Any]) -> None:
    """▼'s prices are a strategy: nothing that ▲ can play gets more against it."""
    case = Case(tiny_tree, None, 11, 0.0)
    solved = case.solve(AsSolved())
    rng = np.random.default_rng(2)
    share = solved.y[: case.sub.groups]
    assert (share * case.sub.alive).sum() == pytest.approx(case.sub.alive.max(), abs=1e-7)
    for _ in range(5):
        x = played_from_roots(case.form, case.sub, random_policy(tiny_tree, rng))
        gain = solved.y @ (case.sub.payoff @ x + case.sub.fixed) - share @ case.alternate
        assert gain / case.sub.alive.max() <= solved.margin + 1e-7


def test_floor_holds_everywhere_unless_it_is_lifted_at_the_roots() -> None:
    tree = enumerate_game(FigurePennies(3))
    form = SequenceForm(tree)
    start = SubgameRoots(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.bool_))
    sub = subgame_form(form, start, form.uniform())
    floor = np.where(tree.infosets.action == HEADS, 0.9, 0.0)
    held = solve_maxmargin(form, sub, floor, np.zeros(1), AsSolved(), lift=False)
    free = solve_maxmargin(form, sub, np.zeros_like(floor), np.zeros(1), AsSolved())
    assert held.margin < free.margin
    assert np.all(held.x[HEADS::2] >= 0.9 - 1e-9)
