"""How many turns `obscuro analyse` does beside as many engines by themselves, and what it holds.

    python -m tools.speed.analyse_load --workers 2 --games 12 --plies 20 --nodes 5000 --rounds 5
    python -m tools.speed.analyse_load --rounds 0 --queries 1000

The service gets all games at once, from both sides. Beside it as many engines get them, each driven
by a program of its own: once with the same questions about each turn, and once with the searches
alone. The three take turns, round by round, because the machine's speed changes. Then the service
answers many small queries; its memory, its files and its engines' memory are looked at meanwhile.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import chess
import psutil

from obscuro.cli.analyse_command import default_options
from obscuro.cli.bench.recorded import read_games
from obscuro.client import AnalysisClient, Engine, Limit, analysis_command, engine_command
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from tools.common import given, publish, say, table, tool_parser

MEBIBYTE = 1 << 20
STEPS = 10
"""How often the service is looked at while it answers many queries."""
LISTED = 10
WAYS = ("service", "engines", "searches")

_engine: Engine | None = None  # of a process that drives one


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.analyse_load", __doc__)
    for flag, default, about in (
        ("--workers", 2, "engines of the service, and beside it"),
        ("--games", 12, "games of a round"),
        ("--plies", 20, "plies of each game"),
        ("--nodes", 5000, "nodes of each search"),
        ("--rounds", 5, "rounds; 0: no comparison"),
        ("--queries", 0, "small queries that the service answers after that"),
    ):
        parser.add_argument(flag, type=int, default=default, help=f"{about}; default: {default}")
    return parser


def recorded_games(count: int, plies: int) -> list[list[str]]:
    """Return the first plies of recorded games of the engine. Raises ValueError if there are less."""
    found: dict[str, list[str]] = {}
    for game in read_games():
        if game.fen == chess.STARTING_FEN and len(game.moves) >= plies:
            found.setdefault(game.name, list(game.moves[:plies]))
    if len(found) < count:
        raise ValueError(f"there are {len(found)} recorded games of {plies} plies, not {count}")
    return list(found.values())[:count]


# -- the service beside engines by themselves -----------------------------------------------


def start_engine(options: dict[str, str]) -> None:
    """Start the engine of this process."""
    global _engine  # noqa: PLW0603 - it lives as long as the process
    _engine = Engine(engine_command(), options)
    _engine.prepare()


def follow_game(moves: list[str], side: chess.Color, nodes: int, *, asked: bool) -> int:
    """Let the engine of this process search at each turn of a side; return how many there were.

    asked: whether it gets the questions of the service too.
    """
    assert _engine is not None
    board, turns = FogOfWarBoard(), 0
    account = Account(board, side)
    _engine.new_game(object())
    for number in range(len(moves) + 1):
        if board.turn == side:
            turns += 1
            if asked:
                _engine.belief(account, LISTED)
                _engine.marginals()
            _engine.play(None if asked else account, Limit(nodes=nodes))
            if asked:
                _engine.coverage(board)
                if number < len(moves):
                    _engine.compare(moves[number])
        if number < len(moves):
            board.push_uci(moves[number])
            account.append(board)
    return turns


def compare(
    workers: int, games: list[list[str]], nodes: int, rounds: int
) -> dict[str, list[float]]:
    """Return how many turns a second each way did in each round."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    options = default_options(workers)
    # Each process has an engine, as `spawn` copies no thread.
    context = multiprocessing.get_context("spawn")
    with (
        AnalysisClient(analysis_command("--workers", str(workers))) as client,
        ProcessPoolExecutor(workers, context, start_engine, (options,)) as pool,
    ):
        for warm_up in (True, *[False] * rounds):
            for way in WAYS:
                begin = time.monotonic()
                if way == "service":
                    queries = [{"moves": moves, "nodes": nodes} for moves in games]
                    turns = sum(map(len, client.analyse_all(queries)))
                else:
                    jobs = [
                        pool.submit(follow_game, moves, side, nodes, asked=way == "engines")
                        for moves in games
                        for side in chess.COLORS
                    ]
                    turns = sum(job.result() for job in jobs)
                rate = turns / (time.monotonic() - begin)
                say(f"{way}: {turns} turns, {rate:.2f} a second{' (warm-up)' * warm_up}")
                if not warm_up:
                    found[way].append(rate)
    return found


# -- what it holds --------------------------------------------------------------------------


def endure(workers: int, games: list[list[str]], count: int) -> list[dict[str, float]]:
    """Return what the service holds after each tenth of so many queries; sizes are MiB."""
    held = []
    with AnalysisClient(analysis_command("--workers", str(workers))) as client:
        service = psutil.Process(client.pid)
        for step in range(1, STEPS + 1):
            queries = [
                {"moves": moves, "nodes": 100, "plies": [len(moves) // 2, len(moves)]}
                for moves in (games[number % len(games)] for number in range(count // STEPS))
            ]
            client.analyse_all(queries)
            engines = service.children()
            held.append(
                {
                    "queries": step * (count // STEPS),
                    "service": service.memory_info().rss / MEBIBYTE,
                    "files": service.num_fds(),
                    "threads": service.num_threads(),
                    "engines": len(engines),
                    "engine": max(each.memory_info().rss for each in engines) / MEBIBYTE,
                    "engine_files": max(each.num_fds() for each in engines),
                }
            )
            say(f"{held[-1]['queries']:.0f} queries, {held[-1]['service']:.1f} MiB")
    return held


# -- the tables -----------------------------------------------------------------------------


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the tables."""
    rates, held = figures["rates"], figures["held"]
    if rates["service"]:
        names = {
            "service": "`obscuro analyse`",
            "engines": "engines by themselves, the same questions",
            "searches": "engines by themselves, searches alone",
        }
        rows = []
        for way in WAYS:
            ratios = [s / other for s, other in zip(rates["service"], rates[way], strict=True)]
            rows.append(
                [
                    names[way],
                    f"{statistics.median(rates[way]):.2f}",
                    f"{statistics.median(ratios):.3f}",
                    f"{min(ratios):.3f} to {max(ratios):.3f}",
                ]
            )
        engines = f"{figures['workers']} engines"
        headings = [engines, "turns a second, median", "the service beside it, median", "range"]
        yield from table(headings, rows, "lrrr")
    if rates["service"] and held:
        yield ""
    if held:
        headings = ["queries", "service, MiB", "its files", "its threads", "an engine, MiB"]
        yield from table(
            [*headings, "its files"],
            [
                [
                    each["queries"],
                    f"{each['service']:.1f}",
                    each["files"],
                    each["threads"],
                    f"{each['engine']:.0f}",
                    each["engine_files"],
                ]
                for each in held
            ],
            "rrrrrr",
        )


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and store the figures; returns the exit code."""
    parser = make_parser()
    told = given(words)
    arguments = parser.parse_args(told)
    try:
        games = recorded_games(arguments.games, arguments.plies)
    except ValueError as error:
        parser.error(str(error))
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    if arguments.rounds:
        rates = compare(arguments.workers, games, arguments.nodes, arguments.rounds)
    held = endure(arguments.workers, games, arguments.queries) if arguments.queries else []
    figures = {"workers": arguments.workers, "rates": rates, "held": held}
    publish(parser, told, arguments.raw, figures, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
