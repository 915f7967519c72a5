"""The parts that all benchmarks share: errors, the machine's description, progress, the output."""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from obscuro import __version__
from obscuro.machine import MEBIBYTE, processor_name, total_memory, usable_cores

KIBIBYTE = 1 << 10
Summary = dict[str, object]
"""A benchmark's numbers by name; None if one was not measured."""
LEAST_CPU_SHARE = 0.95  # of a core for timed work; with less, other programs were busy too


class BenchmarkError(Exception):
    """A measurement failed or gave a wrong result; the text is one line for the user."""


def median(values: Iterable[float]) -> float | None:
    """Return the median; None if there are no values."""
    found = list(values)
    return statistics.median(found) if found else None


def machine() -> dict[str, str | int]:
    """Describe what the numbers depend on: the CPU, the memory, and the programs' versions."""
    return {
        "cpu": processor_name(),
        "cores": usable_cores(),
        "memory_mib": (total_memory() or 0) // MEBIBYTE,
        "obscuro": __version__,
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "chess": version("chess"),
    }


def peak_memory() -> int:
    """Return the most bytes of memory that this process has held at one time."""
    unit = 1 if sys.platform == "darwin" else KIBIBYTE
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def digits(value: float | None, places: int = 2, unit: str = "") -> str:
    """Format a number for a table; a dash for None."""
    return "-" if value is None else f"{value:,.{places}f}{unit}"


def figure(numbers: Mapping[str, object], key: str, places: int = 0, unit: str = "") -> str:
    """Format one of a benchmark's numbers; a dash if it was not measured."""
    value = numbers.get(key)
    return digits(value if isinstance(value, int | float) else None, places, unit)


def print_lines(console: Console, lines: Iterable[tuple[str, str]], width: int) -> None:
    """Print a line for each name and text. width: characters of the column of names."""
    for name, text in lines:
        console.print(f"{name:<{width}}{text}", soft_wrap=True)


def note_if_busy(
    console: Console, numbers: Summary, work: str, effect: str = "the numbers are better"
) -> None:
    """Print a note if the timed work had less than LEAST_CPU_SHARE of a core, by `cpu_share`.

    work: what had the core, for the note. effect: what differs on an idle machine.
    """
    share = numbers["cpu_share"]
    if isinstance(share, float) and share < LEAST_CPU_SHARE:
        console.print(
            f"\nThe machine was busy: {work} had {share:.0%} of a core. "
            f"On an idle machine {effect}.",
            soft_wrap=True,
        )


def publish(
    numbers: Summary,
    arguments: argparse.Namespace,
    begin: float,
    console: Console | None,
    print_report: Callable[[Console, Summary], None],
) -> int:
    """Complete a benchmark's numbers and print them; return the exit code.

    With `--json` the numbers are printed as one line, else by `print_report`. begin: when the
    benchmark started, by `time.monotonic()`. console: stdout by default.
    """
    console = console or Console(highlight=False, markup=False)
    numbers = {
        **numbers,
        "seconds": time.monotonic() - begin,
        "quick": arguments.quick,
        "machine": machine(),
    }
    if arguments.json:
        console.print(json.dumps(numbers), soft_wrap=True)
    else:
        print_report(console, numbers)
    return 0


ReportProgress = Callable[[str | None, int], None]
"""Called with the current task (None: as before) and the amount done since the last call."""


@contextlib.contextmanager
def progress(total: int, console: Console | None = None) -> Iterator[ReportProgress]:
    """Show a benchmark's progress on stderr: a bar on a terminal, else a line for each task.

    total: the amount of work in all. Yields the function that reports progress.
    """
    console = console or Console(stderr=True, highlight=False, markup=False)
    bar = Progress(
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=total)

        def report(what: str | None, done: int) -> None:
            bar.update(task, description=what, advance=done)
            if what is not None and not console.is_terminal:
                console.print(what, soft_wrap=True)

        yield report
