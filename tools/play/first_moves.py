"""What the engine plays first, beside Table 1 of the Obscuro paper.

    python -m tools.play.first_moves --searches 100 --movetime 5000

Searches the start position, and Black's answers to 1.d4 and to 1.c4, each time as a new game with
another seed. Counts the moves played, and averages the solver's strategy and what is sampled from.
The paper's games were played at 5 s a move on 5 cores; its column for Black is over all its games,
whatever White began with (Black can't see it). Ctrl-C shows and stores what there is. If the raw file
holds a part of what is asked for, by the same command, the tool goes on from there.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Event
from typing import Any

import chess
import numpy as np

from obscuro.cli.bench.common import progress
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import Choice, GoLimits
from obscuro.machine import usable_cores
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tools.common import (
    INTERRUPTED,
    add_at_most,
    add_evaluator,
    add_options,
    engine_options,
    figures_so_far,
    given,
    publish,
    say,
    set_options,
    table,
    tool_parser,
)
from tools.results.render import wrap

SHOWN = 0.005  # moves with less of everything are left out of the tables

# Obscuro, Table 1: of 10,000 games, in percent.
PAPER = {
    chess.WHITE: {"d4": 66.4, "c4": 29.6, "e4": 1.9, "Nc3": 1.4, "c3": 0.4, "Nf3": 0.2},
    chess.BLACK: {"Nc6": 32.5, "c6": 25.1, "e6": 20.7, "Nf6": 15.9, "c5": 4.8, "d5": 0.9},
}


def main(words: Sequence[str] | None = None) -> int:
    """Search and print the tables; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    options = engine_options(Evaluator=told.evaluator, Threads=told.threads)
    set_options(parser, options, told.option)
    wanted = [(number, opening) for number in range(told.searches) for opening in told.openings]
    searches: list[dict[str, Any]] = figures_so_far(parser, words, told.raw) or []
    if len(searches) >= len(wanted):
        searches = []
    left = wanted[len(searches) :][: told.at_most]
    code = 0
    try:
        with progress(len(left)) as tell:
            for number, opening in left:
                tell(f"search {number + 1}{opening and f' after 1.{opening}'}", 0)
                options.set("Seed", str(told.seed + number))
                searches.append(search(options, opening, told.movetime))
                tell(None, 1)
    except KeyboardInterrupt:
        code = INTERRUPTED
    publish(parser, words, told.raw, searches, render)
    return code


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.first_moves", __doc__)
    parser.add_argument("--searches", type=int, default=100, help="of each position")
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    parser.add_argument(
        "--openings",
        nargs="*",
        default=["", "d2d4", "c2c4"],
        help="White's first moves, in UCI; an empty one: White's own choice",
    )
    add_evaluator(parser)
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--seed", type=int, default=1, help="of the first search")
    add_at_most(parser, "searches")
    add_options(parser)
    return parser


def first_choice(
    player: Player, opening: str, movetime: int | None, nodes: int | None = None
) -> Choice:
    """Search the first move of a new game, as Black after `opening`, else as White; close the player."""
    try:
        player.prepare()
        board = FogOfWarBoard()
        player.new_game(1 if opening else 0, from_board(board))
        if opening:
            board.push_uci(opening)
            last_ply(board, chess.BLACK).tell(player)
        return player.search(GoLimits(time.monotonic(), movetime=movetime, nodes=nodes), Event())
    finally:
        player.close()


def search(options: Options, opening: str, movetime: int) -> dict[str, Any]:
    """Search once, as a new game; return the search's figures, with moves in SAN."""
    choice = first_choice(Player(options, say), opening, movetime)
    board = chess.Board()
    if opening:
        board.push_uci(opening)
    assert choice.move is not None and choice.info is not None
    info = choice.info

    def by_san(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
        return {board.san(chess.Move.from_uci(move)): share for move, share in pairs}

    return {
        "opening": opening,
        "move": board.san(chess.Move.from_uci(choice.move)),
        "value": info.value,
        "nodes": info.nodes,
        "policy": by_san(info.policy),
        "play": by_san(info.play),
    }


def render(searches: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table for each position that was searched."""
    for opening in dict.fromkeys(each["opening"] for each in searches):
        found = [each for each in searches if each["opening"] == opening]
        values = [each["value"] for each in found]
        side = f"Black, after 1.{opening}" if opening else "White"
        yield from wrap(
            f"{side}: {len(found)} searches. The value for the side to move is "
            f"{np.mean(values):+.3f} ± {np.std(values):.3f} (deviation), with "
            f"{np.mean([each['nodes'] for each in found]):,.0f} nodes."
        )
        yield ""
        yield from render_moves(found, PAPER[chess.BLACK if opening else chess.WHITE])
        yield ""


def render_moves(searches: Sequence[dict[str, Any]], printed: Mapping[str, float]) -> Iterator[str]:
    """Yield the table of the moves, with the paper's shares of them, in percent."""
    count = len(searches)
    played = Counter(each["move"] for each in searches)
    policy, sampled = (
        {
            move: sum(each[name].get(move, 0.0) for each in searches) / count
            for move in {move for each in searches for move in each[name]}
        }
        for name in ("policy", "play")
    )
    moves = sorted(
        policy.keys() | printed.keys(),
        key=lambda move: (-policy.get(move, 0.0), -printed.get(move, 0.0)),
    )
    rows = []
    for move in moves:
        share = played[move] / count
        paper = printed.get(move)
        if max(share, policy.get(move, 0.0), (paper or 0) / 100) < SHOWN:
            continue
        error = math.sqrt(max(share * (1 - share), 1 / count) / count)
        shares = [policy.get(move, 0.0), sampled.get(move, 0.0)]
        cells = [move, f"{share:.1%} ± {error:.1%}", *(f"{each:.1%}" for each in shares)]
        rows.append([*cells, "" if paper is None else f"{paper}%"])
    yield from table(["move", "played", "strategy", "sampled from", "paper"], rows)


if __name__ == "__main__":
    sys.exit(main())
