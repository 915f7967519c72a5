"""How the rules of exploration compare (`obscuro.search.selection.explore`).

    python -m tools.play.exploration positions --position "1.c4 d5" --seeds 5
    python -m tools.play.exploration chess --nodes 1000000 --evaluator material
    python -m tools.play.exploration games leduc

`games`: how exploitable the small games stay after so many iterations of growing and solving, in
their own units, and how much of each game has been expanded. `chess`: the shape of the trees of
searches by so many nodes, in a line of the opening, with what the paper says of its own
(Obscuro, App. D). `positions`: what is played in positions that both sides know and of which the paper
says how to play (E.2, E.8), and what that is worth. `docs/results/exploration.md` has what they said.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from threading import Event
from typing import Any

import chess
import numpy as np

from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.game_tree import enumerate_game, exploitability
from obscuro.research.games.search_game import GameSolver, SearchGame, growing_iterations
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, from_fen
from tools.common import (
    add_evaluator,
    add_raw,
    engine_options,
    given,
    publish,
    say,
    table,
    tool_parser,
)

RULES: dict[str, dict[str, str]] = {
    "variance": {"Search": "puct_least_variance=0"},
    "variance ≥ 0.005": {"Search": "puct_least_variance=0.005"},
    "variance ≥ 0.02": {},
    "variance ≥ 0.05": {"Search": "puct_least_variance=0.05"},
    "variance ≥ 0.1": {"Search": "puct_least_variance=0.1"},
    "variance ≥ 0.4": {"Search": "puct_least_variance=0.4"},
    "variance, C = 20": {"Search": "puct_least_variance=0,puct_c=20"},
}
Row = dict[str, Any]
"""One measurement, by the names of its figures."""
OF_A_SEARCH = ("depth", "seldepth", "nodes", "carried", "infosets", "expansions")
TOLD = ("game", "position", "rule", "seed", "move")
"""What a line of progress says of a measurement."""
MIXED = 0.9
"""A strategy whose top move has no more is called mixed."""
LINE = ["d2d4", "d7d5", "c2c4", "e7e6", "b1c3", "g8f6", "g1f3", "f8e7"]
"""The moves of a quiet game, in which White searches at each of its turns."""


POSITIONS = {
    "start": chess.STARTING_FEN,
    "1.c4 d5": "rnbqkbnr/ppp1pppp/8/3p4/2P5/8/PP1PPPPP/RNBQKBNR w KQkq - 0 2",
    "Kc6 against Ka8": "k7/8/2K5/8/8/8/8/8 w - - 0 1",
    "Kb6 against Ka8": "k7/8/1K6/8/8/8/8/8 w - - 0 1",
    "Kc7 against Ka8": "k7/2K5/8/8/8/8/8/8 w - - 0 1",
    "Kd3 against Kd6": "8/8/3k4/8/8/3K4/8/8 w - - 0 1",
}
"""The paper: Qa4 with low probability and Nc3 with high, almost a pawn up (E.2); more than ½, by mixing
the moves to b6, c7, a6 and c8 that are legal (E.8); and a draw."""


def options(rule: dict[str, str], **values: object) -> Options:
    """Return the engine's options by a rule of `RULES`, with more set."""
    made = engine_options(**values)
    for name, value in rule.items():
        made.set(name, value)
    return made


# -- measuring --------------------------------------------------------------------------------


def compare_games(names: Sequence[str], iterations: int, seeds: int) -> Iterator[Row]:
    """Yield, for each game and rule, means of exploitability and of the share expanded."""
    for name in names:
        tree = enumerate_game(CATALOG[name].make())
        roots = int(SearchGame(tree).roots().states[0, 0])
        inner = np.count_nonzero(tree.degree[roots:])
        growing = growing_iterations(iterations)
        for rule, switches in RULES.items():
            parameters = options(switches).search_parameters()
            found = []
            for seed in range(1, seeds + 1):
                solver = GameSolver(tree, seed=seed, parameters=parameters)
                solver.run(growing)
                solver.run(iterations - growing, grow=False)
                solution = solver.solution()
                found.append(
                    (
                        exploitability(tree, solution.average),
                        exploitability(tree, solution.last),
                        solution.expansions / inner,
                    )
                )
            average, last, share = np.mean(found, axis=0).tolist()
            yield {"game": name, "rule": rule, "average": average, "last": last, "share": share}


def compare_chess(nodes: int, evaluator: str, rules: Sequence[str]) -> Iterator[Row]:
    """Yield, for each rule and each of White's moves, what the search reported."""
    for rule in rules:
        made = options(
            RULES[rule], Threads=1, Seed=7, Hash=1024, Evaluator=evaluator, Max_Positions=1_000_000
        )
        player = Player(made, say)
        board = FogOfWarBoard()
        player.new_game(0, from_board(board))
        for ply, uci in enumerate(LINE):
            if ply % 2 == 0:
                begin = time.monotonic()
                info = player.search(GoLimits(begin, nodes=nodes), Event()).info
                assert info is not None
                rate = info.iterations / (time.monotonic() - begin)
                yield {"rule": rule, "move": ply // 2 + 1, "rate": rate} | {
                    name: getattr(info, name) for name in OF_A_SEARCH
                }
            board.push_uci(uci)
            last_ply(board, chess.WHITE).tell(player)
        player.close()


def compare_positions(
    names: Sequence[str], rules: Sequence[str], movetime: int, seeds: int, evaluator: str
) -> Iterator[Row]:
    """Yield each search: its value, its nodes, and the probabilities of its moves, in SAN."""
    for name in names:
        board = chess.Board(POSITIONS[name])
        words = from_fen(POSITIONS[name])
        for rule in rules:
            for seed in range(1, seeds + 1):
                player = Player(options(RULES[rule], Seed=seed, Evaluator=evaluator), say)
                player.prepare()
                player.new_game(0, words)
                limits = GoLimits(time.monotonic(), movetime=movetime)
                info = player.search(limits, Event()).info
                player.close()
                assert info is not None
                policy = {board.san(board.parse_uci(move)): share for move, share in info.policy}
                yield {"position": name, "rule": rule, "seed": seed, "value": info.value} | {
                    "nodes": info.nodes,
                    "policy": policy,
                }


# -- tables -----------------------------------------------------------------------------------


def render(figures: dict[str, list[Row]]) -> Iterator[str]:
    """Yield the table of what was measured: `games`, `chess` or `positions`."""
    for kind, rows in figures.items():
        yield from {"games": _games, "chess": _chess, "positions": _positions}[kind](rows)


def _games(rows: Sequence[Row]) -> Iterator[str]:
    cells = [
        [
            row["game"],
            row["rule"],
            *(f"{row[name]:.1e}" for name in ("average", "last")),
            f"{row['share']:.0%}",
        ]
        for row in rows
    ]
    yield from table(["game", "rule", "average", "last iterate", "expanded"], cells, "llrrr")


def _chess(rows: Sequence[Row]) -> Iterator[str]:
    headings = ["rule", "move", "mean depth", "largest", "nodes", "carried", "infosets"]
    cells = [
        [row["rule"], row["move"], f"{row['depth']:.1f}", row["seldepth"], f"{row['nodes']:,}"]
        + [f"{row[name]:,}" for name in ("carried", "infosets", "expansions")]
        + [f"{row['rate']:.0f}"]
        for row in rows
    ]
    yield from table([*headings, "expansions", "it/s"], cells, "lrrrrrrrr")


def _positions(rows: Sequence[Row]) -> Iterator[str]:
    headings = ["position", "rule", "value: mean (least, most)", "top move ≤ 90 %"]
    cells = []
    for (position, rule), found in groupby(rows, lambda row: (row["position"], row["rule"])):
        searches = list(found)
        values = [row["value"] for row in searches]
        mixed = sum(max(row["policy"].values()) <= MIXED for row in searches)
        strategy: Counter[str] = Counter()
        for row in searches:
            strategy.update({move: share / len(searches) for move, share in row["policy"].items()})
        moves = ", ".join(
            f"{move} {share:.2f}" for move, share in strategy.most_common(6) if share > 0.005
        )
        value = f"{np.mean(values):+.3f} ({min(values):+.3f}, {max(values):+.3f})"
        cells.append([position, rule, value, f"{mixed} of {len(searches)}", moves])
    yield from table([*headings, "strategy, mean"], cells, "llrrl")


# -- running ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.exploration", __doc__, stores=False)
    kinds = parser.add_subparsers(dest="kind", required=True)
    games = kinds.add_parser("games", help="how exploitable the small games stay")
    games.add_argument("games", nargs="*", metavar="game", help=", ".join(CATALOG))
    games.add_argument("--iterations", type=int, default=4096)
    games.add_argument("--seeds", type=int, default=3)
    board = kinds.add_parser("chess", help="the shape of the trees in a line of the opening")
    board.add_argument("--nodes", type=int, default=1_000_000)
    known = kinds.add_parser("positions", help="what is played in positions of the paper")
    known.add_argument("--position", action="append", choices=list(POSITIONS))
    known.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    known.add_argument("--seeds", type=int, default=5, help="searches of each")
    for kind in (board, known):
        add_evaluator(kind, "stockfish")
        kind.add_argument("--rule", action="append", choices=list(RULES))
    for kind in (games, board, known):
        add_raw(kind)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Compare; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    if told.kind == "games":
        if set(told.games) - set(CATALOG):
            parser.error(f"games are {', '.join(CATALOG)}")
        found = compare_games(told.games or list(CATALOG), told.iterations, told.seeds)
    elif told.kind == "positions":
        found = compare_positions(
            told.position or list(POSITIONS),
            told.rule or list(RULES),
            told.movetime,
            told.seeds,
            told.evaluator,
        )
    else:
        found = compare_chess(told.nodes, told.evaluator, told.rule or list(RULES))
    rows = []
    for row in found:
        rows.append(row)
        say(", ".join(str(row[name]) for name in TOLD if name in row))
    publish(parser, words, told.raw, {told.kind: rows}, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
