"""Attack tables, built once per process and passed to every kernel as the record `TABLES`.

Kernels never read them as globals: numba would copy a global array into each cached kernel.
Squares are numbered as in python-chess, a1 = 0 … h8 = 63; colour 0 is White.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.board.records import record_of

Words = npt.NDArray[np.uint64]

SLIDER_TABLE_SIZE = 107_648  # 5,248 bishop and 102,400 rook entries


class Tables(NamedTuple):
    """Everything that move generation looks up: the fields of the record."""

    knight: Words  # [64] squares a knight attacks
    king: Words  # [64]
    pawn: Words  # [2, 64] squares a pawn of colour c attacks from s
    bishop_mask: Words  # [64] relevant blockers, without the board's edge
    rook_mask: Words  # [64]
    bishop_offset: Words  # [64] start of the square's block in `slider`
    rook_offset: Words  # [64]
    slider: Words  # [SLIDER_TABLE_SIZE] attacks by offset + pext(occupied, mask)
    diagonal: Words  # [64] whole lines through s, without s (fallback without PEXT)
    antidiagonal: Words  # [64]
    file: Words  # [64]
    rank_attacks: Words  # [64, 8] by the six inner bits of the rank, and the file


BISHOP_STEPS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
ROOK_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
KNIGHT_STEPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))
KING_STEPS = BISHOP_STEPS + ROOK_STEPS
PAWN_STEPS = (((1, 1), (-1, 1)), ((1, -1), (-1, -1)))


def ray_attacks(
    square: int, steps: tuple[tuple[int, int], ...], slide: bool, occupied: int = 0
) -> int:
    """Squares reached from `square` by `steps` (file, rank); sliding ones stop at a blocker.

    The plain definition that the tables are built from and that tests compare kernels with.
    """
    attacked = 0
    for file_step, rank_step in steps:
        file, rank = square % 8 + file_step, square // 8 + rank_step
        while 0 <= file < 8 and 0 <= rank < 8:
            bit = 1 << (rank * 8 + file)
            attacked |= bit
            if not slide or occupied & bit:
                break
            file += file_step
            rank += rank_step
    return attacked


def _relevant_blockers(square: int, steps: tuple[tuple[int, int], ...]) -> int:
    """Squares whose occupation can shorten the piece's reach: each ray without its last square."""
    blockers = 0
    for file_step, rank_step in steps:
        file, rank = square % 8 + file_step, square // 8 + rank_step
        while 0 <= file + file_step < 8 and 0 <= rank + rank_step < 8:
            blockers |= 1 << (rank * 8 + file)
            file += file_step
            rank += rank_step
    return blockers


@njit(nogil=True, cache=True)
def _fill_sliders(masks, offsets, steps, slider):
    """Write the attacks of one sliding piece for every square and blocker set.

    masks, offsets: uint64[64]; steps: int64[4, 2]; slider: uint64[SLIDER_TABLE_SIZE], written.
    Blocker sets are enumerated in the order of their PEXT index.
    """
    one = np.uint64(1)
    for square in range(64):
        mask = masks[square]
        index = offsets[square]
        blockers = np.uint64(0)
        while True:
            attacked = np.uint64(0)
            for k in range(4):
                file = square % 8 + steps[k, 0]
                rank = square // 8 + steps[k, 1]
                while 0 <= file < 8 and 0 <= rank < 8:
                    bit = one << np.uint64(rank * 8 + file)
                    attacked |= bit
                    if blockers & bit:
                        break
                    file += steps[k, 0]
                    rank += steps[k, 1]
            slider[index] = attacked
            index += one
            blockers = (blockers - mask) & mask
            if blockers == 0:
                break


def _words(values: list[int]) -> Words:
    return np.array(values, dtype=np.uint64)


def _offsets(masks: Words, start: int) -> Words:
    sizes = [1 << int(mask).bit_count() for mask in masks]
    return _words([start + sum(sizes[:square]) for square in range(64)])


def build_tables() -> Tables:
    """Compute all tables (a few ms once its kernel is compiled)."""
    squares = range(64)
    bishop_mask = _words([_relevant_blockers(s, BISHOP_STEPS) for s in squares])
    rook_mask = _words([_relevant_blockers(s, ROOK_STEPS) for s in squares])
    bishop_offset = _offsets(bishop_mask, 0)
    rook_offset = _offsets(rook_mask, sum(1 << int(m).bit_count() for m in bishop_mask))
    slider = np.zeros(SLIDER_TABLE_SIZE, dtype=np.uint64)
    _fill_sliders(bishop_mask, bishop_offset, np.array(BISHOP_STEPS, dtype=np.int64), slider)
    _fill_sliders(rook_mask, rook_offset, np.array(ROOK_STEPS, dtype=np.int64), slider)
    rank_steps = ((1, 0), (-1, 0))
    rank_attacks = [
        [ray_attacks(file, rank_steps, True, inner << 1) & 0xFF for file in range(8)]
        for inner in range(64)
    ]
    return Tables(
        knight=_words([ray_attacks(s, KNIGHT_STEPS, False) for s in squares]),
        king=_words([ray_attacks(s, KING_STEPS, False) for s in squares]),
        pawn=np.array(
            [[ray_attacks(s, PAWN_STEPS[colour], False) for s in squares] for colour in (0, 1)],
            dtype=np.uint64,
        ),
        bishop_mask=bishop_mask,
        rook_mask=rook_mask,
        bishop_offset=bishop_offset,
        rook_offset=rook_offset,
        slider=slider,
        diagonal=_words([ray_attacks(s, ((1, 1), (-1, -1)), True) for s in squares]),
        antidiagonal=_words([ray_attacks(s, ((1, -1), (-1, 1)), True) for s in squares]),
        file=_words([ray_attacks(s, ((0, 1), (0, -1)), True) for s in squares]),
        rank_attacks=np.array(rank_attacks, dtype=np.uint64),
    )


TABLES: Any = record_of(build_tables()._asdict())
