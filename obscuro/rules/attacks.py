"""What sliding pieces attack: by PEXT where the machine has it, else by subtraction of blockers.

Call `bishop_attacks(tables, square, occupied)` and `rook_attacks`; the import of this module
chooses the way. Both ways are public so that tests can compare them.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import HAS_FAST_PEXT, byteswap, pext


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
