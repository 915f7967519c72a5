"""Tables of what `obscuro bench NAME --json` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.common import table


def render(numbers: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of a benchmark's numbers by their keys, which docs/benchmarks.md explains."""
    rows = [
        [f"`{key}`", cell(value)] for key, value in numbers.items() if not isinstance(value, dict)
    ]
    yield from table(["", "measured"], rows, "lr")


def cell(value: object) -> str:
    """Return a number with four digits that count; large ones whole, with thousands apart."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
