"""Settings shared by all tests, and the order in which files of tests are run."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.sizes import register_profiles

DURATIONS = Path(__file__).resolve().parents[1] / ".test-durations.xml"
"""What the last `make test` has written."""

register_profiles()

# A shell starts what runs in its background with SIGINT ignored, and children inherit that.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that took longest, so that no worker has one left at the end."""
    seconds = seconds_of_files(DURATIONS)
    items.sort(key=lambda item: -seconds[item.nodeid.split("::")[0]])


def seconds_of_files(report: Path) -> Counter[str]:
    """Return the seconds of each file of tests in a JUnit report; none if it can't be read."""
    seconds: Counter[str] = Counter()
    try:
        cases = ElementTree.parse(report).getroot().iter("testcase")
    except (OSError, ElementTree.ParseError):
        return seconds
    for case in cases:
        words = case.get("classname", "").split(".")
        file = next((i for i, word in enumerate(words) if word.startswith("test_")), 0)
        seconds["/".join(words[: file + 1]) + ".py"] += float(case.get("time", 0))
    return seconds
