"""Reads the tables that tools print."""

from __future__ import annotations


def rows(text: str) -> list[list[str]]:
    """The cells of a table in Markdown, row by row, without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
