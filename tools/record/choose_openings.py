"""Choose the default openings of matches: obscuro/matches/openings.txt.

    python -m tools.record.choose_openings

Reads `opening_candidates.txt` beside this file, and keeps a line where

- its position is new: no other line has led to it,
- neither side could win more than a pawn by captures on one square, whoever were to move; so no
  king stands attacked,
- the engine's value for White lies in a narrow band. Both sides know the position. The value is the
  mean of two searches, bounded by nodes and in one thread, so the same engine writes the same file
  again.

Takes some minutes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import chess

from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tools.common import ROOT, engine_options, given, say, tool_parser

CANDIDATES_FILE = Path(__file__).with_name("opening_candidates.txt")
OPENINGS_FILE = ROOT / "obscuro/matches/openings.txt"
NODES = 100_000  # that a search adds to its tree
SEEDS = (1, 2)
LOWEST, HIGHEST = 0.0, 0.08
"""The band of White's value, in [-1, 1], from even to that of the plain start, half a pawn."""
PAWNS = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 1000,
}


class Candidate(NamedTuple):
    """A line with a name, and the position after it."""

    name: str
    board: FogOfWarBoard


def read_candidates(path: Path) -> Iterator[Candidate]:
    """Read `name: moves in SAN` lines. Raises ValueError if a move is illegal."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name, colon, moves = line.partition(":")
        if colon and not line.startswith("#"):
            board = FogOfWarBoard()
            for san in moves.split():
                board.push_san(san)
            yield Candidate(name, board)


def largest_gain(board: FogOfWarBoard) -> int:
    """Return the most pawns that captures on one square could win, whichever side were to move.

    A king counts 1000.
    """
    gains = [0]
    for color in chess.COLORS:
        side = board.copy(stack=False)
        if side.turn != color:
            side.turn, side.ep_square = color, None
        gains += [_gain(side, move) for move in side.legal_moves if side.is_capture(move)]
    return max(gains)


def _gain(board: FogOfWarBoard, capture: chess.Move) -> int:
    """Return what a capture wins in pawns if both sides go on taking on its square while it pays.

    The least valuable piece takes first.
    """
    victim = board.piece_type_at(capture.to_square) or chess.PAWN  # else en passant
    if victim == chess.KING:
        return PAWNS[victim]
    after = board.copy(stack=False)
    after.push(capture)
    replies = [move for move in after.legal_moves if move.to_square == capture.to_square]
    if not replies:
        return PAWNS[victim]
    reply = min(replies, key=lambda move: PAWNS[after.piece_type_at(move.from_square) or 0])
    return PAWNS[victim] - max(0, _gain(after, reply))


def white_value(board: FogOfWarBoard, nodes: int) -> float:
    """Return White's value in [-1, 1] where both sides know the position."""
    values = []
    for seed in SEEDS:
        player = Player(engine_options(Threads=1, Hash=256, Seed=seed), say)
        player.new_game(0 if board.turn == chess.WHITE else 1, from_board(board))
        limits = GoLimits(received=time.monotonic(), nodes=nodes)
        info = player.search(limits, threading.Event(), lambda info: None).info
        player.close()
        assert info is not None
        values.append(info.value if board.turn == chess.WHITE else -info.value)
    return statistics.fmean(values)


def choose(candidates: Sequence[Candidate], nodes: int) -> Iterator[tuple[Candidate, float]]:
    """Yield the lines to keep, each with White's value; says of every other one why it goes."""
    found: set[str] = set()
    for candidate in candidates:
        position = candidate.board.epd(en_passant="legal")
        if position in found:
            say(f"{candidate.name}: found before")
        elif (gain := largest_gain(candidate.board)) > 1:
            say(f"{candidate.name}: {gain} pawns can be won")
        else:
            value = white_value(candidate.board, nodes)
            if LOWEST <= value <= HIGHEST:
                say(f"{candidate.name}: {value:+.3f}")
                yield candidate, value
            else:
                say(f"{candidate.name}: {value:+.3f} lies outside of the band")
        found.add(position)


def opening_lines(chosen: Sequence[tuple[Candidate, float]], nodes: int) -> Iterator[str]:
    """Yield the lines of the file."""
    mean = statistics.fmean(value for _, value in chosen)
    yield "# The default openings of matches: lines that both sides know, about even, none twice."
    yield "# Written by python -m tools.record.choose_openings. No side can win more than a pawn by"
    yield (
        "# captures on one square. White's value lies within "
        f"{LOWEST:+.2f} .. {HIGHEST:+.2f} (mean {mean:+.3f})"
    )
    yield f"# by {len(SEEDS)} searches of {nodes} nodes, Threads 1."
    yield "#"
    for candidate, _ in chosen:
        moves = " ".join(move.uci() for move in candidate.board.move_stack)
        yield f"{candidate.name}: {moves}"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.choose_openings", __doc__, stores=False)
    parser.add_argument("--nodes", type=int, default=NODES, help="nodes of a search")
    parser.add_argument("--file", type=Path, default=OPENINGS_FILE)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Choose the lines, and write the file; returns the exit code."""
    arguments = make_parser().parse_args(given(words))
    chosen = list(choose(list(read_candidates(CANDIDATES_FILE)), arguments.nodes))
    lines = opening_lines(chosen, arguments.nodes)
    arguments.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    say(f"{arguments.file}: {len(chosen)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
