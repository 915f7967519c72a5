"""Plays many games in one engine process and watches its memory, threads, open files and children.

    python -m tools.proofs.endurance --games 1000

The opponent moves at random, and the engine is told its side alone (`position fog`). Short searches
by nodes: it is the number of games and turns that matters here. Exits with 1 if anything has grown
from the end of the warm-up to the end by more than is allowed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import chess
import psutil

from obscuro.bots.our_view import OurView
from obscuro.client.engine import engine_command
from obscuro.client.uci_process import UciProcess
from obscuro.engine.options import Options
from obscuro.machine import MEBIBYTE
from tools.common import (
    add_options,
    given,
    publish,
    say,
    set_options,
    table,
    tool_parser,
)

MOST_GROWTH_MIB = 64
"""Of memory after the warm-up; the belief's buffers grow to the largest one that there was."""
SEARCH_SECONDS = 120.0


class State(NamedTuple):
    """What a process holds."""

    mebibytes: float
    threads: int
    files: int
    children: int


def state_of(pid: int) -> State:
    """Look at a process."""
    process = psutil.Process(pid)
    return State(
        mebibytes=process.memory_info().rss / MEBIBYTE,
        threads=process.num_threads(),
        files=process.num_fds(),
        children=len(process.children()),
    )


def play(process: UciProcess, seed: int, nodes: int, most_plies: int) -> int:
    """Play one game; return its plies."""
    rng = random.Random(seed)
    side = seed % 2 == 0
    view = OurView(side, None)
    board = view.board()
    process.send("ucinewgame")
    while not board.is_game_over() and len(board.move_stack) < most_plies:
        if board.turn == side:
            process.send(view.position())
            process.send(f"go nodes {nodes}")
            *said, last = process.until("bestmove", SEARCH_SECONDS)
            for line in said:
                if line.startswith(("info string error", "info string warning")):
                    say(f"game {seed}: {line}")
            move = last.split()[1]
        else:
            move = rng.choice(sorted(map(chess.Move.uci, board.legal_moves)))
        board.push_uci(move)
        view.follow([made.uci() for made in board.move_stack])
    return len(board.move_stack)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.endurance", __doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=50, help="games before anything counts")
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--plies", type=int, default=80, help="a game at most")
    parser.add_argument("--every", type=int, default=50, help="games between two lines")
    add_options(parser)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play and watch; returns the exit code."""
    words = given(words)
    parser = make_parser()
    chosen = parser.parse_args(words)
    set_options(parser, Options(), chosen.option)
    options = {"Threads": "1", "Hash": "16", "Evaluator": "material", "Seed": "1"}
    options |= dict(option.split("=", 1) for option in chosen.option)
    begin, plies = time.monotonic(), 0
    rows: list[dict[str, float]] = []
    with UciProcess(engine_command()) as process:
        for name, value in options.items():
            process.set_option(name, value)
        process.wait_ready()
        for game in range(1, chosen.games + 1):
            plies += play(process, game, chosen.nodes, chosen.plies)
            if game % chosen.every == 0 or game in (chosen.games, chosen.warm_up):
                minutes = (time.monotonic() - begin) / 60
                state = state_of(process.pid)
                rows.append({"games": game, "plies": plies, "minutes": minutes, **state._asdict()})
                say(f"game {game} of {chosen.games}, {state.mebibytes:.0f} MiB")
    figures = {"options": options, "warm_up": chosen.warm_up, "rows": rows}
    publish(parser, words, chosen.raw, figures, render)
    ends = first_and_last(figures)
    if ends is None:
        return 0
    grown = {name: ends[1][name] - ends[0][name] for name in State._fields}
    held = any(grown[name] > 0 for name in State._fields if name != "mebibytes")
    return int(grown["mebibytes"] > MOST_GROWTH_MIB or held)


def first_and_last(figures: dict[str, Any]) -> tuple[dict[str, float], dict[str, float]] | None:
    """Return what the process held at the end of the warm-up and at the end; None without either."""
    rows = figures["rows"]
    warm = [row for row in rows if row["games"] == figures["warm_up"]]
    return (warm[0], rows[-1]) if warm else None


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what the process held by games, and what it grew by since the warm-up."""
    rows = [
        [
            f"{row['games']:,}",
            f"{row['plies']:,}",
            f"{row['minutes']:.1f}",
            f"{row['mebibytes']:,.0f}",
            row["threads"],
            row["files"],
            row["children"],
        ]
        for row in figures["rows"]
    ]
    headings = ["games", "plies", "minutes", "MiB", "threads", "files", "children"]
    yield from table(headings, rows, "r" * len(headings))
    if (ends := first_and_last(figures)) is not None:
        grown, threads = (ends[1][name] - ends[0][name] for name in ("mebibytes", "threads"))
        yield ""
        yield f"Since game {figures['warm_up']}: {grown:+.0f} MiB, threads {threads:+.0f}."


if __name__ == "__main__":
    sys.exit(main())
