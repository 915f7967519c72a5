"""A real browser for tests of pages. Where there is none, these tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from playwright.sync_api import Browser

from tools.browser import NoBrowserError, running_browser

GROUP = "browser"
"""The group of pytest-xdist that all tests with a browser are in: one after the other."""


@contextmanager
def browser_or_skip() -> Iterator[Browser]:
    """Start the browser, or skip the test that asks for it."""
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(running_browser())
        except NoBrowserError as error:
            pytest.skip(str(error))
        yield browser
