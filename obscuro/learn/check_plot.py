"""The picture of a check: what came beside what was predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from obscuro.learn.check_tables import interval
from obscuro.learn.problem import SEARCH


def plot(file: Path, figures: dict[str, Any], mark: str = "") -> None:
    """Draw predicted and real values, by value and by the pawns of the correction.

    mark: what the PNG says of its origin. Bars are two standard errors to each side. Raises OSError,
    or ModuleNotFoundError without matplotlib.
    """
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    real = "solved tree" if figures["target"] == SEARCH else "mean result"
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    rows = figures["by_value"]
    left.plot([-1, 1], [-1, 1], color="lightgray", linewidth=0.8)
    left.errorbar(
        [row["predicted"] for row in rows],
        [row["real"][0] for row in rows],
        [2 * row["real"][1] for row in rows],
        fmt="o",
        markersize=4,
    )
    left.set(xlabel="value with the correction", ylabel=real, title="by value")
    rows = figures["by_pawns"]
    places = range(len(rows))
    right.axhline(0, color="lightgray", linewidth=0.8)
    right.plot(places, [row["predicted"] - row["plain"] for row in rows], "s-", label="correction")
    right.errorbar(
        places,
        [row["more"][0] for row in rows],
        [2 * row["more"][1] for row in rows],
        fmt="o",
        markersize=4,
        label=real,
    )
    names = [interval(row["from"], row["to"]).replace(" to ", "\nto ") for row in rows]
    right.set_xticks(list(places), [name.replace(" ", "\n", 1) for name in names], fontsize="small")
    right.set(xlabel="pawns of the correction", ylabel="less the leaf's value", title="by pawns")
    right.legend(fontsize="small")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)
