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
from pathlib import Path
from typing import NamedTuple

import chess

from obscuro.arena.uci_process import UciProcess
from obscuro.bridge.our_view import OurView
from obscuro.cli.local_engine import engine_command

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
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    tasks = Path(f"/proc/{pid}/task").iterdir()  # a child belongs to the thread that started it
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return State(
        mebibytes=int(status["VmRSS"].split()[0]) / 1024,
        threads=int(status["Threads"]),
        files=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        children=len(children),
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
                    print(f"game {seed}: {line}", flush=True)
            move = last.split()[1]
        else:
            move = rng.choice(sorted(map(chess.Move.uci, board.legal_moves)))
        board.push_uci(move)
        view.follow([made.uci() for made in board.move_stack])
    return len(board.move_stack)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=50, help="games before anything counts")
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--plies", type=int, default=80, help="a game at most")
    parser.add_argument("--every", type=int, default=50, help="games between two lines")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args(arguments)
    options = {"Threads": "1", "Hash": "16", "Evaluator": "material", "Seed": "1"}
    options |= dict(option.split("=", 1) for option in chosen.option)
    begin, plies, first = time.monotonic(), 0, None
    print("| games | plies | minutes | MiB | threads | files | children |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with UciProcess(engine_command()) as process:
        for name, value in options.items():
            process.set_option(name, value)
        process.wait_ready()
        for game in range(1, chosen.games + 1):
            plies += play(process, game, chosen.nodes, chosen.plies)
            if game == chosen.warm_up:
                first = state_of(process.pid)
            if game % chosen.every == 0 or game in (chosen.games, chosen.warm_up):
                now, minutes = state_of(process.pid), (time.monotonic() - begin) / 60
                print(
                    f"| {game} | {plies} | {minutes:.1f} | {now.mebibytes:.0f} | {now.threads} "
                    f"| {now.files} | {now.children} |",
                    flush=True,
                )
        last = state_of(process.pid)
    if first is None:
        return 0
    grown = last.mebibytes - first.mebibytes
    print(
        f"\nSince game {chosen.warm_up}: {grown:+.0f} MiB, threads {last.threads - first.threads:+d}"
    )
    return int(grown > MOST_GROWTH_MIB or last[1:] > first[1:])


if __name__ == "__main__":
    sys.exit(main())
