"""The networks of the Stockfish that is installed."""

from __future__ import annotations

import pytest

from obscuro.evaluation.nnue.install import InstalledNetwork, load_networks
from obscuro.evaluation.nnue.network import NetworkError
from tests.evaluation.naive import STOCKFISH


@pytest.fixture(scope="session")
def networks() -> list[InstalledNetwork]:
    """All of them, mapped from the user's cache; skips the test where there are none."""
    try:
        return load_networks(STOCKFISH)
    except NetworkError as error:
        pytest.skip(str(error))
