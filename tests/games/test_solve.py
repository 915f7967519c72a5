"""The proof of the search: the code that plays chess solves games whose answers are known.

What is measured exactly (`best_response`) is the exploitability in the whole game, in its own units.
"""

from __future__ import annotations

from typing import Any

import pytest

from obscuro.games.best_response import expected_value, exploitability
from obscuro.games.solve import GameSolver, solve
from obscuro.games.tree import GameTree
from obscuro.search.parameters import SearchParameters
from obscuro.search.tree import FULL, check

KUHN_VALUE = -1 / 18
LEDUC_VALUE = -0.085606
GOAL = 1e-3

one_or_two_sided = pytest.mark.parametrize("one_sided", [True, False], ids=["one", "two"])


@one_or_two_sided
def test_kuhn_poker_is_solved(kuhn: GameTree[Any], one_sided: bool) -> None:
    solution = solve(kuhn, 400, one_sided=one_sided)
    check(solution.tree)
    assert exploitability(kuhn, solution.average) < GOAL
    assert exploitability(kuhn, solution.last) < GOAL  # PCFR+ also converges in its last iterate
    assert expected_value(kuhn, solution.average) == pytest.approx(KUHN_VALUE, abs=GOAL)
    assert solution.value == pytest.approx(KUHN_VALUE, abs=GOAL)
    assert solution.averaged >= 100


@one_or_two_sided
def test_leduc_poker_is_solved(leduc: GameTree[Any], one_sided: bool) -> None:
    solution = solve(leduc, 6000, one_sided=one_sided)
    check(solution.tree)
    assert exploitability(leduc, solution.average) < GOAL
    assert exploitability(leduc, solution.last) < 20 * GOAL  # 1e-4 after 20,000 iterations
    assert expected_value(leduc, solution.average) == pytest.approx(LEDUC_VALUE, abs=GOAL)
    assert solution.value == pytest.approx(LEDUC_VALUE, abs=GOAL)


def test_growing_and_solving_with_the_parameters_of_chess_finds_kuhns_value(
    kuhn: GameTree[Any],
) -> None:
    solver = GameSolver(kuhn, parameters=SearchParameters())
    solver.run(400)
    assert solver.solution().value == pytest.approx(KUHN_VALUE, abs=GOAL)


def test_same_seed_same_solution(kuhn: GameTree[Any]) -> None:
    one, same, other = (solve(kuhn, 50, seed=seed) for seed in (5, 5, 6))
    assert one.value == same.value
    for found, again in ((one.average, same.average), (one.last, same.last)):
        assert found.keys() == again.keys()
        assert all((found[key] == again[key]).all() for key in found)
    assert one.tree.edge_keys.tolist() != other.tree.edge_keys.tolist()


def test_all_leduc_fits_into_the_tree(leduc: GameTree[Any]) -> None:
    parameters = SearchParameters(one_sided=False, puct_c=1000.0)
    solver = GameSolver(leduc, parameters=parameters)
    solver.run(1000)
    solution = solver.solution()
    assert solution.tree.nodes > 0.995 * (len(leduc.states) - leduc.levels[2])
    assert not solution.tree.counts[FULL]


def test_averaging_starts_anew_when_the_tree_has_grown(kuhn: GameTree[Any]) -> None:
    solver = GameSolver(kuhn)
    solver.run(1)
    solver.run(1)
    assert solver.solution().averaged == 1
    solver.run(10, grow=False)
    assert solver.solution().averaged == 11


def test_evaluator_gives_the_leaves_their_values(kuhn: GameTree[Any]) -> None:
    solver = GameSolver(kuhn, evaluate=lambda _: 0.25)
    solver.run(1, grow=False)
    assert solver.solution().value == pytest.approx(0.25 / kuhn.game.scale)
