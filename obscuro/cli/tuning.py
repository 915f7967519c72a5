"""`obscuro doctor --tune` measures which options suit a machine: searches with 1, 2, … threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, TextIO

from rich.console import Console
from rich.progress import Progress

from obscuro.cli.bench.following import POSITIONS, Follower
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.options import LEAST_HASH, OPTIONS
from obscuro.machine import MEBIBYTE, usable_cores, usable_mebibytes
from obscuro.search.tree import bytes_per_edge

THREADS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MOVETIME = 1500  # milliseconds of each search
SEARCHES = 2  # from each position, the second with the first one's tree
ENOUGH = 0.95
"""Of the most nodes a second: fewer threads with so many are preferred."""
LONG_MOVE_SECONDS = 30
"""The tree of a move that takes this long is to fit."""
TREES = 2
"""The search has two trees, one of which it copies into the other between moves."""


def measure(screen: TextIO) -> dict[str, Any]:
    """Search with each number of threads that makes sense; return the figures and what suits.

    screen: for the progress bar.
    """
    evaluator = str(next(option.default for option in OPTIONS if option.name == "Evaluator"))
    counts = [count for count in THREADS if count <= usable_cores()]
    console = Console(file=screen, highlight=False)
    rows = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(counts) * len(POSITIONS) * SEARCHES)
        for count in counts:
            speeds = []
            for position in POSITIONS:
                follower = Follower(position, count, evaluator)
                try:
                    for number in range(SEARCHES):
                        info = follower.think(movetime=MOVETIME)
                        speeds.append(1000 * info.nodes / max(1, info.milliseconds))
                        progress.advance(task)
                        if number + 1 < SEARCHES and not follower.play_on():
                            break
                finally:
                    follower.close()
            rows.append({"threads": count, "nodes_per_second": round(median(speeds))})
    return {"movetime": MOVETIME, "evaluator": evaluator, "searches": rows, **advise(rows)}


def advise(rows: list[dict[str, int]]) -> dict[str, int]:
    """Return the values of Threads and Hash that suit these speeds and this machine's memory."""
    best = max(row["nodes_per_second"] for row in rows)
    chosen = next(row for row in rows if row["nodes_per_second"] >= ENOUGH * best)
    nodes = chosen["nodes_per_second"] * LONG_MOVE_SECONDS
    wanted = int(TREES * nodes * bytes_per_edge(ChessGame.state_words)) // MEBIBYTE
    size = next(size for size in (2**power for power in range(64)) if size >= wanted)
    usable = usable_mebibytes()
    if usable is not None:
        size = min(size, usable)
    return {"Threads": chosen["threads"], "Hash": max(LEAST_HASH, size)}


def table(tuning: Mapping[str, Any]) -> Iterator[str]:
    """Describe the figures, and how to use what suits."""
    rows = tuning["searches"]
    yield f"threads  nodes a second ({tuning['movetime']} ms a move, {tuning['evaluator']})"
    for row in rows:
        gain = row["nodes_per_second"] / max(1, rows[0]["nodes_per_second"])
        yield f"{row['threads']:7}  {row['nodes_per_second']:14,}  {gain:.2f} times"
    threads, size = tuning["Threads"], tuning["Hash"]
    yield f"Threads {threads} and Hash {size} suit this machine, if nothing else runs on it:"
    yield f"  in a GUI   Threads = {threads}, Hash = {size}"
    yield f"  here       obscuro play --option Threads={threads} --option Hash={size}"
