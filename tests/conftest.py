"""Settings shared by all tests, and how pytest-xdist shares the tests out."""

from __future__ import annotations

import pytest

from tests.sizes import register_profiles

TIMING = "timing"
"""The group of tests that start engines or depend on time: one after the other, in one worker."""

register_profiles()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one worker, where they share fixtures; TIMING comes first."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
    items.sort(key=lambda item: group_of(item) != TIMING)


def group_of(item: pytest.Item) -> str:
    """Return the group of a test."""
    mark = item.get_closest_marker("xdist_group")
    return "" if mark is None else str(mark.args[0])
