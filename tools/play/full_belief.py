"""How often a belief that is full still holds the true position, in recorded games.

    python -m tools.play.full_belief GAMES[:PLAYER] ... --positions 20000 100000 --games 20

GAMES is a file of `obscuro match --pgn` or `--log`. Of each file `--games` games are drawn, and
followed as the opponent of PLAYER saw them, or as both sides did; PLAYER is the beginning of a name.
Each side is followed by two beliefs that hold `--positions` at most: one has weights, and keeps what
the likeliest positions lead to; the other keeps positions at random. The table counts the turns of a
side from the first one on at which its plain belief is not exact, until that is exact again. ± is a
standard error; one side of a game counts as one sample.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import chess

from obscuro.belief.belief import Belief
from obscuro.rules.position import from_board
from tools.common import given, publish, table, tool_parser
from tools.play.recorded_games import FiledGame, drawn_sides, opponent_moves
from tools.play.replay import clustered

KINDS = "at random", "the likeliest"


def follow_side(game: FiledGame, side: chess.Color, positions: int) -> Iterator[dict[str, Any]]:
    """Follow a game as one side saw it; yield whether each belief has the true position, by turn."""
    start, number = from_board(game.start.root()), 0 if side == chess.WHITE else 1
    beliefs = [Belief(start, number, positions, weighted=weighted) for weighted in (False, True)]
    for board, observation in opponent_moves(game, side, beliefs):
        for belief in beliefs:
            belief.after_opponent_move(observation)
        if not beliefs[0].exact:
            truth = from_board(board)
            yield dict(zip(KINDS, (each.contains(truth) for each in beliefs), strict=True))
    for belief in beliefs:
        belief.close()


def measure(sources: Sequence[str], caps: Sequence[int], games: int, seed: int) -> list[Any]:
    """Return what each turn showed, by file, cap, game and side."""
    return [
        named | {"cap": cap} | turn
        for named, game, side in drawn_sides(sources, games, seed)
        for cap in caps
        for turn in follow_side(game, side, cap)
    ]


def share(rows: Sequence[dict[str, Any]], kind: str) -> str:
    """The share of turns with the true position in the belief, and its standard error."""
    mean, error = clustered([((row["game"], row["side"]), row[kind]) for row in rows])
    return f"{100 * mean:.1f} %" + ("" if error is None else f" ± {100 * error:.1f}")


def render(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A table by file, player and cap."""
    cells = []
    for file, player, cap in dict.fromkeys((r["file"], r["player"], r["cap"]) for r in rows):
        own = [r for r in rows if (r["file"], r["player"], r["cap"]) == (file, player, cap)]
        sides = len({(row["game"], row["side"]) for row in own})
        cells.append(
            [file, player, f"{cap:,}", sides, len(own), *(share(own, kind) for kind in KINDS)]
        )
    head = ["games", "opponent", "positions at most", "sides", "turns", *KINDS]
    yield from table(head, cells, "llrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.play.full_belief", __doc__)
    parser.add_argument("sources", nargs="+", metavar="GAMES")
    parser.add_argument("--positions", type=int, nargs="+", default=[20_000], help="at most")
    parser.add_argument("--games", type=int, default=20, help="of each file; default: 20")
    parser.add_argument("--seed", type=int, default=2)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    rows = measure(told.sources, told.positions, told.games, told.seed)
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
