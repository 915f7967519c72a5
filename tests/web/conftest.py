"""The browser and the server that the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import browser_or_skip
from tests.web.board_page import BoardPage
from tests.web.served_app import ServedApp, served_app


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with browser_or_skip() as browser:
        yield browser


@pytest.fixture(scope="package")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    """A server for all tests that don't harm it. It starts only if there is a browser."""
    with served_app(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def board(browser: Browser, server: ServedApp) -> Iterator[BoardPage]:
    """A tab of a new visitor. Whatever a test does, nothing may fail in it."""
    board = BoardPage(browser.new_context(), server.url)
    yield board
    board.leave()
    assert board.faults == []
