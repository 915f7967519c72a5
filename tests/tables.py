"""Reads the tables that tools print."""

from __future__ import annotations

import itertools


def rows(text: str) -> list[list[str]]:
    """The cells of a table in Markdown, row by row, without its head and what follows it."""
    lines = itertools.takewhile(lambda line: line.startswith("|"), text.splitlines()[2:])
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
