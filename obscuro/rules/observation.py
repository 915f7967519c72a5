"""What a side observes after a ply: the seen squares, what stands there, and en passant.

Importing this loads no compiled code. `Observation.of` and `key` load it when they are first
called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess

from obscuro.rules import text as observation_text
from obscuro.rules.text import Boards

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WHITE_PIECES = 6
"""Index of the white pieces in `Observation.boards`."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one side observes after a ply. Hashable and comparable.

    seen: mask of the seen squares. boards: pawns, knights, bishops, rooks, queens, kings and white
    pieces, each restricted to `seen`. en_passant: the square where the side can capture en passant
    now, or None.
    """

    seen: int
    boards: Boards
    en_passant: int | None = None

    @classmethod
    def on(cls, board: chess.BaseBoard, seen: int, en_passant: int | None = None) -> Observation:
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
        )

    @classmethod
    def of(cls, words: npt.NDArray[np.uint64], side: int) -> Observation:
        """Return what `side` (0 = White) observes in the position uint64[8], by the kernels."""
        from obscuro.rules.observation_words import observation_words  # noqa: PLC0415
        from obscuro.rules.tables import TABLES  # noqa: PLC0415 - loads numba

        return cls.from_words(observation_words(TABLES, tuple(words), side))

    @classmethod
    def from_words(cls, words: tuple[int, ...] | npt.NDArray[np.uint64]) -> Observation:
        """Return the observation with these words, uint64[9]; see `observation_words`."""
        seen, p, n, b, r, q, k, white, en_passant = (int(w) for w in words)
        return cls(seen, (p, n, b, r, q, k, white), en_passant or None)

    @classmethod
    def parse(cls, text: str) -> Observation:
        """Read the protocol's text form: `<placement>[,<ep>]`, `*` or `?` for an unseen square.

        Raises ValueError, with what is wrong, if the text is not an observation.
        """
        return cls(*observation_text.read(text))

    def text(self) -> str:
        """Return the protocol's text form; the inverse of `parse`."""
        return observation_text.write(self.seen, self.boards, self.en_passant)

    def symbols(self) -> list[str]:
        """Return one character for each square, a1 first.

        It is `*` where the square is not seen, `.` where it is empty, else the letter as in a FEN.
        """
        return observation_text.symbols(self.seen, self.boards)

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
        from obscuro.rules.observation_words import hash_words  # noqa: PLC0415 - loads numba

        return int(hash_words(tuple(self.words())))

    def pieces(self, side: int) -> int:
        """Return the squares of the seen pieces of `side` (0 = White), as a mask."""
        occupied = 0
        for board in self.boards[:WHITE_PIECES]:
            occupied |= board
        white = self.boards[WHITE_PIECES]
        return occupied & (white if side == 0 else ~white)
