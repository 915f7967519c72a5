"""Read and write the text of an observation. No other module does.

The language is that of `position fog` (docs/protocol.md): `<placement>[,<square>]`. The placement
has eight ranks as in a FEN, with `*` or `?` for each unseen square. The square is where the side
can capture en passant now. Importing this module loads no compiled code.
"""

import re

import chess

Boards = tuple[int, int, int, int, int, int, int]
"""Masks of the pawns, knights, bishops, rooks, queens, kings and white pieces that are seen."""
UNSEEN = "*"
EMPTY = "."
PIECES = "pnbrqk"
"""The letters of the first six of `Boards`, in their order."""

_MOST_PIECES = 16
_STRAY = re.compile(r"[^1-8pnbrqkPNBRQK*?]")
_DIGIT = re.compile(r"[1-8]")
_EMPTY_RUN = re.compile(r"[.]+")


def read(text: str) -> tuple[int, Boards, int | None]:
    """Return the mask of seen squares, the boards, and the en passant square or None.

    Raises ValueError with one line for the user if the text is no observation, or shows what no
    board can: a pawn on a back rank, two kings of a side, more than 16 pieces of a side. Whether it
    fits the game is for the belief to say.
    """
    placement, _, name = text.partition(",")
    rows = placement.split("/")
    if len(rows) != 8:
        raise ValueError(f"an observation has 8 ranks, this has {len(rows)}: {text!r}")
    cells = "".join(_cells(row, 8 - index, text) for index, row in enumerate(rows))
    seen = white = 0
    masks = dict.fromkeys(PIECES, 0)
    for index, cell in enumerate(cells):  # from a8 to h8, then from a7 to h7
        bit = 1 << (index ^ 56)
        if cell != UNSEEN:
            seen |= bit
        if cell.isalpha():
            masks[cell.lower()] |= bit
        if cell.isupper():
            white |= bit
    p, n, b, r, q, k = masks.values()
    boards = (p, n, b, r, q, k, white)
    if wrong := _impossible(boards):
        raise ValueError(f"{wrong}: {text!r}")
    if name in ("", "-"):
        return seen, boards, None
    if name not in chess.SQUARE_NAMES:
        raise ValueError(f"no such en passant square: {name!r}")
    return seen, boards, chess.parse_square(name)


def write(seen: int, boards: Boards, en_passant: int | None) -> str:
    """Return the one canonical text of an observation; `read` is the inverse."""
    found = symbols(seen, boards)
    rows = ("".join(found[rank * 8 : rank * 8 + 8]) for rank in reversed(range(8)))
    placement = "/".join(_EMPTY_RUN.sub(lambda run: str(len(run[0])), row) for row in rows)
    return placement if en_passant is None else f"{placement},{chess.square_name(en_passant)}"


def symbols(seen: int, boards: Boards) -> list[str]:
    """Return one character for each square, a1 first: `*` not seen, `.` empty, else the piece."""
    found = [UNSEEN] * 64
    for square in chess.scan_forward(seen):
        found[square] = EMPTY
    *pieces, white = boards
    for mask, letter in zip(pieces, PIECES, strict=True):
        for square in chess.scan_forward(mask):
            found[square] = letter.upper() if white >> square & 1 else letter
    return found


def _cells(row: str, rank: int, text: str) -> str:
    """Return the eight symbols of a rank. Raises ValueError."""
    stray = _STRAY.search(row)
    if stray is not None:
        raise ValueError(f"rank {rank} has {stray[0]!r}, which no observation has: {text!r}")
    cells = _DIGIT.sub(lambda digit: EMPTY * int(digit[0]), row.replace("?", UNSEEN))
    if len(cells) != 8:
        raise ValueError(f"rank {rank} has {len(cells)} squares, not 8: {text!r}")
    return cells


def _impossible(boards: Boards) -> str:
    """Say what of these pieces no board can show; empty if nothing."""
    *pieces, white = boards
    if pieces[0] & chess.BB_BACKRANKS:
        return "there is a pawn on a back rank"
    occupied = sum(pieces)
    for color, own in ((chess.WHITE, white), (chess.BLACK, occupied & ~white)):
        if chess.popcount(own & pieces[-1]) > 1:
            return f"{chess.COLOR_NAMES[color]} has more than one king"
        if chess.popcount(own) > _MOST_PIECES:
            return f"{chess.COLOR_NAMES[color]} has more than {_MOST_PIECES} pieces"
    return ""
