from __future__ import annotations

from functools import cache
from typing import Any

import pyspiel
import pytest

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.extensive_form import ExtensiveForm
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.kuhn import KuhnPoker
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.matching_pennies import MatchingPennies

from .oracle import twin_states


@cache
def tree_of(name: str) -> GameTree[Any]:
    return enumerate_game(CATALOG[name].make())


@cache
def twins_of(name: str) -> list[pyspiel.State]:
    return twin_states(tree_of(name))


@pytest.fixture(scope="session")
def kuhn() -> GameTree[Any]:
    return tree_of("kuhn")


@pytest.fixture(scope="session")
def leduc() -> GameTree[Any]:
    return tree_of("leduc")


@pytest.fixture(scope="session", params=CATALOG)
def name(request: pytest.FixtureRequest) -> str:
    """Every small game in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def tree(name: str) -> GameTree[Any]:
    """Every small game in turn, written out."""
    return tree_of(name)


@pytest.fixture(scope="session")
def twins(name: str) -> list[pyspiel.State]:
    """OpenSpiel's state at each node of `tree`."""
    return twins_of(name)


SMALL_GAMES: list[ExtensiveForm[Any]] = [
    KuhnPoker(),
    LeducPoker(),
    LiarsDice(3),
    Goofspiel(4, "increasing"),
    Goofspiel(3, "random"),
    MatchingPennies(10),
]


@pytest.fixture(scope="session", params=SMALL_GAMES, ids=lambda game: game.name)
def small_tree(request: pytest.FixtureRequest) -> GameTree[Any]:
    """Every game in a size for tests that take long."""
    return enumerate_game(request.param)


TINY_GAMES: list[ExtensiveForm[Any]] = [
    KuhnPoker(),
    LiarsDice(2),
    Goofspiel(3, "random"),
    Goofspiel(4, "increasing"),
    MatchingPennies(6),
]


@pytest.fixture(scope="session", params=TINY_GAMES, ids=lambda game: game.name)
def tiny_tree(request: pytest.FixtureRequest) -> GameTree[Any]:
    """Games for tests that are slow for their size."""
    return enumerate_game(request.param)
