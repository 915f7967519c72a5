"""The proof of the search: the code that plays chess solves games whose answers are known.

What is measured exactly (`best_response`) is the exploitability in the whole game, in its own units.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, expected_value, exploitability
from obscuro.research.games.search_game import METHODS, GameSolver, Method, SearchGame, solve
from obscuro.search.parameters import SearchParameters
from obscuro.search.tree import FULL
from tests.search.invariants import check
from tests.sizes import quick_among

from .conftest import tree_of

GOAL = 1e-3

EVERY_METHOD = ("kuhn",)  # the game that `make test` solves by all methods
every_method = pytest.mark.parametrize("method", METHODS)


class Expected(NamedTuple):
    """What is reached after some iterations: some times the worst that five seeds gave."""

    iterations: int
    average: float
    last: float


QUICKLY: dict[str, dict[Method, Expected]] = {
    "kuhn": {
        "whole": Expected(256, 1e-5, 1e-6),
        "one-sided": Expected(256, 2e-5, 1e-6),
        "two-sided": Expected(256, 2e-5, 1e-6),
    },
    "leduc": {
        "whole": Expected(1024, 3e-3, 0.06),
        "one-sided": Expected(2048, 8e-3, 0.1),
        "two-sided": Expected(2048, 2e-3, 0.1),
    },
    "goofspiel_increasing": {
        "whole": Expected(256, 5e-5, 1e-6),
        "one-sided": Expected(1024, 1e-3, 1e-3),
        "two-sided": Expected(1024, 1e-3, 1e-3),
    },
    "goofspiel_random": {
        "whole": Expected(512, 6e-4, 0.012),
        "one-sided": Expected(1024, 4e-3, 0.02),
        "two-sided": Expected(1024, 0.02, 0.03),
    },
    "liars_dice": {
        "whole": Expected(512, 1.5e-3, 1e-3),
        "one-sided": Expected(1024, 0.05, 0.05),
        "two-sided": Expected(1024, 0.08, 0.08),
    },
    "matching_pennies": {
        "whole": Expected(512, 3e-3, 0.05),
        "one-sided": Expected(512, 8e-3, 0.8),
        "two-sided": Expected(512, 8e-3, 0.8),
    },
}


@pytest.mark.parametrize(
    ("name", "method"),
    quick_among(
        product(CATALOG, METHODS),
        lambda case: case[0] in EVERY_METHOD or case == ("leduc", "one-sided"),
    ),
)
def test_average_and_last_iterate_approach_equilibrium(name: str, method: Method) -> None:
    tree = tree_of(name)
    expected = QUICKLY[name][method]
    solution = solve(tree, expected.iterations, method)
    check(solution.tree)
    assert not solution.tree.counts[FULL]
    assert exploitability(tree, solution.average) < expected.average
    assert exploitability(tree, solution.last) < expected.last
    value = CATALOG[name].value
    assert expected_value(tree, solution.average) == pytest.approx(value, abs=expected.average)
    assert solution.value == pytest.approx(value, abs=expected.last)


@every_method
def test_kuhn_poker_is_solved(kuhn: GameTree[Any], method: Method) -> None:
    solution = solve(kuhn, 400, method)
    assert exploitability(kuhn, solution.average) < GOAL
    assert exploitability(kuhn, solution.last) < GOAL  # PCFR+ also converges in its last iterate
    assert solution.value == pytest.approx(CATALOG["kuhn"].value, abs=GOAL)


@pytest.mark.slow
@every_method
def test_every_game_is_solved(name: str, tree: GameTree[Any], method: Method) -> None:
    known = CATALOG[name]
    solution = solve(tree, known.iterations, method)
    assert exploitability(tree, solution.average) < GOAL
    assert expected_value(tree, solution.average) == pytest.approx(known.value, abs=GOAL)


def test_whole_tree_holds_the_whole_game(tree: GameTree[Any]) -> None:
    solution = GameSolver(tree, "whole").solution()
    check(solution.tree)
    ours = solution.tree.edge_state[: solution.tree.nodes, 0]
    first = int(SearchGame(tree).roots().states[0, 0])
    assert sorted(ours.tolist()) == list(range(first, len(tree.states)))


def test_whole_tree_does_not_grow(kuhn: GameTree[Any]) -> None:
    solver = GameSolver(kuhn, "whole")
    before = solver.solution().tree.nodes
    solver.run(10)
    assert solver.solution().tree.nodes == before


def test_one_sided_growth_expands_less_than_two_sided() -> None:
    tree = tree_of("liars_dice")
    one, two = (solve(tree, 400, method).expansions for method in ("one-sided", "two-sided"))
    assert one < 0.9 * two
    assert two < 0.5 * np.count_nonzero(tree.player != TERMINAL)


def test_growing_and_solving_with_the_parameters_of_chess_finds_kuhns_value(
    kuhn: GameTree[Any],
) -> None:
    solver = GameSolver(kuhn, parameters=SearchParameters())
    solver.run(400)
    assert solver.solution().value == pytest.approx(CATALOG["kuhn"].value, abs=GOAL)


def test_same_seed_same_solution(kuhn: GameTree[Any]) -> None:
    one, same, other = (solve(kuhn, 50, seed=seed) for seed in (5, 5, 6))
    assert one.value == same.value
    for found, again in ((one.average, same.average), (one.last, same.last)):
        assert found.keys() == again.keys()
        assert all((found[key] == again[key]).all() for key in found)
    assert one.tree.edge_keys.tolist() != other.tree.edge_keys.tolist()


def test_all_leduc_fits_into_the_tree(leduc: GameTree[Any]) -> None:
    parameters = SearchParameters(puct_c=1000.0)
    solver = GameSolver(leduc, "two-sided", parameters=parameters)
    solver.run(1000)
    solution = solver.solution()
    assert solution.tree.nodes > 0.995 * (len(leduc.states) - leduc.levels[2])
    assert not solution.tree.counts[FULL]


def test_average_counts_iterations_while_the_tree_grows(kuhn: GameTree[Any]) -> None:
    solver = GameSolver(kuhn)
    solver.run(20)
    before = solver.solution()
    solver.run(1)
    after = solver.solution()
    moved = [np.abs(after.average[key] - before.average[key]).max() for key in before.average]
    assert 0 < max(moved) < 0.5


def test_evaluator_gives_the_leaves_their_values(kuhn: GameTree[Any]) -> None:
    solver = GameSolver(kuhn, evaluate=lambda _: 0.25)
    solver.run(1, grow=False)
    assert solver.solution().value == pytest.approx(0.25 / kuhn.game.scale)
