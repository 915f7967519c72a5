"""Solve a small game by the search that plays chess, and print how exploitable its strategies are.

    python tools/solve_small_game.py leduc --iterations 20000

The tree is grown by one-sided GT-CFR from the root and solved by PCFR+; in the last quarter of the
iterations it does not grow. Exploitability is exact, in the whole game and its own units: half of
what both players together could gain by best responses. "average" is the average strategy, which
converges to an equilibrium; "last" is the last iterate, which the engine plays.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from obscuro.games.best_response import exploitability
from obscuro.games.extensive_form import ExtensiveForm
from obscuro.games.kuhn import KuhnPoker
from obscuro.games.leduc import LeducPoker
from obscuro.games.solve import PUCT_C, SETTLING, GameSolver
from obscuro.games.tree import GameTree, enumerate_game
from obscuro.search.parameters import SearchParameters

GAMES: dict[str, type[ExtensiveForm[Any]]] = {"kuhn": KuhnPoker, "leduc": LeducPoker}
ROWS_PER_DOUBLING = 2
CHUNK = 250  # iterations between two signs of life
HEADER = (
    f"{'iterations':>10} {'histories':>9} {'infosets':>8} {'average':>9} {'last':>9}"
    f" {'value':>10} {'seconds':>8}"
)


def checkpoints(iterations: int) -> list[int]:
    """The iterations after which a row is printed: growing by √2, the last one, and where growth ends."""
    growing = iterations - int(iterations * SETTLING)
    rows = {growing, iterations}
    row = 8.0
    while row < iterations:
        rows.add(round(row))
        row *= 2 ** (1 / ROWS_PER_DOUBLING)
    return sorted(rows)


def advance(solver: GameSolver[Any], iterations: int, grow: bool) -> None:
    """Iterate up to `iterations` in all, with signs of life on a terminal."""
    while solver.iterations < iterations:
        solver.run(min(CHUNK, iterations - solver.iterations), grow=grow)
        if sys.stderr.isatty():
            print(f"\r{solver.iterations:>10}", end="\r", file=sys.stderr, flush=True)


def report(tree: GameTree[Any], solver: GameSolver[Any], seconds: float) -> None:
    """Print one row."""
    found = solver.solution()
    average, last = (exploitability(tree, policies) for policies in (found.average, found.last))
    print(
        f"{found.iterations:>10} {found.tree.nodes:>9} {found.tree.infosets:>8}"
        f" {average:>9.2e} {last:>9.2e} {found.value:>10.6f} {seconds:>8.1f}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game", choices=sorted(GAMES))
    parser.add_argument("--iterations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--puct-c", type=float, default=PUCT_C, help="1 in chess")
    parser.add_argument("--two-sided", action="store_true", help="both players explore")
    args = parser.parse_args()

    tree = enumerate_game(GAMES[args.game]())
    parameters = SearchParameters(one_sided=not args.two_sided, puct_c=args.puct_c)
    solver = GameSolver(tree, seed=args.seed, parameters=parameters)
    growing = args.iterations - int(args.iterations * SETTLING)
    print(f"{tree.game.name}: {len(tree.states)} histories, {len(tree.infosets.key)} infosets")
    print(HEADER)
    seconds = 0.0
    for row in checkpoints(args.iterations):
        begin = time.monotonic()
        advance(solver, row, grow=row <= growing)
        seconds += time.monotonic() - begin  # without the exact measurement
        report(tree, solver, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
