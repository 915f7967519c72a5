"""The results of the search benchmark, as one object of numbers and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from obscuro.cli.bench.common import figure, median, note_if_busy
from obscuro.cli.bench.search_stages import Building, Growth, Speed
from obscuro.cli.bench.thread_speed import Together
from obscuro.engine.report import SearchInfo

Summary = dict[str, object]


class Synthetic(NamedTuple):
    """The synthetic tree and the speed of the solver on it."""

    nodes: int
    infosets: int
    depth: float
    full: Speed
    sparse: Speed
    together: Together


@dataclass
class Kept:
    """One tree that the engine grew, and the measurements on it."""

    position: str
    size: int  # nodes that its search had to add
    nodes: int  # nodes of the tree
    infosets: int
    depth: float
    roots: int  # infosets J
    interior: int  # nodes with children
    growth: Growth
    building: Building | None = field(default=None)

    def numbers(self) -> Summary:
        """Return the results on this tree for the JSON."""
        return {
            "position": self.position,
            "nodes": self.nodes,
            "infosets": self.infosets,
            "depth": self.depth,
            "roots": self.roots,
            "interior": self.interior,
            **growth_numbers([self.growth]),
            **building_numbers([self.building]),
        }


class SearchFigures(NamedTuple):
    """All results. cpu_share: the share of the timed seconds in which a core worked."""

    synthetic: Synthetic
    kept: Sequence[Kept]
    played: Sequence[SearchInfo]
    cpu_share: float | None

    @property
    def largest(self) -> list[Kept]:
        """The trees of the largest size."""
        most = max((kept.size for kept in self.kept), default=0)
        return [kept for kept in self.kept if kept.size == most]


def summary(measured: SearchFigures) -> Summary:
    """Return all numbers for the JSON; None if nothing was measured for a number."""
    synthetic, largest = measured.synthetic, measured.largest
    numbers: Summary = {}
    for name, speed in (("full", synthetic.full), ("sparse", synthetic.sparse)):
        numbers[f"solver_{name}_ips"] = median(speed.ips)
        numbers[f"solver_{name}_meps"] = median(speed.meps)
        numbers[f"solver_{name}_edges"] = median(speed.edges)
    together = synthetic.together
    numbers["joint_threads"] = together.threads
    numbers["joint_ips"] = median(together.joint)
    numbers["joint_ips_apart"] = median(together.apart)
    numbers["joint_ips_alone"] = median(together.alone)
    numbers["joint_ratio"] = together.ratio
    numbers |= growth_numbers([kept.growth for kept in largest])
    numbers |= building_numbers([kept.building for kept in largest])

    def played(value: Callable[[SearchInfo], float]) -> float | None:
        return median(map(value, measured.played))

    return {
        **numbers,
        "tree_nodes": played(all_nodes),
        "tree_added": played(lambda info: info.nodes),
        "tree_carried": played(lambda info: info.carried),
        "tree_infosets": played(lambda info: info.infosets),
        "tree_depth": played(lambda info: info.depth),
        "tree_iterations": played(lambda info: info.iterations),
        "tree_expansions": played(lambda info: info.expansions),
        "cpu_share": measured.cpu_share,
        "trees": [kept.numbers() for kept in measured.kept],
        "synthetic": {
            "edges": synthetic.nodes,
            "infosets": synthetic.infosets,
            "depth": synthetic.depth,
        },
    }


def all_nodes(info: SearchInfo) -> int:
    """Return the number of nodes at the end of a search: kept, new at the root, and added."""
    return info.carried + info.sampled + info.nodes


def growth_numbers(found: Iterable[Growth]) -> Summary:
    """Return the medians over trees of the medians over batches."""
    growths = list(found)

    def over(values: Callable[[Growth], Sequence[float]]) -> float | None:
        return median(value for g in growths if (value := median(values(g))) is not None)

    return {
        "kept_ips": over(lambda g: g.solver.ips),
        "kept_meps": over(lambda g: g.solver.meps),
        "kept_edges": over(lambda g: g.solver.edges),
        "select_us": over(lambda g: g.select_us),
        "attach_us": over(lambda g: g.attach_us),
        "expand_us": over(lambda g: g.expand_us),
        "store_us": over(lambda g: g.store_us),
        "children": over(lambda g: g.children),
    }


def building_numbers(found: Iterable[Building | None]) -> Summary:
    """Return medians over trees of the medians over builds, for trees that carried nodes over."""
    buildings = [b for b in found if b is not None and b.subgame_ms]

    def over(values: Callable[[Building], Sequence[float]]) -> float | None:
        return median(value for b in buildings if (value := median(values(b))) is not None)

    return {
        "subgame_ms": over(lambda b: b.subgame_ms),
        "keep_ms": over(lambda b: b.keep_ms),
        "build_ms": over(lambda b: b.build_ms),
        "subgame_nodes": median(b.nodes for b in buildings),
        "subgame_carried": median(b.carried for b in buildings),
    }


COLUMNS = {
    "nodes": ("nodes", 0),
    "infosets": ("infosets", 0),
    "depth": ("depth", 1),
    "iter/s": ("kept_ips", 0),
    "M/s": ("kept_meps", 0),
    "select": ("select_us", 1),
    "attach": ("attach_us", 1),
    "subgame": ("subgame_ms", 0),
}


def print_report(console: Console, measured: SearchFigures, numbers: Summary) -> None:
    """Print a table of the engine's trees and lines with all other numbers."""

    text = partial(figure, numbers)

    for name, what in (("full", "dense"), ("sparse", "sparse")):
        console.print(
            f"solver, {what:<7}{text(f'solver_{name}_ips'):>7} iterations/s, "
            f"{text(f'solver_{name}_meps'):>5} M edges/s, "
            f"{text(f'solver_{name}_edges')} edges visited of {measured.synthetic.nodes:,}",
            soft_wrap=True,
        )
    console.print(
        f"{text('joint_threads')} threads on one tree{text('joint_ips'):>7} iterations/s, on the "
        f"clock; {text('joint_ratio', 2)} of what they reach on trees of their own; one thread "
        f"{text('joint_ips_alone')}",
        soft_wrap=True,
    )
    console.print()
    table = Table(
        title="the engine's own trees, medians: iterations/s, million edges/s, us, us, ms",
        title_justify="left",
        box=None,
    )
    table.add_column("position")
    for heading in COLUMNS:
        table.add_column(heading, justify="right")
    for kept in measured.kept:
        row = kept.numbers()
        table.add_row(kept.position, *(figure(row, key, p) for key, p in COLUMNS.values()))
    console.print(table)
    console.print()
    for name, line in (
        ("select a leaf", f"{text('select_us', 1)} us"),
        (
            "attach an expansion",
            f"{text('attach_us', 1)} us with {text('children')} children: {text('expand_us', 1)} "
            f"for states, sights and keys, {text('store_us', 1)} for the tree",
        ),
        (
            "next subgame",
            f"{text('subgame_ms')} ms from {text('subgame_nodes')} nodes, of which "
            f"{text('subgame_carried')} are carried over",
        ),
        (
            f"{text('movetime')} ms, {text('threads')} threads",
            f"{text('tree_nodes')} nodes ({text('tree_carried')} carried over), "
            f"{text('tree_infosets')} infosets, depth {text('tree_depth', 1)}, "
            f"{text('tree_iterations')} iterations, {text('tree_expansions')} expansions",
        ),
        ("peak memory of this run", f"{text('peak_rss_mib')} MiB"),
        ("this run", f"{text('seconds')} s"),
    ):
        console.print(f"{name:<26}{line}", soft_wrap=True)
    note_if_busy(
        console,
        measured.cpu_share,
        "the timed work",
        "the numbers are better, and searches by the clock get further",
    )
