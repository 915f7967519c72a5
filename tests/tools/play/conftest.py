"""A file of lost games, and a player that replays them quickly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro.engine.player import Player
from tests.tools.play.lost_games import SMALL, write_games
from tools.common import engine_options


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_games(tmp_path / "games.pgn")


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    made = Player(engine_options(**dict(option.split("=") for option in SMALL)), print)
    yield made
    made.close()
