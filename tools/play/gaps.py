"""How far the last iterate is from an equilibrium of the expanded game (O, C.7).

    python -m tools.play.gaps GAMES --turns 200 --nodes 20000 60000

One side of each game is followed, once for each number of nodes, and searched at each of its turns.
The gap is what both players together could gain in Resolve by answering the other one's last strategy
best, in the tree as the search left it; the table counts the turns that Resolve decided. Values become
pawns by the slope at an even position: a pawn is 1/τ. The paper says that the typical gap is about
half a pawn.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import chess
import numpy as np

from obscuro.engine.player import Player
from obscuro.evaluation.scale import TAU
from tools.common import given, publish, say, table, tool_parser
from tools.play.recorded_games import FiledGame, Row, by_nodes, follow, load_games, one_thread

HALF_A_PAWN = 0.5


def measure(games: Sequence[FiledGame], nodes: Sequence[int], turns: int, seed: str) -> list[Row]:
    """Return a row for each turn: the gap and the iterations of each search, by its nodes.

    A turn counts if all searches of it had a tree. Of each game the side is taken whose number in the
    file it has.
    """
    rows: list[Row] = []
    with ExitStack() as stack:
        players = [stack.enter_context(one_thread(seed)) for _ in nodes]
        try:
            for game in games:
                for row in _gaps(players, game, nodes):
                    rows.append(row)
                    if len(rows) == turns:
                        return rows
                say(f"game {game.number}: {len(rows)} turns")
        except KeyboardInterrupt:
            pass
    return rows


def _gaps(players: Sequence[Player], game: FiledGame, nodes: Sequence[int]) -> Iterator[Row]:
    side = chess.WHITE if game.number % 2 else chess.BLACK
    followed = [
        follow(player, game, side, lambda ply, most=most: by_nodes(most))  # type: ignore[misc]
        for player, most in zip(players, nodes, strict=True)
    ]
    for turns in zip(*followed, strict=True):
        roots = [turn.coverage.root for turn in turns]
        if any(root is None for root in roots):
            continue
        yield {
            "game": game.number,
            "ply": turns[0].ply,
            "belief": turns[0].info.belief,
            "gaps": {str(n): root.gap for n, root in zip(nodes, roots, strict=True) if root},
            "p_max": {str(n): root.p_max for n, root in zip(nodes, roots, strict=True) if root},
        }


def render(rows: Sequence[Row]) -> Iterator[str]:
    """A table by nodes, in pawns."""
    cells = []
    for nodes in rows[0]["gaps"]:
        resolved = [row["gaps"][nodes] for row in rows if row["p_max"][nodes] > 0]
        gaps = TAU * np.array(resolved or [np.nan])
        row = [f"{int(nodes):,}", len(rows), len(resolved), f"{np.median(gaps):.3f}"]
        row += [f"{gaps.mean():.3f}", f"{np.quantile(gaps, 0.9):.3f}", f"{gaps.max():.2f}"]
        cells.append([*row, f"{(gaps < HALF_A_PAWN).mean():.1%}"])
    headings = ["nodes", "turns", "in Resolve", "gap: median", "mean", "90 %", "most"]
    yield from table([*headings, "below half a pawn"], cells, "rrrrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.play.gaps", __doc__)
    parser.add_argument("file", type=Path, metavar="GAMES", help="a PGN file, or a journal .jsonl")
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000, 60_000], metavar="N")
    parser.add_argument("--turns", type=int, default=200, metavar="N", help="default: 200")
    parser.add_argument("--seed", default="1", help="of the players; default: 1")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    rows = measure(load_games(told.file), told.nodes, told.turns, told.seed)
    if not rows:
        parser.error(f"{told.file} has no turn with a search")
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
