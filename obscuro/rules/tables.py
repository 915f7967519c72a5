"""Attack tables and what sliding pieces attack.

The tables are built once per process and passed to every kernel as the record `TABLES`.

Kernels never read them as globals, since numba would copy a global array into each cached kernel.
Squares are numbered as in python-chess, a1 = 0 … h8 = 63; colour 0 is White.

`bishop_attacks` and `rook_attacks` work by PEXT where the machine has it, else by subtraction of
blockers; the import of this module chooses the way. Both ways are public so that tests can compare
them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.rules.bits import HAS_FAST_PEXT, byteswap, pext
from obscuro.rules.records import record_of

Words = npt.NDArray[np.uint64]


class Tables(NamedTuple):
    """Everything that move generation looks up: the fields of the record."""

    knight: Words  # [64] squares a knight attacks
    king: Words  # [64]
    pawn: Words  # [2, 64] squares a pawn of colour c attacks from s
    bishop_mask: Words  # [64] relevant blockers, without the board's edge
    rook_mask: Words  # [64]
    bishop_offset: Words  # [64] start of the square's block in `slider`
    rook_offset: Words  # [64]
    slider: Words  # [107 648] attacks by offset + pext(occupied, mask), bishop then rook
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

    This is the plain definition: the tables are built from it, and tests compare kernels with it.
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


def _slider_attacks(square: int, steps: tuple[tuple[int, int], ...], mask: int) -> Words:
    """Return the attacks of a sliding piece for all sets of blockers under its mask, by PEXT index.

    No kernel does this: it runs at import, when nothing should be compiled.
    """
    bit_of = {blocker: index for index, blocker in enumerate(_squares(mask))}
    index = np.arange(1 << len(bit_of), dtype=np.int64)
    attacked = np.zeros(len(index), dtype=np.uint64)
    for step in steps:
        ray = ray_attacks(square, (step,), True)
        outwards = _squares(ray) if step[0] + 8 * step[1] > 0 else _squares(ray)[::-1]
        reached = np.full(len(index), ray, dtype=np.uint64)
        for blocker in outwards[-2::-1]:  # from the outside in, as the nearest one decides
            blocked = (index >> bit_of[blocker]) & 1 != 0
            reached[blocked] = ray_attacks(square, (step,), True, 1 << blocker)
        attacked |= reached
    return attacked


def _squares(board: int) -> list[int]:
    return [square for square in range(64) if board >> square & 1]


def _words(values: list[int]) -> Words:
    return np.array(values, dtype=np.uint64)


def _offsets(masks: Words, start: int) -> Words:
    sizes = [1 << int(mask).bit_count() for mask in masks]
    return _words([start + sum(sizes[:square]) for square in range(64)])


def build_tables() -> Tables:
    """Compute all tables, which takes some 20 ms."""
    squares = range(64)
    bishop_mask = _words([_relevant_blockers(s, BISHOP_STEPS) for s in squares])
    rook_mask = _words([_relevant_blockers(s, ROOK_STEPS) for s in squares])
    bishop_offset = _offsets(bishop_mask, 0)
    rook_offset = _offsets(rook_mask, sum(1 << int(m).bit_count() for m in bishop_mask))
    bishop = [_slider_attacks(s, BISHOP_STEPS, int(bishop_mask[s])) for s in squares]
    rook = [_slider_attacks(s, ROOK_STEPS, int(rook_mask[s])) for s in squares]
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
        slider=np.concatenate(bishop + rook),
        diagonal=_words([ray_attacks(s, ((1, 1), (-1, -1)), True) for s in squares]),
        antidiagonal=_words([ray_attacks(s, ((1, -1), (-1, 1)), True) for s in squares]),
        file=_words([ray_attacks(s, ((0, 1), (0, -1)), True) for s in squares]),
        rank_attacks=np.array(rank_attacks, dtype=np.uint64),
    )


TABLES: Any = record_of(build_tables()._asdict())


@kernel
def bishop_attacks_by_pext(tables, square, occupied):
    """Squares a bishop on `square` attacks, as uint64; `occupied` is all pieces."""
    return tables.slider[tables.bishop_offset[square] + pext(occupied, tables.bishop_mask[square])]


@kernel
def rook_attacks_by_pext(tables, square, occupied):
    """Squares a rook on `square` attacks, as uint64; `occupied` is all pieces."""
    return tables.slider[tables.rook_offset[square] + pext(occupied, tables.rook_mask[square])]


@kernel
def _line_attacks(square, occupied, line):
    """Attacks along one line that is not a rank (hyperbola quintessence: o ^ (o - 2r))."""
    piece = np.uint64(1) << np.uint64(square)
    blockers = occupied & line
    forward = blockers - piece
    backward = byteswap(byteswap(blockers) - byteswap(piece))
    return (forward ^ backward) & line


@kernel
def bishop_attacks_by_lines(tables, square, occupied):
    """As `bishop_attacks_by_pext`, without PEXT."""
    return _line_attacks(square, occupied, tables.diagonal[square]) | _line_attacks(
        square, occupied, tables.antidiagonal[square]
    )


@kernel
def rook_attacks_by_lines(tables, square, occupied):
    """As `rook_attacks_by_pext`, without PEXT."""
    shift = np.uint64(square & 56)
    inner = (occupied >> (shift + np.uint64(1))) & np.uint64(63)
    along_rank = tables.rank_attacks[inner, square & 7] << shift
    return along_rank | _line_attacks(square, occupied, tables.file[square])


bishop_attacks = bishop_attacks_by_pext if HAS_FAST_PEXT else bishop_attacks_by_lines
rook_attacks = rook_attacks_by_pext if HAS_FAST_PEXT else rook_attacks_by_lines
