"""What variants of the engine would have played in recorded games, judged by the true positions.

    python -m tools.play.variants GAMES --nodes 20000 --variant root96=min_infoset_size=96

Each variant is a name and the keys of the option `Search` that it sets; the first row of the table is
the default, `base`. All follow the same games, each game as one side saw it, and search at each of that
side's turns; then the recorded move is played. A strategy is worth the mean of its moves' values in the
true position. A move's value is that of the opponent's best reply by the evaluator, which plays
captures out. The table tells how much more than `base` each variant is worth a turn, of all and by the
size of P: the strategy, and its likeliest move. ± is a standard error; one side of a game counts as one
sample.

It takes a twentieth of the games that a match needs to see a difference. It is no match: the
opponent's best reply is that of one who sees all, and nobody mixes against the engine. So it chooses
what to play matches about.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import fmean

import chess

from obscuro.engine.player import Player
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tools.common import engine_options, given, publish, say, table, tool_parser
from tools.play.recorded_games import (
    FiledGame,
    Judge,
    Row,
    add_variants,
    by_nodes,
    follow,
    load_games,
    one_thread,
    read_variants,
)
from tools.play.replay import stated

BASE = "base"
LEAST_SHARE = 0.02  # of a move that counts
SIZES = ((1, None), (1, 256), (257, None))


def move_value(judge: Judge, board: FogOfWarBoard, uci: str) -> float:
    """The value of a move in the true position, [-1, 1] in the mover's view."""
    after = board.copy()
    after.push_uci(uci)
    if after.is_game_over():
        return 0.0 if after.result() == "1/2-1/2" else 1.0
    return -max(judge.moves(from_board(after)).values())


def strategy_value(policy: Sequence[tuple[str, float]], values: Mapping[str, float]) -> float:
    """The mean value of a strategy's moves, of those with a share of LEAST_SHARE at least."""
    kept = [(uci, share) for uci, share in policy if share >= LEAST_SHARE]
    return sum(share * values[uci] for uci, share in kept) / sum(share for _, share in kept)


def compare_side(
    players: Mapping[str, Player], judge: Judge, game: FiledGame, side: chess.Color, nodes: int
) -> Iterator[Row]:
    """Yield the figures of each turn of one side of a game in which all variants searched."""
    followed = [
        follow(player, game, side, lambda ply: by_nodes(nodes)) for player in players.values()
    ]
    for turns in zip(*followed, strict=True):
        policies = [dict(turn.info.policy) for turn in turns]
        if any(turn.coverage.in_infoset is None for turn in turns) or not all(policies):
            continue
        wanted = {
            uci for policy in policies for uci, share in policy.items() if share >= LEAST_SHARE
        }
        board = turns[0].board
        values = {uci: move_value(judge, board, uci) for uci in sorted(wanted)}
        yield {
            "game": game.number,
            "side": chess.COLOR_NAMES[side],
            "ply": turns[0].ply,
            "belief": turns[0].info.belief,
            "values": {
                name: [
                    strategy_value(list(policy.items()), values),
                    values[max(sorted(policy), key=policy.__getitem__)],
                ]
                for name, policy in zip(players, policies, strict=True)
            },
        }


def measure(
    variants: Mapping[str, str], games: Sequence[FiledGame], nodes: int, seed: str
) -> list[Row]:
    """Return the figures of all turns; of each game the side whose number in the file it has."""
    with ExitStack() as stack:
        players = {}
        for name, keys in variants.items():
            players[name] = stack.enter_context(one_thread(seed, keys))
        judge = stack.enter_context(closing(Judge(engine_options(), say)))
        rows: list[Row] = []
        for game in games:
            side = chess.WHITE if game.number % 2 else chess.BLACK
            try:
                rows += compare_side(players, judge, game, side, nodes)
            except KeyboardInterrupt:
                break
            say(f"game {game.number}: {len(rows)} turns")
        return rows


def gain(rows: Sequence[Row], name: str, which: int) -> str:
    """How much more than `base` a variant is worth a turn, in hundredths, and the standard error.

    which: 0: the strategy, 1: its likeliest move.
    """
    gains = [
        (
            (row["game"], row["side"]),
            100 * (row["values"][name][which] - row["values"][BASE][which]),
        )
        for row in rows
    ]
    return stated(gains, 2)


def render(rows: list[Row]) -> Iterator[str]:
    """A table by variant and size of P, in hundredths."""
    cells = []
    for least, most in SIZES:
        turns = [r for r in rows if least <= r["belief"] and (most is None or r["belief"] <= most)]
        if not turns:
            continue
        size = (
            "all"
            if (least, most) == SIZES[0]
            else f"{least} or more"
            if most is None
            else f"to {most}"
        )
        for name in turns[0]["values"]:
            value = fmean(row["values"][name][0] for row in turns)
            row = [name, size, len(turns), f"{100 * value:.2f}"]
            row += ["" if name == BASE else gain(turns, name, which) for which in (0, 1)]
            cells.append(row)
    headings = ["variant", "|P|", "turns", "value, hundredths", "gain", "gain of the top move"]
    yield from table(headings, cells, "lrrrrr")


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.play.variants", __doc__)
    parser.add_argument("file", type=Path, metavar="GAMES", help="a PGN file, or a journal .jsonl")
    add_variants(parser)
    parser.add_argument("--nodes", type=int, default=20_000, metavar="N", help="of each search")
    parser.add_argument("--games", type=int, metavar="N", help="only the first N games of the file")
    parser.add_argument("--seed", default="1", help="of the players; default: 1")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    variants = {BASE: ""} | read_variants(parser, told)
    games = load_games(told.file)[: told.games]
    publish(parser, words, told.raw, measure(variants, games, told.nodes, told.seed), render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
