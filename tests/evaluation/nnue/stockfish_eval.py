"""What Stockfish's command `eval` prints, and how it rounds the network's values for that.

It prints, for the side to move, psqt and layers of all eight buckets; then, for White, the value of
the network, and the value that its search takes. All are pawns with two decimals: the network's
units by a number of units that depends on the version, and in 17.1 on the material.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

import chess

from obscuro.evaluation.stockfish_program import parse_version
from tests.evaluation.nnue.naive import toward_zero

NUMBER = r"([+-]?)\s*(\d+\.\d\d)"
ROW = re.compile(rf"\|\s+(\d)\s+\|\s+{NUMBER}\s+\|\s+{NUMBER}\s+\|\s+{NUMBER}\s+\|(.*)")
NETWORK = re.compile(rf"NNUE evaluation\s+{NUMBER} \(white side\)")
FINAL = re.compile(rf"Final evaluation\s+{NUMBER} \(white side\)")

FIXED_UNITS = {(15, 1): 361.0, (16, 0): 328.0}
MATERIAL = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
ARMY = [chess.QUEEN, *[chess.ROOK, chess.BISHOP, chess.KNIGHT] * 2, *[chess.PAWN] * 8]
UNITS = {chess.PAWN: 208, chess.KNIGHT: 781, chess.BISHOP: 825, chess.ROOK: 1276, chess.QUEEN: 2538}


class Report(NamedTuple):
    """One answer, in centipawns."""

    psqt: list[int]  # [BUCKETS] for the side to move, as all in the table
    positional: list[int]  # [BUCKETS]
    total: list[int]  # [BUCKETS]
    bucket: int  # the one used
    network: int  # for White
    final: int  # for White


def evaluate(stockfish: str, boards: list[chess.Board]) -> list[Report]:
    """Ask a Stockfish of our own about boards that are valid and not in check."""
    commands = "".join(f"position fen {board.fen()}\neval\n" for board in boards)
    answer = subprocess.run(
        [stockfish], input=f"{commands}quit\n", capture_output=True, text=True, check=True
    )
    reports = answer.stdout.split("NNUE network contributions")[1:]
    assert len(reports) == len(boards)
    return [_parse(report) for report in reports]


def _parse(text: str) -> Report:
    rows = ROW.findall(text)
    network, final = NETWORK.search(text), FINAL.search(text)
    assert network is not None and final is not None
    (bucket,) = (int(row[0]) for row in rows if "used" in row[-1])
    columns = [[_centipawns(*row[at : at + 2]) for row in rows] for at in (1, 3, 5)]
    return Report(*columns, bucket, _centipawns(*network.groups()), _centipawns(*final.groups()))


def _centipawns(sign: str, number: str) -> int:
    return int(f"{sign}{number.replace('.', '')}")


def units_per_pawn(engine: str, board: chess.Board) -> float | None:
    """What a printed pawn is in units; None for versions of which we don't know it."""
    version = parse_version(engine)
    if version in FIXED_UNITS:
        return FIXED_UNITS[version]
    if version == (17, 1):
        counted = sum(
            worth * len(board.pieces(piece, color))
            for piece, worth in MATERIAL.items()
            for color in chess.COLORS
        )
        m = min(max(counted, 17), 78) / 58
        return ((-13.50030198 * m + 40.92780883) * m - 36.82753545) * m + 386.83004070
    return None


def printed(units: int, per_pawn: float) -> int:
    """The centipawns that it prints for a value: rounded as C prints numbers."""
    return int(f"{units / per_pawn:.2f}".replace(".", ""))


def final_of_17(
    board: chess.Board, big: tuple[int, int], small: tuple[int, int]
) -> tuple[int, bool]:
    """The value that 17.1's search takes, for the side to move, and if it is by the small network.

    big, small: psqt and positional value by these networks, in units. The small one judges where
    much material is missing on one side, unless it finds that this matters little.
    """
    imbalance = sum(
        units * (len(board.pieces(piece, board.turn)) - len(board.pieces(piece, not board.turn)))
        for piece, units in UNITS.items()
    )
    is_small = abs(imbalance) > 962
    psqt, positional = small if is_small else big
    value = toward_zero(125 * psqt + 131 * positional, 128)
    if is_small and abs(value) < 236:
        is_small = False
        psqt, positional = big
        value = toward_zero(125 * psqt + 131 * positional, 128)
    value -= toward_zero(value * abs(psqt - positional), 18000)
    material = sum(
        (535 if piece == chess.PAWN else units) * len(board.pieces(piece, color))
        for piece, units in UNITS.items()
        for color in chess.COLORS
    )
    value = toward_zero(value * (77777 + material), 77777)
    return value - toward_zero(value * board.halfmove_clock, 212), is_small


def random_boards(count: int, seed: int) -> list[chess.Board]:
    """Boards not in check: from random games, and with any part of both armies anywhere."""
    rng = random.Random(seed)
    played = _boards_of_games(rng)
    return [next(played) if number % 2 else _scattered(rng) for number in range(count)]


def _boards_of_games(rng: random.Random) -> Iterator[chess.Board]:
    while True:
        board = chess.Board()
        for _ in range(rng.randrange(200)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
            if rng.random() < 0.1 and not board.is_check():
                yield board.copy(stack=False)


def _scattered(rng: random.Random) -> chess.Board:
    """Any part of both armies, anywhere."""
    while True:
        board = chess.Board.empty()
        army = [chess.Piece(piece, color) for piece in ARMY for color in chess.COLORS]
        army = rng.sample(army, rng.randrange(len(army) + 1))
        army += [chess.Piece(chess.KING, color) for color in chess.COLORS]
        for square, piece in zip(rng.sample(chess.SQUARES, len(army)), army, strict=True):
            if piece.piece_type != chess.PAWN or chess.BB_SQUARES[square] & ~chess.BB_BACKRANKS:
                board.set_piece_at(square, piece)
        board.turn = rng.random() < 0.5
        if board.is_valid() and not board.is_check():
            return board
