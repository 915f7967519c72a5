"""How long a search stands still when Stockfish fails, and what it then goes on with.

    python -m tools.proofs.evaluator_faults --repeat 5

Each thread of a search has a Stockfish of its own. In mid-search something is done to all of them:
they are killed or stopped, begin to talk nonsense, or are killed and can't be started any more. The
table shows the longest time without an expansion from then on, the longest before, and what the user
is warned of.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import chess
import numpy as np

from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.evaluation.evaluator import ChildValues, Evaluator
from obscuro.evaluation.factory import unwrapped
from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.rules.position import from_fen
from tools.common import engine_options, given, publish, say, table, tool_parser

MOVETIME = 2000  # milliseconds of a search
FAULT_AT = 0.8  # seconds after its begin

# Passes everything on to the real Stockfish, until the file beside it says what to do instead.
PROXY = """#!{python} -SE
import os, subprocess, sys, threading
def trouble():
    file = sys.argv[0] + ".trouble"
    return open(file).read() if os.path.exists(file) else ""
if trouble() == "die":
    sys.exit(1)
if trouble() == "hang":
    sys.stdin.read()
child = subprocess.Popen([{stockfish!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def down():
    for line in sys.stdin.buffer:
        child.stdin.write(line)
        child.stdin.flush()
    child.kill()
    os._exit(0)
threading.Thread(target=down, daemon=True).start()
for line in child.stdout:
    if trouble() == "garble" and line.startswith((b"info", b"bestmove")):
        line = bytes(reversed(line[:-1])) + b"\\n"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


def write_proxy(folder: Path, stockfish: str) -> tuple[str, Path]:
    """Write a program that passes everything on to Stockfish, and return its path.

    Also returns the file that makes trouble while it is there, by what is written in it: `die` and
    `hang` take effect when the program starts, `garble` reverses what Stockfish answers.
    """
    program = folder / "stockfish"
    program.write_text(PROXY.format(python=sys.executable, stockfish=stockfish))
    program.chmod(0o755)
    return str(program), folder / "stockfish.trouble"


class Watch:
    """Passes batches on to an evaluator and notes in `done` when each is done."""

    def __init__(self, evaluator: Evaluator, done: list[float]) -> None:
        self._evaluator = evaluator
        self._done = done

    def __getattr__(self, name: str) -> object:
        """Pass everything else on."""
        return getattr(self._evaluator, name)

    def evaluate(self, positions: np.ndarray) -> ChildValues:
        """Evaluate, and note when it was done."""
        values = self._evaluator.evaluate(positions)
        self._done.append(time.monotonic())
        return values


def longest_gaps(done: list[float], fault: float) -> tuple[float, float]:
    """The longest time between two batches: before the fault, and from it on."""
    before = [b - a for a, b in itertools.pairwise(done) if b < fault]
    times = [fault, *(t for t in done if t > fault)]
    after = [b - a for a, b in itertools.pairwise(times)]
    return max(before, default=0.0), max(after, default=float("inf"))


def search(program: str, fault: Callable[[int], None]) -> tuple[float, float, list[str], str]:
    """The two gaps, the warnings, and the evaluators at the end, of one search with a fault.

    fault: called with the id of each process of Stockfish.
    """
    options = engine_options(Evaluator="stockfish", Stockfish=program, Threads=2, Hash=128, Seed=1)
    warnings: list[str] = []
    player = Player(options, warnings.append)
    player.prepare()
    player.new_game(0, from_fen(chess.STARTING_FEN))
    evaluators = list(player.equipment.evaluators)
    done: list[float] = []  # of all threads
    for game, evaluator in zip(player.equipment.games, evaluators, strict=True):
        game.evaluator = cast(Evaluator, Watch(evaluator, done))
    struck: list[float] = []

    def strike() -> None:
        struck.append(time.monotonic())
        for evaluator in evaluators:
            if (pid := unwrapped(evaluator).pid) is not None:  # type: ignore[attr-defined]
                fault(pid)

    timer = threading.Timer(FAULT_AT, strike)
    timer.start()
    choice = player.search(GoLimits(time.monotonic(), movetime=MOVETIME), threading.Event())
    timer.join()
    assert choice.move is not None
    player.close()
    then = "`, `".join(sorted({evaluator.name for evaluator in evaluators}))
    return *longest_gaps(sorted(done), struck[0]), warnings, then


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.evaluator_faults", __doc__)
    parser.add_argument("--repeat", type=int, default=5)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure all faults and print a table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    stockfish = stockfish_path()
    if stockfish is None:
        parser.error("Stockfish is not installed")
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        proxy, file = write_proxy(Path(folder), stockfish)

        def kill(pid: int) -> None:
            os.kill(pid, signal.SIGKILL)

        def stop(pid: int) -> None:
            os.kill(pid, signal.SIGSTOP)

        def garble(pid: int) -> None:
            file.write_text("garble")

        def die(pid: int) -> None:
            file.write_text("die")
            os.kill(pid, signal.SIGKILL)

        for name, program, fault in (
            ("killed (-9)", stockfish, kill),
            ("stopped", stockfish, stop),
            ("talking nonsense, the next one as well", proxy, garble),
            ("killed, and can't be started", proxy, die),
        ):
            for number in range(told.repeat):
                say(f"{name}: {number + 1} of {told.repeat}")
                file.unlink(missing_ok=True)
                before, after, warnings, evaluator = search(program, fault)
                found.append({"fault": name, "before": before, "after": after})
                found[-1] |= {"warnings": warnings, "then": evaluator}
    publish(parser, words, told.raw, found, render)
    return 0


def render(searches: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the longest times without an expansion by fault, and what the user was warned of."""
    rows = []
    for fault, group in groupby(searches, lambda each: each["fault"]):
        found = list(group)
        after = [each["after"] for each in found]
        before = statistics.median(each["before"] for each in found)
        warnings = {" / ".join(each["warnings"]) for each in found}
        evaluators = sorted({f"`{each['then']}`" for each in found})
        rows.append(
            [
                fault,
                f"{before:.3f} s",
                f"{statistics.median(after):.3f} s",
                f"{max(after):.3f} s",
                ", ".join(evaluators),
                "; ".join(sorted(warnings)),
            ]
        )
    headings = ["Stockfish is", "before, median", "median", "most", "then", "warnings"]
    yield from table(headings, rows, "lrrrll")


if __name__ == "__main__":
    sys.exit(main())
