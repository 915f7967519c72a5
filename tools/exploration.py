"""How the rules of exploration compare (`obscuro.search.selection.explore`).

`games`: how exploitable the small games stay after so many iterations of growing and solving, in
their own units, and how much of each game has been expanded. `chess`: the shape of the trees of
searches by so many nodes, in a line of the opening, with what the paper says of its own
(Obscuro, App. D). Both print a table in markdown; `docs/algorithm.md` has what they said.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from threading import Event

import chess
import numpy as np

from obscuro.board.make import make_move
from obscuro.board.position import find_move, from_fen
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.fog.observation import Observation
from obscuro.games.best_response import exploitability
from obscuro.games.catalog import CATALOG
from obscuro.games.search_game import SearchGame
from obscuro.games.solve import GameSolver, growing_iterations
from obscuro.games.tree import enumerate_game

RULES: dict[str, dict[str, str]] = {
    "variance": {"Puct Least Variance": "0"},
    "variance ≥ 0.005": {},
    "variance ≥ 0.02": {"Puct Least Variance": "20"},
    "variance ≥ 0.1": {"Puct Least Variance": "100"},
    "variance ≥ 0.4": {"Puct Least Variance": "400"},
    "variance, C = 20": {"Puct Least Variance": "0", "Puct C": "2000"},
    "deviation": {"Puct Sigma": "deviation"},
}
LINE = ["d2d4", "d7d5", "c2c4", "e7e6", "b1c3", "g8f6", "g1f3", "f8e7"]
"""The moves of a quiet game, in which White searches at each of its turns."""


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
        words = from_fen(chess.STARTING_FEN)
        player.new_game(0, words)
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
            move = find_move(words, uci)
            assert move is not None
            words = np.array(make_move(tuple(words), move), dtype=np.uint64)
            seen = Observation.of(words, 0)
            if ply % 2 == 0:
                player.own_move(uci, seen)
            else:
                player.opponent_move(seen)
        player.close()


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
    board.add_argument("--evaluator", default="stockfish", choices=("stockfish", "material"))
    board.add_argument("--rule", action="append", choices=list(RULES))
    arguments = parser.parse_args(words)
    if arguments.kind == "games":
        unknown = set(arguments.games) - set(CATALOG)
        if unknown:
            parser.error(f"games are {', '.join(CATALOG)}")
        compare_games(arguments.games or list(CATALOG), arguments.iterations, arguments.seeds)
    else:
        compare_chess(arguments.nodes, arguments.evaluator, arguments.rule or list(RULES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
