"""The small parts of a report: sections, tables, and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from obscuro.matches.elo import Elo
from obscuro.matches.markup import Content, Element, element
from obscuro.matches.rating import Estimate


def section(title: str, *contents: Content) -> Element:
    """Return a section with a heading."""
    return element("section", element("h2", title), *contents)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Content]], classes: Sequence[str] = ()
) -> Element:
    """Return a table that scrolls sideways if it is too wide. classes: of the first columns."""
    kinds = [*classes, *([""] * (len(heads) - len(classes)))]
    head = element(
        "tr",
        *(
            element("th", text, class_="left" if kind else "")
            for text, kind in zip(heads, kinds, strict=True)
        ),
    )
    body = [
        element(
            "tr",
            *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)),
        )
        for row in rows
    ]
    whole = element("table", element("thead", head), element("tbody", *body))
    return element("div", whole, class_="wide")


def points_text(points: float) -> str:
    """Write points as people do: `12½`."""
    whole = int(points)
    half = "½" if points - whole else ""
    return f"{whole or ''}{half}" or "0"


def percent_text(part: float, whole: float) -> str:
    """Write a share as `12.5%`; `-` for a share of nothing."""
    return f"{part / whole:.1%}" if whole else "-"


def error_text(error: float) -> str:
    """Write half an interval; an error of 0 is that of the anchor."""
    if not math.isfinite(error):
        return "unknown"
    return f"± {error:.0f}" if error else "anchor"


def estimate_text(estimate: Estimate) -> str:
    """Write a value with its error in whole points."""
    return f"{estimate.value:+.0f} ± {estimate.error:.0f}"


def elo_text(elo: Elo) -> str:
    """Write a difference in few letters: `+35 ± 20`, `+191, > -68`, `> +190`."""
    if math.isfinite(elo.low) and math.isfinite(elo.high):
        return f"{elo.difference:+.0f} ± {(elo.high - elo.low) / 2:.0f}"
    parts = [f"{elo.difference:+.0f}"] if math.isfinite(elo.difference) else []
    parts += [f"> {elo.low:+.0f}"] if math.isfinite(elo.low) else []
    parts += [f"< {elo.high:+.0f}"] if math.isfinite(elo.high) else []
    return ", ".join(parts)
