"""The figures of a check as tables, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from obscuro.learn.held_out import CONSTANT_MODEL, FEATURES_MODEL, NETWORK_MODEL, NOTHING
from obscuro.learn.problem import SEARCH

Figures = dict[str, Any]


class CheckTable(NamedTuple):
    """One table. align: `l` or `r` for each column."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    align: str


def all_tables(figures: Figures) -> Iterator[CheckTable]:
    """Yield the tables in their order."""
    yield models_table(figures)
    yield weights_table(figures)
    yield pawns_table(figures)
    yield values_table(figures)
    if figures["target"] == SEARCH and figures["by_results"]:
        yield results_table(figures)


def summary(figures: Figures) -> str:
    """Say in a line what the figures are about."""
    mean, error = figures["missed"]["mean"]
    what = "the solved tree's value" if figures["target"] == SEARCH else "the result"
    return (
        f"{figures['positions']:,} positions of {figures['turns']:,.0f} turns and "
        f"{figures['games']:,} games (data {figures['data']['fingerprint']}). On average {what} is "
        f"{mean:+.3f} ± {error:.3f} beside the leaf's value, with a deviation of "
        f"{figures['missed']['deviation']:.3f}."
    )


def about_sides(figures: Figures) -> str:
    """Say what leaves miss by whose turn it is, and what features add to a slope.

    Empty for results.
    """
    if figures["target"] != SEARCH:
        return ""
    sides = figures["missed_by_side"]
    found = {name: sides[name] for name in ("followed", "other") if sides[name] is not None}
    names = {"followed": "the side that searched", "other": "the other side"}
    parts = [f"{signed(found[name]['mean'], 3)} where {names[name]} is to move" for name in found]
    share, error = figures["beyond_slope"]
    return (
        f"The difference is {' and '.join(parts)}. Beyond a constant and a slope the features "
        f"explain {share:+.1%} ± {error:.1%} of its variance."
    )


def verdict(figures: Figures) -> str:
    """Say whether the small network explains more than the linear model; empty without it."""
    found = {model["name"]: model for model in figures["models"]}
    if NETWORK_MODEL not in found:
        return ""
    linear, network = found[FEATURES_MODEL]["loss"], found[NETWORK_MODEL]["loss"]
    more = "more" if network < linear else "no more"
    return (
        f"The small network explains {more} than the linear model: its loss is {network:.4f}, "
        f"and {linear:.4f} with all features. No evaluator plays with it."
    )


def models_table(figures: Figures) -> CheckTable:
    """What each model explains of held-out games."""
    search = figures["target"] == SEARCH
    headings = ["model", "loss", "less than without", "less than a constant"]
    headings += ["variance explained"] * search + ["by fold", "at the limit"]
    rows = []
    for model in figures["models"]:
        line = [model["name"], f"{model['loss']:.4f}"]
        line.append("-" if model["name"] == NOTHING else signed(model["less"], 5))
        line.append("-" if model["name"] == CONSTANT_MODEL else signed(model["over_constant"], 5))
        if search:
            share, error = model["explained"]
            line.append(f"{share:+.1%} ± {error:.1%}")
        folds = sorted(model["folds"])
        form = "+.0%" if search else "+.4f"
        line.append(f"{folds[0]:{form}} to {folds[-1]:{form}}")
        rows.append([*line, f"{model['limited']:.1%}"])
    return CheckTable("Held-out games", headings, rows, "l" + "r" * (len(headings) - 1))


def weights_table(figures: Figures) -> CheckTable:
    """The weights in pawns, in the view of the side to move."""
    rows = []
    for row in figures["weights"]:
        line = [row["name"]]
        for cell in (row["mover"], row["other"]):
            line += ["", ""] if cell is None else [_weight(cell), f"{cell['mean']:.2f}"]
        rows.append(line)
    headings = ["feature", "of the side to move", "mean", "of the other side", "mean"]
    return CheckTable("Weights, in pawns of the side to move", headings, rows, "lrrrr")


def pawns_table(figures: Figures) -> CheckTable:
    """What came where the correction is large or small."""
    return _calibration("By the pawns that the correction adds", "pawns", figures, "by_pawns")


def values_table(figures: Figures) -> CheckTable:
    """What came of predicted values."""
    return _calibration("By the value with the correction", "value", figures, "by_value")


def results_table(figures: Figures) -> CheckTable:
    """The games' results, of the true positions."""
    return _calibration(
        "The games' results, true positions only", "value", figures, "by_results", "result"
    )


def _calibration(
    title: str, what: str, figures: Figures, key: str, real: str | None = None
) -> CheckTable:
    real = real or ("solved" if figures["target"] == SEARCH else "result")
    rows = [
        [
            interval(row["from"], row["to"]),
            f"{row['turns']:,.0f}",
            f"{row['plain']:+.3f}",
            f"{row['predicted']:+.3f}",
            signed(row["real"], 3),
            signed(row["more"], 3),
        ]
        for row in figures[key]
    ]
    headings = [what, "turns", "leaf", "with the correction", real, "less the leaf"]
    return CheckTable(title, headings, rows, "lrrrrr")


def interval(low: float | None, high: float | None) -> str:
    """Return the name of an interval; None: open."""
    if low is None:
        return f"below {high:+g}"
    return f"from {low:+g}" if high is None else f"{low:+g} to {high:+g}"


def signed(pair: Sequence[float], digits: int) -> str:
    """Return a number with its error."""
    return f"{pair[0]:+.{digits}f} ± {pair[1]:.{digits}f}"


def _weight(cell: Figures) -> str:
    if cell["error"] is None:
        return f"{cell['weight']:+.2f}"
    return f"{cell['weight']:+.2f} ± {cell['error']:.2f}"
