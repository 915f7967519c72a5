"""The results of the belief benchmark, as one object of numbers and as a table."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from obscuro.cli.bench.common import digits, figure, median, note_if_busy
from obscuro.cli.bench.recorded import LARGEST, RecordedUpdate

THREADS = (1, 2)
CLASSES = {  # |P| before the update, half-open intervals
    "1 k - 10 k": (1_000, 10_000),
    "10 k - 100 k": (10_000, 100_000),
    "100 k - 2 M": (100_000, LARGEST + 1),
}
TWO_THREADS_FROM = 10_000  # |P| before; smaller updates end before a thread has started
STAGES = ("generation", "test", "dedup", "order")
MEGA = 1e6

Summary = dict[str, object]


@dataclass(frozen=True)
class MeasuredUpdate:
    """One update and its measurements."""

    game: str
    update: RecordedUpdate
    runs: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    """Seconds of each run, with one thread and with two."""
    worked: list[float] = field(default_factory=list)
    """CPU seconds of each run with one thread."""
    stages: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    """Seconds by stage in all runs with one thread. `generation` includes the test."""
    python_chess: list[float] = field(default_factory=list)
    """python-chess's candidates a second; one number."""

    def mcps(self, threads: int) -> float:
        """Return the speed in million candidates a second."""
        return self.update.candidates / self.seconds(threads) / MEGA

    def seconds(self, threads: int) -> float:
        """Return the median seconds of the update, with one thread or two."""
        return statistics.median(self.runs[threads - 1])

    @property
    def python_chess_mcps(self) -> float:
        """python-chess's speed in million candidates a second."""
        return self.python_chess[0] / MEGA

    @property
    def ratio(self) -> float:
        """The speed of two threads divided by the speed of one."""
        return self.seconds(1) / self.seconds(2)

    def million_seconds(self, threads: int) -> float:
        """Return the seconds for each million resulting positions."""
        return self.seconds(threads) * MEGA / self.update.positions


class Group(NamedTuple):
    """The updates of one class: P grows or shrinks, and |P| before is in [least, below)."""

    name: str
    grows: bool
    least: int
    below: int
    members: list[MeasuredUpdate]

    def median(self, value: Callable[[MeasuredUpdate], float]) -> float | None:
        """Return the median over the members; None if there are none."""
        return median(map(value, self.members))

    def numbers(self) -> Summary:
        """Return the results of the class for the JSON."""
        return {
            "kind": "growing" if self.grows else "filtering",
            "least_parents": self.least,
            "below_parents": self.below,
            "updates": len(self.members),
            "mcps": self.median(lambda m: m.mcps(1)),
            "mcps_2": self.median(lambda m: m.mcps(2)),
            "threads2_ratio": self.median(lambda m: m.ratio),
            "milliseconds": self.median(lambda m: m.seconds(1) * 1000),
            "python_chess_mcps": self.median(lambda m: m.python_chess_mcps),
        }


def groups(measured: Sequence[MeasuredUpdate]) -> Iterator[Group]:
    """Sort updates into classes."""
    for grows in (True, False):
        for name, (least, below) in CLASSES.items():
            yield Group(
                name,
                grows,
                least,
                below,
                [
                    m
                    for m in measured
                    if m.update.grows == grows and least <= m.update.parents < below
                ],
            )


def summary(measured: Sequence[MeasuredUpdate]) -> Summary:
    """Return all numbers that follow from the times; None if nothing was measured for a number."""
    growing = [m for m in measured if m.update.grows]
    filtering = [m for m in measured if not m.update.grows]
    large = [m for m in growing if m.update.parents >= TWO_THREADS_FROM]
    million = [m for m in growing if m.update.leads_to_a_million]
    return {
        "growing_mcps": median(m.mcps(1) for m in growing),
        "filtering_mcps": median(m.mcps(1) for m in filtering),
        "threads2_ratio": median(m.ratio for m in large),
        "threads2_ratio_all": median(m.ratio for m in growing),
        "million_s": median(m.million_seconds(1) for m in million),
        "million_s_2": median(m.million_seconds(2) for m in million),
        "python_chess_mcps": median(m.python_chess_mcps for m in measured),
        **shares(growing),
        "cpu_share": cpu_share(measured),
        "updates": {
            "growing": len(growing),
            "filtering": len(filtering),
            "threads2": len(large),
            "million": len(million),
        },
        "classes": [group.numbers() for group in groups(measured)],
    }


def shares(measured: Sequence[MeasuredUpdate]) -> Summary:
    """Return each stage's share of the time of all updates with one thread."""
    total = sum(sum(m.runs[0]) for m in measured)
    spent = {stage: sum(m.stages[stage] for m in measured) for stage in STAGES}
    spent["generation"] -= spent["test"]
    return {f"share_{stage}": spent[stage] / total if total else None for stage in STAGES}


def cpu_share(measured: Sequence[MeasuredUpdate]) -> float | None:
    """Return the share of a core that the runs with one thread had."""
    total = sum(sum(m.runs[0]) for m in measured)
    return sum(sum(m.worked) for m in measured) / total if total else None


def print_report(console: Console, measured: Sequence[MeasuredUpdate], numbers: Summary) -> None:
    """Print the table of classes, and lines with all other numbers below it."""
    table = Table(title="million candidates/s, medians", title_justify="left", box=None)
    table.add_column("|P| before")
    for heading in ("updates", "1 thread", "2 threads", "ratio", "python-chess", "times faster"):
        table.add_column(heading, justify="right")
    for grows in (True, False):
        table.add_row("P grows" if grows else "P shrinks", style="bold")
        for group in groups(measured):
            if group.grows == grows:
                table.add_row(*_cells(group))
    console.print(table)
    console.print()
    for name, text in _lines(numbers):
        console.print(f"{name:<28}{text}", soft_wrap=True)
    note_if_busy(console, cpu_share(measured), "the runs with one thread")


def _cells(group: Group) -> list[str]:
    return [
        group.name,
        str(len(group.members)),
        digits(group.median(lambda m: m.mcps(1)), 1),
        digits(group.median(lambda m: m.mcps(2)), 1),
        digits(group.median(lambda m: m.ratio)),
        digits(group.median(lambda m: m.python_chess_mcps), 3),
        digits(group.median(lambda m: m.mcps(1) / m.python_chess_mcps), 0),
    ]


def _lines(numbers: Summary) -> Iterator[tuple[str, str]]:
    text = partial(figure, numbers)
    yield "growing", text("growing_mcps", 1, " million candidates/s")
    yield "filtering", text("filtering_mcps", 1, " million candidates/s")
    yield "two threads", text("threads2_ratio", 2, f" x one, from {TWO_THREADS_FROM:,} positions")
    yield "(two at pure arithmetic)", text("threads2_arithmetic", 2, " x one on this machine")
    yield (
        "a million positions",
        f"{text('million_s', 2)} s, with two threads {text('million_s_2', 2)} s",
    )
    yield (
        "bytes a position",
        f"{text('bytes_per_position', 0)}, with two threads {text('bytes_per_position_2', 0)}",
    )
    stages = [f"{stage} {text(f'share_{stage}', 0, ' %', 100)}" for stage in STAGES]
    yield "of the time, while growing", ", ".join(stages)
    yield "python-chess", text("python_chess_mcps", 3, " million candidates/s")
    yield "peak memory of this run", text("peak_rss_mib", 0, " MiB")
    yield "this run", text("seconds", 0, " s")
