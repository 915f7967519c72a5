"""What all benchmarks share: errors, the machine that they ran on, how numbers are printed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import resource
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from obscuro import __version__

KIBIBYTE = 1 << 10


class BenchmarkError(Exception):
    """What was measured is not what should have been; the text is one line for the user."""


def median(values: Iterable[float]) -> float | None:
    """The median; None of nothing."""
    found = list(values)
    return statistics.median(found) if found else None


def machine() -> dict[str, str | int]:
    """What the numbers depend on: the CPU, and the versions of the programs."""
    return {
        "cpu": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
        "obscuro": __version__,
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "chess": version("chess"),
    }


def processor() -> str:
    """The model of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def two_thread_arithmetic() -> float:
    """How many times as much two threads get done as one, of work that needs no memory.

    Two virtual cores may be one real one; then two threads can't do much more than one at anything.
    """
    block = bytes(1 << 16)

    def work() -> None:
        digest = hashlib.blake2b()
        for _ in range(1500):
            digest.update(block)  # without Python's lock

    def seconds(threads: int) -> float:
        crew = [threading.Thread(target=work) for _ in range(threads)]
        begin = time.perf_counter()
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        return time.perf_counter() - begin

    pairs = [(seconds(1), seconds(2)) for _ in range(5)]
    return statistics.median(2 * one / two for one, two in pairs)


def peak_memory() -> int:
    """The most memory, in bytes, that this process has had at a time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBIBYTE


def digits(value: float | None, places: int = 2, unit: str = "") -> str:
    """A number for a table; a dash for None."""
    return "-" if value is None else f"{value:,.{places}f}{unit}"


Tell = Callable[[str | None, int], None]
"""Called with what is being done (None: still the same) and how much has been done since."""


@contextlib.contextmanager
def progress(total: int, console: Console | None = None) -> Iterator[Tell]:
    """Show on stderr how far a benchmark is: a bar on a terminal, else what it is doing, in lines."""
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

        def tell(what: str | None, done: int) -> None:
            bar.update(task, description=what, advance=done)
            if what is not None and not console.is_terminal:
                console.print(what, soft_wrap=True)

        yield tell
