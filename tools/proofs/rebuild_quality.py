"""How good are rebuilt beliefs? Follow games with a belief that is cut short, so that it loses the truth.

    python -m tools.proofs.rebuild_quality --pgn games.pgn --cap 3000
    python -m tools.proofs.rebuild_quality --games 50 --cap 300

Plays through the games of a PGN file, or through random ones, with a belief of each side that may
hold only `--cap` positions. Sooner or later none is left that explains what is seen, and the belief
is rebuilt. The table shows, over all these times, how near its positions were to the true one: how
many of the enemy's pieces were not where the true ones are (in the mean, and in the best position),
how often the king was right, how often the true position was among them; the same means some plies
later, as long as no other rebuild came; how many positions there were, and how long it took.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chess.pgn
import numpy as np
import numpy.typing as npt

import obscuro.rules.board  # noqa: F401 (registers the variant for PGN files)
from obscuro.belief import Belief
from obscuro.rules.layout import KINGS, WHITE
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_board, legal_moves
from tools.common import given, publish, say, table, tool_parser

Words = npt.NDArray[np.uint64]
Game = list[tuple[int, Words]]  # moves, and the positions after them

LATER = (1, 2, 4, 8)  # plies


class Rebuild(NamedTuple):
    """What became of one rebuild."""

    ours: bool  # whether our own move has shown that no position was right
    size: int
    seconds: float  # of the processor, for the update with the rebuild
    misplaced: float
    least: int
    king: float
    contains: bool
    later: list[float]  # misplaced pieces after `LATER` plies, as far as they came


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.rebuild_quality", __doc__)
    parser.add_argument("--pgn", type=Path, help="games to follow (without it: random ones)")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--plies", type=int, default=120, help="of a random game at most")
    parser.add_argument("--cap", type=int, default=3000, help="positions in a belief at most")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Follow the games and print the table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    start = from_board(chess.Board())
    results: list[Rebuild] = []
    updates = 0
    warm_up()
    for number, game in zip(range(arguments.games), games(arguments), strict=False):
        for side in (0, 1):
            belief = Belief(start, side, arguments.cap, seed=arguments.seed + number)
            results += follow(belief, game)
            updates += len(game)
        say(f"{number + 1} games, {len(results)} rebuilds")
    figures = {"updates": updates, "rebuilds": [result._asdict() for result in results]}
    publish(parser, words, arguments.raw, figures, render)
    return 0


def games(arguments: argparse.Namespace) -> Iterator[Game]:
    """The games, without the moves that end them."""
    if arguments.pgn is None:
        for number in range(arguments.games):
            yield random_game(random.Random(arguments.seed + number), arguments.plies)
        return
    with arguments.pgn.open() as stream:
        while (record := chess.pgn.read_game(stream)) is not None:
            words = from_board(record.board())
            game: Game = []
            for move in list(record.mainline_moves())[:-1]:
                code = find_move(words, move.uci())
                if code is None:
                    raise SystemExit(f"{arguments.pgn}: illegal move {move.uci()}")
                words = np.array(make_move(tuple(words), code), dtype=np.uint64)
                game.append((code, words))
            yield game


def random_game(rng: random.Random, plies: int) -> Game:
    """Return a game of random moves, without the move that ends it."""
    game: Game = []
    words = from_board(chess.Board())
    for _ in range(plies):
        move = int(rng.choice(legal_moves(words)))
        words = np.array(make_move(tuple(words), move), dtype=np.uint64)
        kings = int(words[KINGS] & words[WHITE])
        if kings in (0, int(words[KINGS])) or not len(legal_moves(words)):
            break
        game.append((move, words))
    return game


def warm_up() -> None:
    """Have the kernels compiled before anything is measured."""
    for cap in (5, 50):
        belief = Belief(from_board(chess.Board()), 0, cap)
        follow(belief, random_game(random.Random(0), 40))


def follow(belief: Belief, game: Game) -> list[Rebuild]:
    """Let the belief see the game; return its rebuilds."""
    results: list[Rebuild] = []
    since = 0
    for move, truth in game:
        seen = Observation.of(truth, belief.side)
        ours, before = belief.our_turn, belief.rebuilds
        started = time.thread_time()
        if ours:
            belief.after_own_move(move, seen)
        else:
            belief.after_opponent_move(seen)
        seconds = time.thread_time() - started
        since += 1
        positions = belief.positions
        if belief.rebuilds > before:
            misplaced, king = compare(positions, truth, 1 - belief.side)
            results.append(
                Rebuild(
                    ours,
                    len(positions),
                    seconds,
                    float(misplaced.mean()),
                    int(misplaced.min()),
                    float(king.mean()),
                    belief.contains(truth),
                    [],
                )
            )
            since = 0
        elif results and since == LATER[min(len(results[-1].later), len(LATER) - 1)]:
            results[-1].later.append(float(compare(positions, truth, 1 - belief.side)[0].mean()))
    return results


def compare(
    positions: Words, truth: Words, colour: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """How many pieces of `colour` are not where they truly are, and whether its king is."""
    misplaced = np.zeros(len(positions), dtype=np.int64)
    ours = positions[:, WHITE] if colour == 0 else ~positions[:, WHITE]
    theirs = truth[WHITE] if colour == 0 else ~truth[WHITE]
    for board in range(WHITE):
        missing = truth[board] & theirs & ~(positions[:, board] & ours)
        for _ in range(16):
            misplaced += missing != 0
            missing &= missing - np.uint64(1)
    king = truth[KINGS] & theirs & ~(positions[:, KINGS] & ours)
    return misplaced, king == 0


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield how many rebuilds there were, and the table of how near they were to the truth."""
    results = [Rebuild(**each) for each in figures["rebuilds"]]
    yield f"{len(results)} rebuilds in {figures['updates']:,} updates."
    yield ""
    headings = ["after", "rebuilds", "positions", "misplaced", "in the best", "king right", "truth"]
    rows = []
    for name, group in (
        ("our moves", [result for result in results if result.ours]),
        ("the enemy's", [result for result in results if not result.ours]),
        ("all", results),
    ):
        if not group:
            continue
        later = [[r.later[i] for r in group if len(r.later) > i] for i in range(len(LATER))]
        times = np.percentile([1e3 * r.seconds for r in group], (10, 50, 90, 100))
        cells = [
            name,
            str(len(group)),
            f"{np.median([r.size for r in group]):,.0f}",
            f"{np.mean([r.misplaced for r in group]):.2f}",
            f"{np.mean([r.least for r in group]):.2f}",
            f"{np.mean([r.king for r in group]):.0%}",
            f"{np.mean([r.contains for r in group]):.0%}",
            *(f"{np.mean(values):.2f}" if values else "" for values in later),
            ", ".join(f"{value:.0f}" for value in times),
        ]
        rows.append(cells)
    headings += [*(f"+{plies}" for plies in LATER), "ms: 10, 50, 90 %, most"]
    yield from table(headings, rows)


if __name__ == "__main__":
    sys.exit(main())
