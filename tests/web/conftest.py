"""The browser and the server that the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser import browser_or_skip
from tests.web.board_page import BoardPage
from tests.web.web_process import WebProcess, web_process


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_or_skip() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    """A server for all tests that don't harm it. It starts only if there is a browser."""
    with web_process(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def board(browser: Browser, server: WebProcess) -> Iterator[BoardPage]:
    """A tab of a new visitor. Whatever a test does, nothing may fail in it."""
    context = browser.new_context()
    board = BoardPage(context, server.url)
    yield board
    board.leave()
    assert board.faults == []
