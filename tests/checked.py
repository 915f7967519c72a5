"""Check the tree after every subgame construction, in all tests that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from obscuro.search.game import Expansion
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots
from tests.search.invariants import check


def check_every_subgame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `Search.begin` verify its tree before it returns, until the test is over."""
    begin = Search.begin

    def checked(
        search: Search,
        our_key: int,
        new: NewRoots,
        expansions: Sequence[Expansion],
        root_key: int | None = None,
        **more: Any,
    ) -> None:
        begin(search, our_key, new, expansions, root_key, **more)
        check(search.tree)

    monkeypatch.setattr(Search, "begin", checked)
