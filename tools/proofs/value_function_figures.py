"""What `value_functions` has measured, as tables and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.research.value_functions.value_network import DOMAINS, Losses
from tools.common import table
from tools.results.manifest import Loaded


def render(stored: dict[str, Any]) -> Iterator[str]:
    """Yield the figures of one run as tables, in Markdown."""
    if stored["kind"] == "train":
        yield from render_training(DOMAINS[stored["game"]].title, stored["figures"])
    else:
        yield from _render_alike([stored])


def render_together(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield one table for runs of one kind, `exact` or `withhold`."""
    yield from _render_alike([each.raw.data for each in loaded])


def _render_alike(stored: Sequence[dict[str, Any]]) -> Iterator[str]:
    (kind,) = {each["kind"] for each in stored}
    games = [(DOMAINS[each["game"]].title, each["figures"]) for each in stored]
    yield from render_exact(games) if kind == "exact" else render_withheld(games)


def render_exact(games: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield what is exploited without training. games: titles and figures."""
    head = ["game", "histories", "public states", "values of 0", "untrained", "CFR-D", "CFR+"]
    rows = []
    for title, found in games:
        sizes = [f"{found[key]:,}" for key in ("histories", "states")]
        cells = [f"{found[key]:.4f}" for key in ("zero", "untrained", "exact", "whole")]
        rows.append([title, *sizes, *cells])
    yield from table(head, rows, "lrrrrrr")


def render_training(title: str, found: dict[str, Any]) -> Iterator[str]:
    """Yield the last checkpoints, what CFR-D's questions cost, and how losses foretell."""
    head = ["network", "epochs", "Huber", "l1", "l∞", "unexplained", "exploitability"]
    rows = []
    for asked in found["asked"]:
        of_seed = [each for each in found["checkpoints"] if each["seed"] == asked["seed"]]
        last = of_seed[-1]
        name = f"{title}, seed {asked['seed']}"
        rows.append(
            [name, str(last["epoch"]), *_cells(last), f"{last['exploitability']:.4f}"],
        )
        rows.append([f"{name}, asked by CFR-D", str(last["epoch"]), *_cells(asked), ""])
    yield from table(head, rows, "lrrrrrr")
    yield ""
    each = found["checkpoints"]
    exploited = np.array([one["exploitability"] for one in each])
    ranks = {
        key: rank_correlation(np.array([one[key] for one in each]), exploited)
        for key in ("huber", "l1", "l_infinity")
    }
    head = ["learned from", "checkpoints", *(f"Spearman, {name}" for name in ("Huber", "l1", "l∞"))]
    cells = [f"{found['examples']:,} examples", str(len(each))]
    cells += [f"{rank:.2f}" for rank in ranks.values()]
    cells += [f"{found['zero']:.4f}", f"{found['whole']:.4f}"]
    yield from table([*head, "values of 0", "CFR+"], [cells], "lrrrrrr")


def _cells(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['huber']:.1e}",
        f"{found['l1']:.1e}",
        f"{found['l_infinity']:.1e}",
        f"{100 * found['unexplained']:.2f} %",
    ]


def rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Spearman's rank correlation of two float64[n]. Equal values share their mean rank."""
    from scipy.stats import spearmanr  # noqa: PLC0415 - of the extra `learn`

    return float(spearmanr(first, second).statistic)


def render_withheld(games: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> Iterator[str]:
    """Yield the mean losses over public states that were learned from, withheld, or nothing known.

    games: titles and figures.
    """
    head = ["game", "network", "Huber", "l1", "l∞", "unexplained"]
    words = {
        "whole": "all public states learned from",
        "without": "this one withheld",
        "untrained": "untrained",
    }
    rows = []
    for title, found in games:
        for name, text in words.items():
            mean = Losses(*np.mean([each[name] for each in found], axis=0).tolist())
            rows.append([title, text, *_cells(mean._asdict())])
    yield from table(head, rows, "llrrrr")


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw the checkpoints' exploitability against their loss. mark: goes into the PNG."""
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    stored = loaded.raw.data
    found = stored["figures"]
    figure, axis = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    for seed in sorted({each["seed"] for each in found["checkpoints"]}):
        own = [each for each in found["checkpoints"] if each["seed"] == seed]
        across, up = ([each[key] for each in own] for key in ("huber", "exploitability"))
        axis.plot(across, up, "o-", markersize=3, linewidth=0.6, label=f"seed {seed}")
    axis.axhline(found["whole"], color="green", linewidth=0.8, label="CFR+ on the whole game")
    axis.axhline(found["zero"], color="gray", linewidth=0.8, label="values of 0")
    axis.set(xscale="log", yscale="log", title=DOMAINS[stored["game"]].title)
    axis.set(xlabel="Huber loss on held-out examples", ylabel="exploitability of the trunk")
    axis.legend(fontsize="small")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)
