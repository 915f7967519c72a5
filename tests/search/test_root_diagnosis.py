"""What the root of a search looks like, beside trying every pure strategy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search.game import MAX, MIN
from obscuro.search.root_diagnosis import respond_best
from obscuro.search.root_values import refreshed
from obscuro.search.search import Search
from obscuro.search.tree import INFOSETS, ROOT_INFOSET, ROOTS

from .random_game import RandomGame
from .trees import random_search, random_strategies, run_iterations

GAME = RandomGame(17, plies=20)
MOST = 3_000  # pure strategies that are tried


def searched(seed: int) -> Search:
    search = random_search(seed, infosets=3, game=GAME, expansions=12)
    rng = np.random.default_rng(seed)
    random_strategies(search.tree, rng)
    search.gadget.prior[:] = rng.dirichlet(np.ones(len(search.gadget.prior)))
    search.gadget.enter[:] = rng.random(len(search.gadget.enter))
    return search


def values_with(search: Search, choices: dict[int, int]) -> NDArray[np.float64]:
    """The values of all J if these infosets play these actions."""
    tree = search.tree._replace(strategy=search.tree.strategy.copy())
    for infoset, action in choices.items():
        first, count = int(tree.infoset_first[infoset]), int(tree.infoset_actions[infoset])
        tree.strategy[first : first + count] = 0
        tree.strategy[first + action] = 1
    return refreshed(tree, search.gadget)[1].value.astype(np.float64)


def pure_strategies(search: Search, player: int) -> list[dict[int, int]]:
    tree = search.tree
    own = [
        infoset
        for infoset in range(ROOT_INFOSET + 1, int(tree.counts[INFOSETS]))
        if tree.infoset_player[infoset] == player and tree.infoset_actions[infoset] > 1
    ]
    sizes = [range(int(tree.infoset_actions[infoset])) for infoset in own]
    if np.prod([len(size) for size in sizes]) > MOST:
        pytest.skip("too many strategies to try")
    return [dict(zip(own, choice, strict=True)) for choice in itertools.product(*sizes)]


@pytest.mark.parametrize("player", [MAX, MIN])
@pytest.mark.parametrize("seed", range(1, 9))
def test_the_best_response_is_the_best_of_all_pure_strategies(seed: int, player: int) -> None:
    search = searched(seed)
    weights = np.random.default_rng(seed).random(len(search.gadget.prior))
    sign = 1 if player == MAX else -1
    tried = [
        sign * float(weights @ values_with(search, choice))
        for choice in pure_strategies(search, player)
    ]
    tree = refreshed(search.tree, search.gadget)[0]
    found = sign * float(weights @ respond_best(tree, player, weights))
    assert found == pytest.approx(max(tried), abs=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_question_changes_nothing(seed: int) -> None:
    search = searched(seed)
    before = [np.array(each) for each in (*search.tree, *search.gadget)]
    assert search.diagnosis() is not None
    now = [np.asarray(each) for each in (*search.tree, *search.gadget)]
    for old, new in zip(before, now, strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_figures_of_the_root(seed: int) -> None:
    search = searched(seed)
    gadget, roots = search.gadget, int(search.tree.counts[ROOTS])
    search.first_new_root = 1
    found = search.diagnosis()
    assert found is not None
    assert found.p_max == float(gadget.p_max[0])
    assert found.entered == pytest.approx(float(gadget.prior @ gadget.enter))
    assert found.fresh == pytest.approx(1 - 1 / roots)
    assert found.mean == pytest.approx(float(gadget.prior @ values_with(search, {})), abs=1e-6)
    assert found.gap >= -1e-6


def test_the_gap_closes_as_the_solver_goes_on() -> None:
    search = random_search(5, infosets=5, game=GAME, expansions=200)
    gaps = []
    for iterations in (1, 3_000):
        run_iterations(search, iterations)
        found = search.diagnosis()
        assert found is not None
        gaps.append(found.gap)
    assert gaps[1] < 0.005 < gaps[0]


def test_an_empty_tree_has_no_root() -> None:
    search = random_search(1, infosets=3, game=GAME, expansions=1)
    search.forget()
    assert search.diagnosis() is None
