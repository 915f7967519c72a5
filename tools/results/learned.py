"""Tables and pictures of `obscuro learn check` for pages: what fits explain, and their weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from obscuro.learn import check_plot
from obscuro.learn.check_tables import (
    CheckTable,
    about_sides,
    models_table,
    pawns_table,
    results_table,
    summary,
    values_table,
    verdict,
    weights_table,
)
from tools.common import table
from tools.results.manifest import Loaded
from tools.results.render import wrap


def render_models(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what the data are, and what each model explains of held-out games."""
    yield from wrap(f"{summary(figures)} {about_sides(figures)}".strip())
    yield ""
    yield from _rows(models_table(figures))
    if text := verdict(figures):
        yield ""
        yield from wrap(text)


def render_weights(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the weights of all features."""
    yield from _rows(weights_table(figures))


def render_pawns(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what came, by the pawns that the correction adds."""
    yield from _rows(pawns_table(figures))


def render_values(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what came, by the value with the correction."""
    yield from _rows(values_table(figures))


def render_results(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the games' results in the true positions, by the value with the correction."""
    yield from _rows(results_table(figures))


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw what came beside what was predicted."""
    check_plot.plot(file, loaded.raw.data, mark)


def _rows(shown: CheckTable) -> Iterator[str]:
    yield from table(shown.headings, shown.rows, shown.align)
