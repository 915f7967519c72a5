"""Search the positions of the Obscuro paper's Appendix E, and set its words beside the result.

    python -m tools.play.paper_positions
    python -m tools.play.paper_positions --position "1.c4 d5" --rules paper --movetime 20000

Each position is a FEN that both sides know, and moves from there, of which a side knows what it saw.
The side to move has searched at each of its turns before, so it has a tree; then the move of the line
is played. The paper prints the positions of its Fig. 7(B), (C) and (D) as pictures only, and gives
their moves in words. For (D) there is a position of our own, made after them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from threading import Event
from typing import Any, NamedTuple

import chess
import numpy as np

from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_fen
from tools.common import (
    add_options,
    engine_options,
    given,
    publish,
    say,
    set_options,
    table,
    tool_parser,
)
from tools.play.paper_experiments import PAPER_RULES, as_options

RULES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "paper": PAPER_RULES,
}
SHOWN = 0.01  # moves that are played less often are left out of the table
Row = dict[str, Any]
"""One search, by the names of its figures."""


class PaperPosition(NamedTuple):
    """A position of the paper. fen: what both sides know; moves: from there, in UCI.

    place: in Obscuro. text: what it says of the position, in its words or nearly.
    """

    name: str
    place: str
    text: str
    moves: tuple[str, ...] = ()
    fen: str = chess.STARTING_FEN

    def board(self) -> FogOfWarBoard:
        """Return the position after the moves."""
        board = FogOfWarBoard(self.fen)
        for move in self.moves:
            board.push_uci(move)
        return board


CORNER = "more than ½: an even mixture of the legal ones of Kb6, Kc7, Ka6, Kc8"
POSITIONS = (
    PaperPosition(
        "1.c4 d5",
        "E.2, Fig. 7(A)",
        "White wins almost a pawn: Qa4 with low, Nc3 with high probability; also Nf3, e3",
        ("c2c4", "d7d5"),
    ),
    PaperPosition(
        "1.c4 d5 2.Qa4",
        "E.3, E.6",
        "Black loses at once with small probability, by a move like d4 that leaves a4-e8 open",
        ("c2c4", "d7d5", "d1a4"),
    ),
    PaperPosition(
        "1.c4 c6 2.d4 d5 3.cxd5 Qa5",
        "E.3",
        "White may fail to cover a5-e1: Qa4 lost at once",
        ("c2c4", "c7c6", "d2d4", "d7d5", "c4d5", "d8a5"),
    ),
    PaperPosition(
        "1.d4 c6 2.c4 d5 3.cxd5 Bf5 4.Qa4",
        "E.3",
        "Black may recapture, cxd5, and lose the king",
        ("d2d4", "c7c6", "c2c4", "d7d5", "c4d5", "c8f5", "d1a4"),
    ),
    PaperPosition(
        "a rook for a chance",
        "E.5, E.6, Fig. 7(D), our position",
        "Rxe6 Kxe6, then an even mixture of Bc4 and Bh3 wins with ½",
        (),
        "r7/2pkn3/pp2b2R/4P3/3P4/6P1/5P1P/5BK1 w - - 0 1",
    ),
    PaperPosition(
        "the same after Rxe6 Kxe6",
        "E.5, E.6, Fig. 7(D), our position",
        "an even mixture of Bc4 and Bh3 wins with ½",
        ("h6e6", "d7e6"),
        "r7/2pkn3/pp2b2R/4P3/3P4/6P1/5P1P/5BK1 w - - 0 1",
    ),
    PaperPosition("Kc6 against Ka8", "E.8", CORNER, (), "k7/8/2K5/8/8/8/8/8 w - - 0 1"),
    PaperPosition("Kb6 against Ka8", "E.8", CORNER, (), "k7/8/1K6/8/8/8/8/8 w - - 0 1"),
    PaperPosition("Kc7 against Ka8", "E.8", CORNER, (), "k7/2K5/8/8/8/8/8/8 w - - 0 1"),
    PaperPosition(
        "Ka6 against Ka8, White to move",
        "E.8, Claim 2",
        "more than 0 for White",
        (),
        "k7/8/K7/8/8/8/8/8 w - - 0 1",
    ),
    PaperPosition(
        "Ka6 against Ka8, Black to move",
        "E.8, Claim 2",
        "more than 0 for White, less than 0 for Black",
        (),
        "k7/8/K7/8/8/8/8/8 b - - 0 1",
    ),
    PaperPosition(
        "Kd3 against Kd6",
        "E.8, Claim 1",
        "0: each side has two safe moves to squares beside each other",
        (),
        "8/8/3k4/8/8/3K4/8/8 w - - 0 1",
    ),
)


# -- measuring --------------------------------------------------------------------------------


def search(position: PaperPosition, options: Options, movetime: int) -> Row:
    """Play the line up to the position, and search it as the side to move; moves are in SAN."""
    color = position.board().turn
    player = Player(options, say)
    try:
        player.prepare()
        board = FogOfWarBoard(position.fen)
        player.new_game(0 if color == chess.WHITE else 1, from_fen(position.fen))
        for move in position.moves:
            if board.turn == color:
                player.search(GoLimits(time.monotonic(), movetime=movetime), Event())
            board.push_uci(move)
            last_ply(board, color).tell(player)
        limits = GoLimits(time.monotonic(), movetime=movetime)
        info = player.search(limits, Event()).info
    finally:
        player.close()
    assert info is not None
    plain = chess.Board(board.fen())
    policy = {plain.san(chess.Move.from_uci(move)): share for move, share in info.policy}
    played = {plain.san(chess.Move.from_uci(move)): share for move, share in info.play}
    return {
        "position": position.name,
        "value": info.value,
        "nodes": info.nodes,
        "belief": info.belief,
        "policy": policy,
        "play": played,
    }


def measure(
    positions: Sequence[PaperPosition],
    rules: Sequence[str],
    options: Options,
    movetime: int,
    seeds: int,
) -> Iterator[Row]:
    """Yield every search. options: what is set beside the rules."""
    for position in positions:
        for name in rules:
            for seed in range(1, seeds + 1):
                made = options.copy()
                for option, value in {**as_options(RULES[name]), "Seed": str(seed)}.items():
                    made.set(option, value)
                yield {"rules": name, "seed": seed, **search(position, made, movetime)}


# -- the table --------------------------------------------------------------------------------


def render(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of all positions, the paper's words first."""
    by_name = {position.name: position for position in POSITIONS}
    cells = []
    for (name, rules), found in groupby(rows, lambda row: (row["position"], row["rules"])):
        searches = list(found)
        position = by_name[name]
        values = [row["value"] for row in searches]
        value = f"{np.mean(values):+.3f} ({min(values):+.3f}, {max(values):+.3f})"
        pawns = f"{pawns_of(float(np.mean(values))):+.1f}"
        nodes = f"{np.mean([row['nodes'] for row in searches]):,.0f}"
        strategies = [mixture(searches, kind) for kind in ("policy", "play")]
        cells.append([name, position.place, position.text, rules, value, pawns, *strategies, nodes])
    headings = ["position", "O", "what the paper says", "rules", "value: mean (least, most)"]
    headings += ["pawns", "strategy, mean", "sampled from, mean", "nodes"]
    yield from table(headings, cells, "llllrrllr")


def mixture(searches: Sequence[Row], kind: str) -> str:
    """Return the mean strategy of some searches, the likeliest move first."""
    strategy: Counter[str] = Counter()
    for row in searches:
        strategy.update({move: share / len(searches) for move, share in row[kind].items()})
    shown = [f"{move} {share:.2f}" for move, share in strategy.most_common(8) if share >= SHOWN]
    return ", ".join(shown)


def pawns_of(value: float, tau: float = 6.0) -> float:
    """Return a value in [-1, 1] as the evaluator's pawns. tau: those worth tanh(1)."""
    return tau * math.atanh(max(-0.999, min(0.999, value)))


# -- running ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.paper_positions", __doc__)
    names = [position.name for position in POSITIONS]
    parser.add_argument("--position", action="append", choices=names, help="only this one")
    parser.add_argument("--rules", action="append", choices=list(RULES), help="default: all")
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds a search")
    parser.add_argument("--seeds", type=int, default=3, help="searches of each")
    parser.add_argument("--threads", type=int, default=1)
    add_options(parser)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Search and print the table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    options = engine_options(Threads=told.threads, Hash=1024)
    set_options(parser, options, told.option)
    chosen = [each for each in POSITIONS if not told.position or each.name in told.position]
    rows = []
    for row in measure(chosen, told.rules or list(RULES), options, told.movetime, told.seeds):
        say(f"{row['position']}, {row['rules']} rules, seed {row['seed']}: {row['value']:+.3f}")
        rows.append(row)
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
