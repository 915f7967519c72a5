"""What a side observes after a ply: the seen squares, what stands there, and en passant.

The text of an observation is that of `position fog` (docs/protocol.md): `<placement>[,<square>]`.
The placement has eight ranks as in a FEN, with `*` or `?` for each unseen square. The square is
where the side can capture en passant now. A `?` in its place says that the referee does not tell
of an en passant capture whose victim the side does not see.

Importing this loads no compiled code. `Observation.of` and `key` load it when they are first
called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Boards = tuple[int, int, int, int, int, int, int]
"""Masks of the pawns, knights, bishops, rooks, queens, kings and white pieces that are seen."""
UNSEEN = "*"
UNTOLD = "?"
"""Stands for the en passant square where the referee shows no pawn only because of it."""
EMPTY = "."
PIECES = "pnbrqk"
"""The letters of the first six of `Boards`, in their order."""
PLANES = ("any", "pawn", "knight", "bishop", "rook", "queen", "king")
"""Rows of a table of one side's pieces by square: a piece of any type, then the types as chess counts."""

_MOST_PIECES = 16
_STRAY = re.compile(r"[^1-8pnbrqkPNBRQK*?]")
_DIGIT = re.compile(r"[1-8]")
_EMPTY_RUN = re.compile(r"[.]+")

WHITE_PIECES = 6
"""Index of the white pieces in `Observation.boards`."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one side observes after a ply. Hashable and comparable.

    seen: mask of the seen squares. boards: pawns, knights, bishops, rooks, queens, kings and white
    pieces, each restricted to `seen`. en_passant: the square where the side can capture en passant
    now, or None. en_passant_told: false if None may also mean a capture of a pawn that the side does
    not see; it may not make this capture then.
    """

    seen: int
    boards: Boards
    en_passant: int | None = None
    en_passant_told: bool = True

    @classmethod
    def on(
        cls,
        board: chess.BaseBoard,
        seen: int,
        en_passant: int | None = None,
        *,
        en_passant_told: bool = True,
    ) -> Observation:
        """Return what a board shows on the squares of the mask `seen`."""
        return cls(
            seen,
            (
                board.pawns & seen,
                board.knights & seen,
                board.bishops & seen,
                board.rooks & seen,
                board.queens & seen,
                board.kings & seen,
                board.occupied_co[chess.WHITE] & seen,
            ),
            en_passant,
            en_passant_told,
        )

    @classmethod
    def of(cls, words: npt.NDArray[np.uint64], side: int) -> Observation:
        """Return what `side` (0 = White) observes in the position uint64[8], by the kernels."""
        from obscuro.rules.tables import TABLES  # noqa: PLC0415 - loads numba
        from obscuro.rules.vision import observation_words  # noqa: PLC0415

        return cls.from_words(observation_words(TABLES, tuple(words), side))

    @classmethod
    def from_words(cls, words: tuple[int, ...] | npt.NDArray[np.uint64]) -> Observation:
        """Return the observation with these words, uint64[9]; see `observation_words`."""
        seen, p, n, b, r, q, k, white, en_passant = (int(w) for w in words)
        return cls(seen, (p, n, b, r, q, k, white), en_passant or None)

    @classmethod
    def parse(cls, text: str) -> Observation:
        """Read the protocol's text form: `<placement>[,<ep>]`, `*` or `?` for an unseen square.

        <ep> may be `?`, see `UNTOLD`.

        Raises ValueError, with what is wrong, if the text is not an observation.
        """
        return cls(*_read(text))

    def text(self) -> str:
        """Return the protocol's text form; the inverse of `parse`."""
        placement = _write(self.seen, self.boards)
        if self.en_passant is not None:
            return f"{placement},{chess.square_name(self.en_passant)}"
        return placement if self.en_passant_told else f"{placement},{UNTOLD}"

    def symbols(self) -> list[str]:
        """Return one character for each square, a1 first.

        It is `*` where the square is not seen, `.` where it is empty, else the letter as in a FEN.
        """
        return _symbols(self.seen, self.boards)

    def board(self) -> chess.BaseBoard:
        """Return the pieces seen, on a board of their own."""
        board = chess.BaseBoard.empty()
        white = self.boards[WHITE_PIECES]
        for piece_type, mask in zip(chess.PIECE_TYPES, self.boards, strict=False):
            for square in chess.scan_forward(mask):
                board.set_piece_at(square, chess.Piece(piece_type, bool(white >> square & 1)))
        return board

    def words(self) -> npt.NDArray[np.uint64]:
        """Return the 9 words for kernels: uint64[9]."""
        import numpy as np  # noqa: PLC0415 - the protocol's front end does without

        return np.array([self.seen, *self.boards, self.en_passant or 0], dtype=np.uint64)

    def key(self) -> int:
        """Return the hash that information keys are chained with (`hash_words`)."""
        from obscuro.rules.vision import hash_words  # noqa: PLC0415 - loads numba

        return int(hash_words(tuple(self.words())))

    def pieces(self, side: int) -> int:
        """Return the squares of the seen pieces of `side` (0 = White), as a mask."""
        occupied = 0
        for board in self.boards[:WHITE_PIECES]:
            occupied |= board
        white = self.boards[WHITE_PIECES]
        return occupied & (white if side == 0 else ~white)


def _read(text: str) -> tuple[int, Boards, int | None, bool]:
    """Return the mask of seen squares, the boards, the en passant square or None, and `told`.

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
    if name in ("", "-", UNTOLD):
        return seen, boards, None, name != UNTOLD
    if name not in chess.SQUARE_NAMES:
        raise ValueError(f"no such en passant square: {name!r}")
    return seen, boards, chess.parse_square(name), True


def _write(seen: int, boards: Boards) -> str:
    """Return the one canonical text of a placement; `_read` is the inverse."""
    found = _symbols(seen, boards)
    rows = ("".join(found[rank * 8 : rank * 8 + 8]) for rank in reversed(range(8)))
    return "/".join(_EMPTY_RUN.sub(lambda run: str(len(run[0])), row) for row in rows)


def _symbols(seen: int, boards: Boards) -> list[str]:
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
