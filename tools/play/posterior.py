"""How likely the true position was by the weights of the belief, in recorded games.

    python -m tools.play.posterior GAMES[:PLAYER] ... --games 20

GAMES is a file of `obscuro match --pgn` or `--log`. Of each file `--games` games are drawn, and
followed as the opponent of PLAYER saw them, or as both sides did; PLAYER is the beginning of a name.
After each move of the player with more than 16 positions in P, the table takes the logarithm of the
true position's weight: what an even belief would give counts 0. The rank is the share of P with a
larger weight. A side is followed until P has more than `--most` positions. ± is a standard error;
one side of a game counts as one sample. The second table is of the pieces that can be taken there:
how often the other side could take back in truth, and by the positions of P. `--model FILE` takes
another model of moves than the one of the package (`tools.record.move_model --to`).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean, median
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from obscuro.belief import posterior
from obscuro.belief.belief import Belief
from obscuro.belief.move_model import load_model
from obscuro.evaluation.king_safety import attacked_squares
from obscuro.kernels import kernel
from obscuro.rules.layout import ONE
from obscuro.rules.moves import occupied_squares, pieces_of
from obscuro.rules.position import from_board, load
from obscuro.rules.tables import TABLES
from tools.common import given, publish, table, tool_parser
from tools.play.recorded_games import FiledGame, drawn_sides, opponent_moves
from tools.play.replay import stated

FEWEST = 17
SIZES = ((FEWEST, 256), (257, 2_048), (2_049, 16_384), (16_385, None), (257, None))
DRAWN = 256  # positions of a root
LEAST_SHARE = 0.005  # in a logarithm
WORTH = (0, 1, 3, 3, 5, 9, 100)  # by piece type; the cheapest piece takes


@kernel
def can_take_back(tables: Any, positions: Any, origin: int, target: int, found: Any) -> None:
    """Write whether the other side attacks a square after a piece of ours has taken there: bool[n].

    positions: uint64[n, 8], our side to move. origin, target: the move's squares.
    """
    begin, end = ONE << np.uint64(origin), ONE << np.uint64(target)
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        occupied = (occupied_squares(pos) & ~begin) | end
        other = 0 if pieces_of(pos, 1) & begin else 1
        pieces = pieces_of(pos, other) & ~end
        found[index] = attacked_squares(tables, pos, pieces, other, occupied) & end != 0


def taken_back(board: chess.Board, belief: Belief) -> list[tuple[int, bool, float, float]]:
    """Each piece that we can take: its type, whether it is guarded, its share of P, and by weight."""
    takers: dict[chess.Square, chess.Square] = {}
    by_worth = sorted(
        board.pseudo_legal_moves, key=lambda move: WORTH[board.piece_type_at(move.from_square) or 0]
    )
    for move in by_worth:
        if board.color_at(move.to_square) == (not board.turn):
            takers.setdefault(move.to_square, move.from_square)
    if not takers:
        return []
    truth, positions = from_board(board).reshape(1, -1), belief.positions
    found = []
    for target, origin in takers.items():
        is_guarded = np.zeros(1, dtype=np.bool_)
        can_take_back(TABLES, truth, origin, target, is_guarded)
        guarded: npt.NDArray[np.bool_] = np.zeros(len(positions), dtype=np.bool_)
        can_take_back(TABLES, positions, origin, target, guarded)
        by_weight = np.average(guarded, weights=belief.weights)
        piece = board.piece_type_at(target) or 0
        found.append((piece, bool(is_guarded[0]), float(guarded.mean()), float(by_weight)))
    return found


def follow_side(game: FiledGame, side: chess.Color, most: int) -> Iterator[dict[str, Any]]:
    """Follow a game as one side saw it; yield the figures after each move of the other one."""
    start = from_board(game.start.root())
    belief = Belief(start, 0 if side == chess.WHITE else 1, 2 * most, weighted=True)
    with closing(belief):
        for board, observation in opponent_moves(game, side, [belief]):
            belief.after_opponent_move(observation)
            size, weights = len(belief), belief.weights
            if size > most:
                return
            if size < FEWEST or weights is None:
                continue
            weight = float(belief.weights_of(from_board(board).reshape(1, -1))[0])
            yield {
                "size": size,
                "nats": math.log(weight),
                "rank": float((weights > weight).mean()),
                # A bound from above for the chance to be among DRAWN positions.
                "drawn": 1 - math.exp(-DRAWN * weight / size),
                "even": min(1.0, DRAWN / size),
                "taken_back": taken_back(board, belief),
            }


def measure(sources: Sequence[str], games: int, most: int, seed: int) -> list[dict[str, Any]]:
    """Return the figures of each turn, by file, game and side."""
    return [
        named | turn
        for named, game, side in drawn_sides(sources, games, seed)
        for turn in follow_side(game, side, most)
    ]


def render(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A table by file, player and size of P, and one of the pieces that can be taken."""
    yield from of_positions(rows)
    if any("taken_back" in row for row in rows):
        yield ""
        yield from of_captures(rows)


def of_captures(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table by file, player and piece: how often it is guarded, in truth and by P."""
    cells = []
    for file, player in dict.fromkeys((row["file"], row["player"]) for row in rows):
        own = [row for row in rows if (row["file"], row["player"]) == (file, player)]
        pieces = [each for row in own for each in row.get("taken_back", ())]
        for piece in (*chess.PIECE_TYPES[:-1], None):
            these = [each for each in pieces if piece in (each[0], None)]
            if these:
                shares = [fmean(each[k] for each in these) for k in (1, 2, 3)]
                lost = [fmean(-math.log(right(each, k)) for each in these) for k in (2, 3)]
                name = "any" if piece is None else chess.piece_name(piece)
                cells.append(
                    [file, player, name, len(these)]
                    + [f"{share:.3f}" for share in shares]
                    + [f"{nats:.3f}" for nats in lost]
                )
    yield from table(
        [
            *("games", "opponent", "piece", "can be taken", "guarded"),
            *("guarded in P, even", "by weight", "nats lost, even", "by weight"),
        ],
        cells,
        "lllrrrrrr",
    )


def right(piece: Sequence[Any], column: int) -> float:
    """The probability that P gives to the truth about a piece; column: even, or by weight."""
    share: float = piece[column] if piece[1] else 1 - piece[column]
    return max(share, LEAST_SHARE)


def of_positions(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table by file, player and size of P: how likely the true position was."""
    cells = []
    for file, player in dict.fromkeys((row["file"], row["player"]) for row in rows):
        own = [row for row in rows if (row["file"], row["player"]) == (file, player)]
        for least, most in SIZES:
            turns = [r for r in own if least <= r["size"] and (most is None or r["size"] <= most)]
            if not turns:
                continue
            cells.append(
                [
                    file,
                    player,
                    f"{least:,} or more" if most is None else f"{least:,}-{most:,}",
                    len(turns),
                    stated([((r["game"], r["side"]), r["nats"]) for r in turns], 2),
                    f"{median(r['rank'] for r in turns):.3f}",
                    f"{fmean(r['nats'] < 0 for r in turns):.2f}",
                    f"{fmean(r['even'] for r in turns):.3f}",
                    f"{fmean(r['drawn'] for r in turns):.3f}",
                ]
            )
    yield from table(
        [
            "games",
            "opponent",
            "|P|",
            "turns",
            "nats over even",
            "median rank",
            "below even",
            f"in {DRAWN}: even draw",
            "by weight",
        ],
        cells,
        "llrrrrrrr",
    )


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.play.posterior", __doc__)
    parser.add_argument("sources", nargs="+", metavar="GAMES")
    parser.add_argument("--games", type=int, default=20, help="of each file; default: 20")
    parser.add_argument("--most", type=int, default=200_000, help="positions; default: 200000")
    parser.add_argument("--model", type=Path, metavar="FILE", help="of moves")
    parser.add_argument("--seed", type=int, default=2)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    if told.model is not None:
        model = load_model(told.model)
        posterior.model_of_moves = lambda: model
    rows = measure(told.sources, told.games, told.most, told.seed)
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
