"""How far the last iterate is from an equilibrium of the expanded game (O, C.7).

    python -m tools.play.gaps GAMES --turns 200 --nodes 20000 60000
    python -m tools.play.gaps GAMES --variant long=iterations_per_expansion=4

One side of each game is followed, once for each number of nodes and variant, and searched at each of
its turns. The gap is what both players together could gain in Resolve by answering the other one's
last strategy best, in the tree as the search left it; the table counts the turns that Resolve decided.
Values become pawns by the slope at an even position: a pawn is 1/τ. The paper says that the typical
gap is about half a pawn. The seconds are the processor's, and each of them is compared with those of
the first row at the same turn. A variant is a name and the keys of `Search` that it sets.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import chess
import numpy as np

from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.evaluation.scale import TAU
from tools.common import given, publish, say, table, tool_parser
from tools.play.recorded_games import (
    FiledGame,
    FollowedTurn,
    Row,
    add_variants,
    by_nodes,
    follow,
    load_games,
    one_thread,
    read_variants,
)

HALF_A_PAWN = 0.5
Searches = Mapping[str, tuple[int, str]]
"""By their names, which begin with the number of nodes: the nodes, and the keys of `Search`."""


def measure(games: Sequence[FiledGame], searches: Searches, turns: int, seed: str) -> list[Row]:
    """Return a row for each turn: the gap and the time of each search, by its name.

    A turn counts if all searches of it had a tree. Of each game the side is taken whose number in the
    file it has.
    """
    rows: list[Row] = []
    with ExitStack() as stack:
        players = [stack.enter_context(one_thread(seed, keys)) for _, keys in searches.values()]
        try:
            for game in games:
                for row in _gaps(players, game, searches):
                    rows.append(row)
                    if len(rows) == turns:
                        return rows
                say(f"game {game.number}: {len(rows)} turns")
        except KeyboardInterrupt:
            pass
    return rows


def _gaps(players: Sequence[Player], game: FiledGame, searches: Searches) -> Iterator[Row]:
    followed = [
        _timed(player, game, nodes)
        for player, (nodes, _) in zip(players, searches.values(), strict=True)
    ]
    for found in zip(*followed, strict=True):
        turns = [turn for turn, _ in found]
        roots = [turn.coverage.root for turn in turns]
        if any(root is None for root in roots):
            continue
        yield {
            "game": game.number,
            "ply": turns[0].ply,
            "belief": turns[0].info.belief,
            "gaps": {name: root.gap for name, root in zip(searches, roots, strict=True) if root},
            "p_max": {name: root.p_max for name, root in zip(searches, roots, strict=True) if root},
            "seconds": {name: spent for name, (_, spent) in zip(searches, found, strict=True)},
        }


def _timed(player: Player, game: FiledGame, nodes: int) -> Iterator[tuple[FollowedTurn, float]]:
    """Yield each turn of one side with the seconds of the processor that its search took."""
    begun = 0.0

    def limits(ply: int) -> GoLimits:
        nonlocal begun
        begun = time.process_time()
        return by_nodes(nodes)

    for turn in follow(player, game, chess.WHITE if game.number % 2 else chess.BLACK, limits):
        yield turn, time.process_time() - begun


def render(rows: Sequence[Row]) -> Iterator[str]:
    """A table by search: gaps in pawns, and times."""
    cells = []
    first, *_ = rows[0]["gaps"]
    timed = "seconds" in rows[0]
    for name in rows[0]["gaps"]:
        resolved = [row["gaps"][name] for row in rows if row["p_max"][name] > 0]
        gaps = TAU * np.array(resolved or [np.nan])
        nodes, _, variant = name.partition(" ")
        row = [f"{int(nodes):,} {variant}".strip(), len(rows), len(resolved)]
        row += [f"{np.median(gaps):.3f}", f"{gaps.mean():.3f}", f"{np.quantile(gaps, 0.9):.3f}"]
        row += [f"{gaps.max():.2f}", f"{(gaps < HALF_A_PAWN).mean():.1%}"]
        if timed:
            spent = np.array([[row["seconds"][each] for each in (first, name)] for row in rows])
            row += [f"{np.median(spent[:, 1]):.2f}", f"{np.median(spent[:, 1] / spent[:, 0]):.2f}"]
        cells.append(row)
    headings = ["nodes", "turns", "in Resolve", "gap: median", "mean", "90 %", "most"]
    headings += ["below half a pawn", *(["seconds: median", "of the first row's"] if timed else [])]
    yield from table(headings, cells, "r" * len(headings))


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.play.gaps", __doc__)
    parser.add_argument("file", type=Path, metavar="GAMES", help="a PGN file, or a journal .jsonl")
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000, 60_000], metavar="N")
    add_variants(parser)
    parser.add_argument("--turns", type=int, default=200, metavar="N", help="default: 200")
    parser.add_argument("--seed", default="1", help="of the players; default: 1")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    variants = {"": ""} | read_variants(parser, told)
    searches = {
        f"{nodes} {name}".strip(): (nodes, keys)
        for nodes in told.nodes
        for name, keys in variants.items()
    }
    rows = measure(load_games(told.file), searches, told.turns, told.seed)
    if not rows:
        parser.error(f"{told.file} has no turn with a search")
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
