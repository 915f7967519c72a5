"""What the engine plays first, beside Table 1 of the Obscuro paper: docs/results/first_moves.md.

    python -m tools.play.first_moves --searches 100 --movetime 5000

Searches the start position, and Black's answers to 1.d4 and to 1.c4, each time as a new game with
another seed. Counts the moves played, and averages the solver's strategy and what is sampled from.
The paper's games were played at 5 s a move on 5 cores; its column for Black is over all its games,
whatever White began with (Black can't see it). Ctrl-C writes what there is.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Event
from typing import NamedTuple

import chess
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from obscuro.board.position import from_board
from obscuro.engine.options import OPTIONS, Options
from obscuro.engine.player import Player
from obscuro.engine.report import Choice, GoLimits
from obscuro.fog.account import last_ply
from obscuro.fog.board import FogOfWarBoard

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "results" / "first_moves.md"
SHOWN = 0.005  # moves with less of everything are left out of the tables

# Obscuro, Table 1: of 10,000 games, in percent.
PAPER = {
    chess.WHITE: {"d4": 66.4, "c4": 29.6, "e4": 1.9, "Nc3": 1.4, "c3": 0.4, "Nf3": 0.2},
    chess.BLACK: {"Nc6": 32.5, "c6": 25.1, "e6": 20.7, "Nf6": 15.9, "c5": 4.8, "d5": 0.9},
}


class Tally(NamedTuple):
    """What came of the searches of one position."""

    opening: str  # White's move, in UCI; "" for the start
    played: Counter[str]
    policy: Counter[str]  # sums of probabilities
    sampled: Counter[str]
    values: list[float]
    nodes: list[int]


def main() -> int:
    """Search, and write the report; returns the exit code."""
    arguments = parse_arguments()
    options = Options()
    options.set("Evaluator", arguments.evaluator)
    options.set("Threads", str(arguments.threads))
    console = Console(highlight=False, markup=False)
    tallies = [
        Tally(opening, Counter(), Counter(), Counter(), [], []) for opening in arguments.openings
    ]
    code = 0
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("loading", total=arguments.searches * len(tallies))
        try:
            for number in range(arguments.searches):
                for tally in tallies:
                    options.set("Seed", str(arguments.seed + number))
                    search(options, tally, arguments.movetime)
                    progress.update(task, advance=1, description=f"1.{tally.opening or '?'}")
        except KeyboardInterrupt:
            code = 130
    text = "\n".join(report(tallies, arguments))
    arguments.report.write_text(text + "\n", encoding="utf-8")
    console.print(text, soft_wrap=True)
    return code


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    evaluator = next(option for option in OPTIONS if option.name == "Evaluator")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--searches", type=int, default=100, help="of each position")
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    parser.add_argument(
        "--openings",
        nargs="*",
        default=["", "d2d4", "c2c4"],
        help="White's first moves, in UCI; an empty one: White's own choice",
    )
    parser.add_argument("--evaluator", choices=evaluator.choices, default=evaluator.default)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1, help="of the first search")
    parser.add_argument("--report", type=Path, default=REPORT, metavar="FILE")
    return parser.parse_args()


def first_choice(player: Player, opening: str, movetime: int) -> Choice:
    """Search the first move of a new game, as Black after `opening`, else as White; close the player."""
    try:
        player.prepare()
        board = FogOfWarBoard()
        player.new_game(1 if opening else 0, from_board(board))
        if opening:
            board.push_uci(opening)
            last_ply(board, chess.BLACK).tell(player)
        return player.search(GoLimits(time.monotonic(), movetime=movetime), Event())
    finally:
        player.close()


def search(options: Options, tally: Tally, movetime: int) -> None:
    """Search once, as a new game, and note what came of it."""
    player = Player(options, lambda text: print(text, file=sys.stderr))
    choice = first_choice(player, tally.opening, movetime)
    board = chess.Board()
    if tally.opening:
        board.push_uci(tally.opening)
    assert choice.move is not None and choice.info is not None
    tally.played[board.san(chess.Move.from_uci(choice.move))] += 1
    for sums, pairs in ((tally.policy, choice.info.policy), (tally.sampled, choice.info.play)):
        for move, probability in pairs:
            sums[board.san(chess.Move.from_uci(move))] += probability
    tally.values.append(choice.info.value)
    tally.nodes.append(choice.info.nodes)


def report(tallies: list[Tally], arguments: argparse.Namespace) -> list[str]:
    """The report, as lines of Markdown."""
    lines = [
        "# First moves",
        "",
        f"Made by `python -m tools.play.first_moves --searches {arguments.searches} --movetime "
        f"{arguments.movetime} --evaluator {arguments.evaluator} --threads {arguments.threads}`.",
        "",
        "In percent: the moves played, with the standard error; the solver's strategy and what is "
        "sampled from after purification, averaged over the searches; and the paper's Table 1.",
    ]
    for tally in tallies:
        count = tally.played.total()
        if not count:
            continue
        side = chess.BLACK if tally.opening else chess.WHITE
        title = f"Black, after 1.{tally.opening}" if tally.opening else "White"
        lines += [
            "",
            f"## {title}",
            "",
            f"{count} searches. Value for the side to move {np.mean(tally.values):+.3f} "
            f"± {np.std(tally.values):.3f} (deviation), nodes {np.mean(tally.nodes):,.0f}.",
            "",
            "| move | played | strategy | sampled from | paper |",
            "|---|---|---|---|---|",
        ]
        moves = sorted(
            tally.policy.keys() | PAPER[side].keys(),
            key=lambda move: (-tally.policy[move], -PAPER[side].get(move, 0.0)),
        )
        for move in moves:
            share = tally.played[move] / count
            paper = PAPER[side].get(move)
            if max(share, tally.policy[move] / count, (paper or 0) / 100) < SHOWN:
                continue
            error = math.sqrt(max(share * (1 - share), 1 / count) / count)
            lines.append(
                f"| {move} | {share:.1%} ± {error:.1%} | {tally.policy[move] / count:.1%} "
                f"| {tally.sampled[move] / count:.1%} | {'' if paper is None else f'{paper}%'} |"
            )
    return lines


if __name__ == "__main__":
    sys.exit(main())
