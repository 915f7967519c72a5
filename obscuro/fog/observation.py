"""What a side observes after a ply: the seen squares, what stands there, and en passant.

In kernels an observation is 9 `uint64` words: the mask of seen squares, the seven piece boards
(pawns … kings, white pieces) restricted to it, and the square where the side can capture en passant
(0 = none). `Observation` is the same for Python, with the text form of the protocol.
"""

from dataclasses import dataclass

import chess
import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.board.bits import folded_product
from obscuro.board.layout import ONE, WHITE
from obscuro.board.tables import TABLES
from obscuro.fog.vision import capturable_en_passant, vision

OBSERVATION_WORDS = 9
SEEN = 0
EN_PASSANT_WORD = 8

_UNSEEN = "*?"
# The binary digits of π, after those of the hash of positions.
_K0 = np.uint64(0x9216D5D98979FB1B)
_K1 = np.uint64(0xD1310BA698DFB5AC)
_K2 = np.uint64(0x2FFD72DBD01ADFB7)
_K3 = np.uint64(0xB8E1AFED6A267E96)
_K4 = np.uint64(0xBA7C9045F12C7F99)
_K5 = np.uint64(0x24A19947B3916CF7)
_K6 = np.uint64(0x0801F2E2858EFC16)
_K7 = np.uint64(0x636920D871574E69)
_K8 = np.uint64(0xA458FEA3F4933D7F)


@njit(nogil=True, cache=True)
def observation_words(tables, pos, side):
    """What `side` observes in `pos`, as a tuple of 9 uint64 words (see the module)."""
    seen = vision(tables, pos, side)
    return (
        seen,
        pos[0] & seen,
        pos[1] & seen,
        pos[2] & seen,
        pos[3] & seen,
        pos[4] & seen,
        pos[5] & seen,
        pos[6] & seen,
        capturable_en_passant(tables, pos, side),
    )


@njit(nogil=True, cache=True)
def hash_words(words):
    """A 64-bit hash of an observation's 9 words, never 0; made as `position_hash` is."""
    h = folded_product(words[0] ^ _K0, words[1] ^ _K1)
    h ^= folded_product(words[2] ^ _K2, words[3] ^ _K3)
    h ^= folded_product(words[4] ^ _K4, words[5] ^ _K5)
    h ^= folded_product(words[6] ^ _K6, words[7] ^ _K7)
    h = folded_product(h ^ words[EN_PASSANT_WORD], _K8)
    return h if h else ONE


@njit(nogil=True, cache=True)
def observation_hash(tables, pos, side):
    """`hash_words` of what `side` observes in `pos`."""
    return hash_words(observation_words(tables, pos, side))


@dataclass(frozen=True, slots=True)
class Observation:
    """What one side observes after a ply. Hashable and comparable.

    seen: mask of the seen squares. boards: pawns, knights, bishops, rooks, queens, kings and white
    pieces, each restricted to `seen`. en_passant: the square where the side can capture en passant
    now, or None.
    """

    seen: int
    boards: tuple[int, int, int, int, int, int, int]
    en_passant: int | None = None

    @classmethod
    def of(cls, words: npt.NDArray[np.uint64], side: int) -> "Observation":
        """What `side` (0 = White) observes in the position uint64[8]."""
        return cls.from_words(observation_words(TABLES, tuple(words), side))

    @classmethod
    def from_words(cls, words: tuple[int, ...] | npt.NDArray[np.uint64]) -> "Observation":
        """The observation with these 9 words."""
        seen, p, n, b, r, q, k, white, en_passant = (int(w) for w in words)
        return cls(seen, (p, n, b, r, q, k, white), en_passant or None)

    @classmethod
    def parse(cls, text: str) -> "Observation":
        """Read the protocol's text form: `<placement>[,<ep>]`, `*` or `?` for an unseen square.

        Raises ValueError, with what is wrong, if the text is not an observation.
        """
        placement, _, en_passant_name = text.partition(",")
        boards = [0] * 7
        seen = 0
        ranks = placement.split("/")
        if len(ranks) != 8:
            raise ValueError(f"an observation has 8 ranks, this has {len(ranks)}: {text!r}")
        for rank, row in zip(range(7, -1, -1), ranks, strict=True):
            file = 0
            for character in row:
                if character in "12345678":
                    width = int(character)
                    if file + width <= 8:
                        seen |= ((1 << width) - 1) << (rank * 8 + file)
                elif character in _UNSEEN:
                    width = 1
                elif character in "pnbrqkPNBRQK":
                    width = 1
                    if file < 8:
                        bit = 1 << (rank * 8 + file)
                        seen |= bit
                        boards["pnbrqk".index(character.lower())] |= bit
                        if character.isupper():
                            boards[WHITE] |= bit
                else:
                    raise ValueError(f"an observation has no character {character!r}: {text!r}")
                file += width
            if file != 8:
                raise ValueError(f"rank {rank + 1} has {file} squares, not 8: {text!r}")
        en_passant = None
        if en_passant_name and en_passant_name != "-":
            if en_passant_name not in chess.SQUARE_NAMES:
                raise ValueError(f"no such en passant square: {en_passant_name!r}")
            en_passant = chess.SQUARE_NAMES.index(en_passant_name)
        p, n, b, r, q, k, white = boards
        return cls(seen, (p, n, b, r, q, k, white), en_passant)

    def text(self) -> str:
        """The protocol's text form; the inverse of `parse`."""
        ranks = []
        for rank in range(7, -1, -1):
            row, empty = "", 0
            for square in range(rank * 8, rank * 8 + 8):
                symbol = self.symbol_at(square)
                if symbol == ".":
                    empty += 1
                    continue
                row += (str(empty) if empty else "") + symbol
                empty = 0
            ranks.append(row + (str(empty) if empty else ""))
        suffix = f",{chess.SQUARE_NAMES[self.en_passant]}" if self.en_passant is not None else ""
        return "/".join(ranks) + suffix

    def symbol_at(self, square: int) -> str:
        """`*` where the square is not seen, `.` where it is empty, else the piece as in a FEN."""
        bit = 1 << square
        if not self.seen & bit:
            return "*"
        for board, symbol in zip(self.boards, "pnbrqk", strict=False):
            if board & bit:
                return symbol.upper() if self.boards[WHITE] & bit else symbol
        return "."

    def words(self) -> npt.NDArray[np.uint64]:
        """The 9 words for kernels: uint64[9]."""
        return np.array([self.seen, *self.boards, self.en_passant or 0], dtype=np.uint64)

    def key(self) -> int:
        """The hash that information keys are chained with (`hash_words`)."""
        return int(hash_words(tuple(self.words())))

    def pieces(self, side: int) -> int:
        """Squares of the seen pieces of `side` (0 = White), as a mask."""
        occupied = 0
        for board in self.boards[:WHITE]:
            occupied |= board
        return occupied & (self.boards[WHITE] if side == 0 else ~self.boards[WHITE])
