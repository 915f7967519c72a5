"""How much the tests try: a part of it in `make test`, all of it in `make proofs`.

A test has one body for both. What is marked `slow` runs in `make proofs` only, and the profile of
hypothesis says how many examples a property is tried on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import hypothesis
import pytest

QUICK = "quick"
NIGHTLY = "nightly"


def register_profiles() -> None:
    """Register the profiles of hypothesis and load the one of `make test`.

    `pytest --hypothesis-profile nightly` loads the other.
    """
    # The first call of a kernel compiles it, so a deadline would measure the compiler.
    hypothesis.settings.register_profile(QUICK, deadline=None, max_examples=30)
    hypothesis.settings.register_profile(NIGHTLY, deadline=None, max_examples=500)
    hypothesis.settings.load_profile(QUICK)


def examples(share: float) -> Callable[[Any], Any]:
    """Try a property on `share` times as many examples as the profile says."""
    return hypothesis.settings(max_examples=round(share * hypothesis.settings().max_examples))


def quick_among(values: Iterable[Any], is_quick: Callable[[Any], bool]) -> list[Any]:
    """Return parameters for `parametrize`; those that are not quick are marked slow.

    A value that is a tuple is taken as the values of several arguments.
    """
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if is_quick(value) else pytest.mark.slow,
        )
        for value in values
    ]
