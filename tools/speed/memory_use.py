"""How much memory the process takes, for several sizes of the search tree.

    python -m tools.speed.memory_use --hash 16 64 256 1024 --evaluator material

Starts the engine with each `Hash`, and searches the start position and two moves on until the tree
takes no more nodes, or for --seconds. What the process had when it was ready (Python, the kernels,
the belief's buffers, the evaluator; not the tree, whose pages are only taken when it grows) is taken
off, and what it had at most after that is set against `Hash`. Children, such as Stockfish, are not
counted. Prints a table; exits with 1 if a tree took more than `Hash` and --allowed MiB.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from obscuro.client.engine import engine_command
from obscuro.client.uci_process import UciProcess
from tools.common import add_evaluator, given, publish, say, table, tool_parser

POSITIONS = (
    "position startpos",
    "position startpos moves e2e4 e7e5",
    "position startpos moves e2e4 e7e5 g1f3 b8c6",
)
ANSWER_SECONDS = 60.0
NODES = re.compile(r" nodes (\d+)")
_RESIDENT = re.compile(r"VmRSS:\s+(\d+)")
_PEAK = re.compile(r"VmHWM:\s+(\d+)")


def mebibytes(pid: int, what: re.Pattern[str]) -> float:
    """A line of a process's status, in MiB."""
    found = what.search(Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def search(process: UciProcess, position: str, seconds: float) -> tuple[int, bool]:
    """Search until no more nodes come; the nodes added, and whether that was before the time."""
    process.send(position)
    process.send("go infinite")
    end = time.monotonic() + seconds
    nodes, full = -1, False
    for line in process.lines(ANSWER_SECONDS + seconds):
        if found := NODES.search(line):
            full = int(found[1]) == nodes
            nodes = int(found[1])
            if full or time.monotonic() > end:
                process.send("stop")
                break
    list(process.until("bestmove", ANSWER_SECONDS))
    return nodes, full


def measure(size: int, evaluator: str, seconds: float) -> tuple[float, float, int, bool]:
    """MiB when ready, MiB at most, nodes of the largest search, whether the tree got full."""
    with UciProcess(engine_command()) as process:
        for name, value in (("Hash", str(size)), ("Evaluator", evaluator)):
            process.set_option(name, value)
        process.wait_ready()
        ready = mebibytes(process.pid, _RESIDENT)
        found = [search(process, position, seconds) for position in POSITIONS]
        most = mebibytes(process.pid, _PEAK)
    return ready, most, max(nodes for nodes, _ in found), any(full for _, full in found)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.memory_use", __doc__)
    parser.add_argument("--hash", type=int, nargs="+", default=[16, 64, 256, 1024], metavar="MIB")
    add_evaluator(parser, "material")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each search, at most")
    parser.add_argument("--allowed", type=float, default=32.0, metavar="MIB")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    rows: list[dict[str, Any]] = []
    for size in told.hash:
        say(f"Hash {size}")
        ready, most, nodes, full = measure(size, told.evaluator, told.seconds)
        rows.append({"hash": size, "ready": ready, "most": most, "nodes": nodes, "full": full})
    publish(parser, words, told.raw, rows, render)
    return int(any(row["most"] - row["ready"] > row["hash"] + told.allowed for row in rows))


def render(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what the process took for each `Hash`, in MiB."""
    headings = ["Hash, MiB", "ready, MiB", "at most, MiB", "of that the search", "nodes", "full"]
    rows = []
    for each in figures:
        taken = each["most"] - each["ready"]
        cells = [f"{each['hash']:,}", f"{each['ready']:,.0f}", f"{each['most']:,.0f}"]
        cells += [f"{taken:,.0f} ({taken / each['hash']:.0%})", f"{each['nodes']:,}"]
        rows.append([*cells, "yes" if each["full"] else "no"])
    yield from table(headings, rows, "rrrrrl")


if __name__ == "__main__":
    sys.exit(main())
