"""Write the tables of options in docs/protocol.md and of `Search`'s keys in docs/algorithm.md.

    python -m tools.record.option_table

The facts, name, type, default and range, come from `obscuro.engine.options`. What an option does is
written by hand, in the last column, and stays as it is. A new option gets a row with its help text.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from obscuro.engine.options import OPTIONS, SEARCH_KEYS, Option, text_of
from obscuro.evaluation.factory import BUILT_IN
from tools.common import given, tool_parser

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLES = {DOCS / "protocol.md": OPTIONS, DOCS / "algorithm.md": SEARCH_KEYS}
BEGIN = "<!-- begin options: made by python -m tools.record.option_table -->"
END = "<!-- end options -->"

OF_MACHINE = {
    ("Threads", "default"): "cores, at most 4",
    ("Hash", "default"): "memory / 8, 64 to 1024",
    ("Hash", "maximum"): "memory",
    ("eval_cache", "maximum"): "memory",
    ("Max Positions", "default"): "memory / 800 B, 100000 to 4000000",
    ("Max Positions", "maximum"): "8000000",
}
"""What depends on the machine, in words."""


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.option_table", __doc__, stores=False)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Write the tables into their pages; returns the exit code."""
    make_parser().parse_args(given(words))
    for page, options in TABLES.items():
        page.write_text(with_table(page.read_text(encoding="utf-8"), options), encoding="utf-8")
    return 0


def with_table(page: str, options: Sequence[Option]) -> str:
    """Return the page's text with the facts of the table brought up to date.

    Raises ValueError if the page lacks the marks that the table stands between.
    """
    before, begin, rest = page.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page lacks {BEGIN!r} or {END!r}")
    told = dict(re.findall(r"^\| `([^`]+)` .*\| ([^|]+) \|$", old, re.M))
    rows = ["| option | type | default | range | what it does |", "|---|---|---|---|---|"]
    for option in options:
        facts = [f"`{option.name}`", option.kind, default(option), values(option)]
        rows.append(f"| {' | '.join((*facts, told.get(option.name, option.help)))} |")
    return "\n".join([before + begin, *rows, end + after])


def default(option: Option) -> str:
    """Return an option's default, in words where it depends on the machine."""
    told = OF_MACHINE.get((option.name, "default"))
    if told is not None:
        return told
    return f"`{text_of(option.default)}`" if option.default != "" else "empty"


def values(option: Option) -> str:
    """Return what an option can be set to."""
    if option.kind == "check":
        return "`true`, `false`"
    if option.kind == "combo":
        # Plug-ins add their names to the evaluators; the page lists ours.
        ours = BUILT_IN if option.name == "Evaluator" else option.choices
        return ", ".join(f"`{name}`" for name in ours)
    if option.kind in ("spin", "number"):
        most = OF_MACHINE.get((option.name, "maximum"), str(option.maximum))
        return f"{option.minimum} to {most}"
    return "any text"


if __name__ == "__main__":
    sys.exit(main())
