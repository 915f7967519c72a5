from __future__ import annotations

from typing import Any

import pytest

from obscuro.games.kuhn import KuhnPoker
from obscuro.games.leduc import LeducPoker
from obscuro.games.tree import GameTree, enumerate_game


@pytest.fixture(scope="session")
def kuhn() -> GameTree[Any]:
    return enumerate_game(KuhnPoker())


@pytest.fixture(scope="session")
def leduc() -> GameTree[Any]:
    return enumerate_game(LeducPoker())


@pytest.fixture(scope="session", params=["kuhn", "leduc"])
def tree(request: pytest.FixtureRequest) -> GameTree[Any]:
    """Every small game in turn."""
    found: GameTree[Any] = request.getfixturevalue(request.param)
    return found
