"""How long the engine takes to answer `stop`, in a search and in the middle of a belief's update.

    python -m tools.speed.stop_latency --stops 200 --evaluator stockfish

Takes up the recorded games of `obscuro bench belief` cold, where the belief is large, says
`go infinite`, waits for up to --longest seconds by chance, says `stop`, and takes the time until
`bestmove` has been read. Prints a table, one row for stops before the first report of a search and
one for the others; exits with 1 if an answer took longer than --allowed milliseconds.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import chess
import numpy as np

from obscuro.cli.bench.common import progress
from obscuro.cli.bench.recorded import RecordedGame, RecordedUpdate, read_games
from obscuro.client.engine import engine_command
from obscuro.client.uci_process import UciProcess
from obscuro.matches.time_control import MILLISECONDS
from tools.common import add_evaluator, given, publish, table, tool_parser

ANSWER_SECONDS = 60.0


class Stop(NamedTuple):
    """One answer to `stop`."""

    searching: bool  # a search had reported before
    milliseconds: float
    belief: int  # |P| after the update that the position ends with


def position(game: RecordedGame, update: RecordedUpdate) -> str:
    """The command for the turn after this update."""
    start = "startpos" if game.fen == chess.STARTING_FEN else f"fen {game.fen}"
    return f"position {start} moves {' '.join(game.moves[: update.ply + 1])}"


def stop_once(process: UciProcess, command: str, wait: float, belief: int) -> Stop:
    """Take a game up cold, search, and stop after *wait* seconds. Raises EngineError."""
    process.send("ucinewgame")
    process.wait_ready()
    process.send(command)
    process.send("go infinite")
    time.sleep(wait)
    begin = time.monotonic()
    process.send("stop")
    said = list(process.until("bestmove", ANSWER_SECONDS))
    milliseconds = MILLISECONDS * (time.monotonic() - begin)
    reports = [line for line in said if line.startswith("info depth")]
    return Stop(bool(reports), milliseconds, belief)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.stop_latency", __doc__)
    parser.add_argument("--stops", type=int, default=200)
    parser.add_argument("--longest", type=float, default=1.5, metavar="SECONDS")
    parser.add_argument("--allowed", type=float, default=50.0, metavar="MS")
    add_evaluator(parser, "stockfish")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    rng = random.Random(told.seed)
    turns = [(game, update) for game in read_games() for update in game.updates]
    stops: list[Stop] = []
    with progress(told.stops) as tell, UciProcess(engine_command()) as process:
        process.set_option("Evaluator", told.evaluator)
        process.wait_ready()
        for number in range(told.stops):
            game, update = rng.choice(turns)
            wait = told.longest * rng.random()
            tell(f"stop {number + 1}: {game.name}", 0)
            stops.append(stop_once(process, position(game, update), wait, update.positions))
            tell(None, 1)
    publish(parser, words, told.raw, [list(stop) for stop in stops], render)
    return int(any(stop.milliseconds > told.allowed for stop in stops))


def render(figures: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield how long answers took, before the first report of a search and later; rows of `Stop`."""
    stops = [Stop(*each) for each in figures]
    rows = []
    for searching, name in ((False, "before a search has reported"), (True, "in a search")):
        some = [stop for stop in stops if stop.searching == searching]
        if some:
            times = [stop.milliseconds for stop in some]
            middle, high = np.quantile(times, (0.5, 0.99))
            largest = f"{max(stop.belief for stop in some):,}"
            cells = [f"{value:.1f}" for value in (middle, high, max(times))]
            rows.append([name, len(some), largest, *cells])
    headings = ["stop", "times", "largest P", "median, ms", "99 %", "largest"]
    yield from table(headings, rows, "lrrrrr")


if __name__ == "__main__":
    sys.exit(main())
