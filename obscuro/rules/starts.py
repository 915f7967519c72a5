"""Where a game begins: FENs of Chess960, and starts of which a side knows only its own half.

Importing this module loads no compiled code.
"""

from __future__ import annotations

import re
from functools import lru_cache

import chess

from obscuro.rules.board import FogOfWarBoard

STARTS = 960
UNKNOWN = "?"
"""Stands in a FEN for a square of the other side's back rank that our side does not know."""
_FILE_LETTERS = re.compile("[A-Ha-h]")
_DIGIT = re.compile("[1-8]")


def names_files(fen: str) -> bool:
    """Tell whether a FEN names castling rights by files, as Shredder-FEN does.

    Such a FEN is one of Chess960: in moves the king castles to its rook's square.
    """
    castling = fen.split()[2:3]
    return bool(castling and _FILE_LETTERS.search(castling[0]))


def fen_of(board: chess.Board) -> str:
    """Return a board's FEN; with files as castling rights in Chess960, so that it says so."""
    return board.fen(shredder=board.chess960)


def board_of(fen: str, kind: type[FogOfWarBoard] = FogOfWarBoard) -> FogOfWarBoard:
    """Return the board of a FEN, one of Chess960 if the FEN says so. kind: whose rules it has.

    Raises ValueError for a text that is no FEN.
    """
    return kind(fen, chess960=names_files(fen))


def is_hidden(fen: str) -> bool:
    """Tell whether a FEN leaves open how the other side began."""
    return UNKNOWN in fen.partition(" ")[0]


def hidden_fen(start: FogOfWarBoard, side: chess.Color) -> str:
    """Return the FEN of a start of which *side* does not know the other side's back rank.

    start: one of Chess960, where all castling rights are left.
    """
    placement, _, rest = start.fen().partition(" ")
    ranks = placement.split("/")
    ranks[0 if side == chess.WHITE else 7] = 8 * UNKNOWN
    return f"{'/'.join(ranks)} {rest}"


@lru_cache(maxsize=8)
def possible_starts(fen: str, side: chess.Color) -> tuple[str, ...]:
    """Return all starts of Chess960 that fit a FEN with squares that *side* does not know.

    `?` stands for such squares, on the other side's back rank only. The rank is one of the 960 back
    ranks. The FEN's letters on it are pieces that *side* sees, and it sees no `?`. The other side's
    castling rights are `KQ` or `kq`, for the outermost rooks.

    Returns FENs with files as castling rights. Raises ValueError, one line, if no start fits.
    """
    placement, _, rest = fen.partition(" ")
    ranks = placement.split("/")
    row = 0 if side == chess.WHITE else 7
    if len(ranks) != 8 or any(UNKNOWN in rank for rank in ranks if rank is not ranks[row]):
        raise ValueError("only the other side's back rank may have unknown squares")
    pattern = _DIGIT.sub(lambda run: "." * int(run[0]), ranks[row])
    if len(pattern) != 8:
        raise ValueError(f"a rank has 8 squares, this has {len(pattern)}: {ranks[row]!r}")
    unknown = sum(
        chess.BB_SQUARES[chess.square(file, 7 - row)]
        for file, letter in enumerate(pattern)
        if letter == UNKNOWN
    )
    found = []
    for number in range(STARTS):
        theirs = chess.Board.from_chess960_pos(number).board_fen().split("/")[row]
        if any(seen not in (UNKNOWN, letter) for seen, letter in zip(pattern, theirs, strict=True)):
            continue
        ranks[row] = theirs
        board = FogOfWarBoard(f"{'/'.join(ranks)} {rest}", chess960=True)
        board.castling_rights = board.clean_castling_rights()
        if not board.vision_mask(side) & unknown:
            found.append(fen_of(board))
    if not found:
        raise ValueError("no start of Chess960 fits")
    return tuple(found)
