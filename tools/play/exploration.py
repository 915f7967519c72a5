"""How the rules of exploration compare (`obscuro.search.selection.explore`).

`games`: how exploitable the small games stay after so many iterations of growing and solving, in
their own units, and how much of each game has been expanded. `chess`: the shape of the trees of
searches by so many nodes, in a line of the opening, with what the paper says of its own
(Obscuro, App. D). `positions`: what is played in positions that both sides know and of which the paper
says how to play (E.2, E.8), and what that is worth. All print a table in markdown; `docs/algorithm.md`
has what they said.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from threading import Event

import chess
import numpy as np

from obscuro.board.position import from_board, from_fen
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.evaluation.factory import BUILT_IN
from obscuro.fog.account import last_ply
from obscuro.fog.board import FogOfWarBoard
from obscuro.games.best_response import exploitability
from obscuro.games.catalog import CATALOG
from obscuro.games.game_tree import enumerate_game
from obscuro.games.search_game import SearchGame
from obscuro.games.solve import GameSolver, growing_iterations

RULES: dict[str, dict[str, str]] = {
    "variance": {"Puct Least Variance": "0"},
    "variance ≥ 0.005": {"Puct Least Variance": "5"},
    "variance ≥ 0.02": {},
    "variance ≥ 0.05": {"Puct Least Variance": "50"},
    "variance ≥ 0.1": {"Puct Least Variance": "100"},
    "variance ≥ 0.4": {"Puct Least Variance": "400"},
    "variance, C = 20": {"Puct Least Variance": "0", "Puct C": "2000"},
    "deviation": {"Puct Sigma": "deviation"},
}
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


def options(rule: dict[str, str], **values: str) -> Options:
    made = Options()
    for name, value in {**rule, **values}.items():
        made.set(name.replace("_", " "), value)
    return made


def compare_games(names: Sequence[str], iterations: int, seeds: int) -> None:
    """Mean exploitability of the average and of the last strategy, and the share expanded."""
    print("| game | rule | average | last iterate | expanded |\n|---|---|--:|--:|--:|")
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
            average, last, share = np.mean(found, axis=0)
            print(f"| {name} | {rule} | {average:.1e} | {last:.1e} | {share:.0%} |", flush=True)


def compare_chess(nodes: int, evaluator: str, rules: Sequence[str]) -> None:
    """Depth, infosets and expansions of each search."""
    print("| rule | move | mean depth | largest | nodes | carried | infosets | expansions | it/s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for rule in rules:
        made = options(
            RULES[rule],
            Threads="1",
            Seed="7",
            Hash="1024",
            Evaluator=evaluator,
            Max_Positions="1000000",
        )
        player = Player(made, print)
        board = FogOfWarBoard()
        player.new_game(0, from_board(board))
        for ply, uci in enumerate(LINE):
            if ply % 2 == 0:
                begin = time.monotonic()
                info = player.search(GoLimits(begin, nodes=nodes), Event()).info
                assert info is not None
                rate = info.iterations / (time.monotonic() - begin)
                print(
                    f"| {rule} | {ply // 2 + 1} | {info.depth:.1f} | {info.seldepth} | {info.nodes:,} "
                    f"| {info.carried:,} | {info.infosets:,} | {info.expansions:,} | {rate:.0f} |",
                    flush=True,
                )
            board.push_uci(uci)
            last_ply(board, chess.WHITE).tell(player)
        player.close()


def compare_positions(
    names: Sequence[str], rules: Sequence[str], movetime: int, seeds: int, evaluator: str
) -> None:
    """The value, and what is sampled from, over searches that differ in the seed."""
    print("| position | rule | value: mean (least, most) | top move ≤ 90 % | strategy, mean |")
    print("|---|---|--:|--:|---|")
    for name in names:
        words = from_fen(POSITIONS[name])
        board = chess.Board(POSITIONS[name])
        for rule in rules:
            values: list[float] = []
            mixed = 0
            strategy: Counter[str] = Counter()
            for seed in range(1, seeds + 1):
                made = options(RULES[rule], Seed=str(seed), Evaluator=evaluator)
                player = Player(made, print)
                player.prepare()
                player.new_game(0, words)
                limits = GoLimits(time.monotonic(), movetime=movetime)
                info = player.search(limits, Event()).info
                player.close()
                assert info is not None
                values.append(info.value)
                mixed += max(share for _, share in info.policy) <= MIXED
                for move, share in info.policy:
                    strategy[board.san(board.parse_uci(move))] += share / seeds
            moves = ", ".join(
                f"{m} {share:.2f}" for m, share in strategy.most_common(6) if share > 0.005
            )
            print(
                f"| {name} | {rule} | {np.mean(values):+.3f} ({min(values):+.3f}, {max(values):+.3f}) "
                f"| {mixed} of {seeds} | {moves} |",
                flush=True,
            )


def main(words: Sequence[str] | None = None) -> int:
    """Compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    games = kinds.add_parser("games")
    games.add_argument("games", nargs="*", metavar="game", help=", ".join(CATALOG))
    games.add_argument("--iterations", type=int, default=4096)
    games.add_argument("--seeds", type=int, default=3)
    board = kinds.add_parser("chess")
    board.add_argument("--nodes", type=int, default=1_000_000)
    board.add_argument("--evaluator", default="stockfish", choices=BUILT_IN)
    board.add_argument("--rule", action="append", choices=list(RULES))
    known = kinds.add_parser("positions")
    known.add_argument("--position", action="append", choices=list(POSITIONS))
    known.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    known.add_argument("--seeds", type=int, default=5, help="searches of each")
    known.add_argument("--evaluator", default="stockfish", choices=BUILT_IN)
    known.add_argument("--rule", action="append", choices=list(RULES))
    arguments = parser.parse_args(words)
    if arguments.kind == "games":
        unknown = set(arguments.games) - set(CATALOG)
        if unknown:
            parser.error(f"games are {', '.join(CATALOG)}")
        compare_games(arguments.games or list(CATALOG), arguments.iterations, arguments.seeds)
    elif arguments.kind == "positions":
        positions = arguments.position or list(POSITIONS)
        rules = arguments.rule or list(RULES)
        compare_positions(
            positions, rules, arguments.movetime, arguments.seeds, arguments.evaluator
        )
    else:
        compare_chess(arguments.nodes, arguments.evaluator, arguments.rule or list(RULES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
