"""How Stockfish's versions differ, as far as it matters here: above all what a centipawn is.

Inside, Stockfish counts in units; a pawn of Stockfish 13 and 14, which the papers count in, is 208
of them (`PawnValueEg`). Up to 15 that is what 100 reported centipawns are. From 15.1 on they are the
advantage with which Stockfish wins half of its games against itself: another number of units in each
version, and from 17 on one that depends on the material on the board, by a polynomial.

What else differs is either read from the answer to `uci` (the largest MultiPV: 500 up to 16, then
256, which is more than any position has moves; `Contempt`, which 13 still has and which is switched
off), or avoided:

- No version checks a position. One that is none ends the process, makes it answer with an illegal
  move, or hang (issues 3256, 3519, 5071, 6476, 6786); so none is sent: see `validity`.
- Some versions read `setoption` while they search; it is sent between searches only.
- What is said about threads, processors and networks in `info string` lines is skipped.
- From 17 on each line is written by itself, where others write an answer in one piece.

Sources: `src/uci.cpp` and `src/uci.h` at the tags sf_13 to sf_18, and the pull requests that changed
the scale: 4216 and 4236 (15.1), 5565 (17), 5939 (17.1), 6549 (18).
"""

import re
from typing import NamedTuple

UNITS_PER_PAPER_PAWN = 208
LEAST_MATERIAL, MOST_MATERIAL = 17, 78  # of both sides, in pawns; beyond, the scale stays the same
MIDDLE_MATERIAL = 58

Polynomial = tuple[float, float, float, float]


class Scale(NamedTuple):
    """What 100 reported centipawns are in units, from a version on.

    With so much material m (1, 3, 3, 5, 9), clamped, in units of MIDDLE_MATERIAL:
    a m³ + b m² + c m + d for the polynomial (a, b, c, d).
    """

    since: tuple[int, int]
    polynomial: Polynomial


SCALES = (
    Scale((18, 0), (-72.32565836, 185.93832038, -144.58862193, 416.44950446)),
    Scale((17, 1), (-13.50030198, 40.92780883, -36.82753545, 386.83004070)),
    Scale((17, 0), (-37.45051876, 121.19101539, -132.78783573, 420.70576692)),
    Scale((16, 1), (0.0, 0.0, 0.0, 356.0)),
    Scale((16, 0), (0.0, 0.0, 0.0, 328.0)),
    Scale((15, 1), (0.0, 0.0, 0.0, 361.0)),
    Scale((0, 0), (0.0, 0.0, 0.0, float(UNITS_PER_PAPER_PAWN))),
)

_NAME = re.compile(r"Stockfish (\d{1,2})(?:\.(\d+))?(?![\d-])")


def parse_version(name: str) -> tuple[int, int] | None:
    """The version in an engine's `id name`: (15, 1) of `Stockfish 15.1`. None if it has none.

    Development builds (`Stockfish dev-20240917-d6043970`, `Stockfish 181221`) have none.
    """
    match = _NAME.match(name)
    return (int(match[1]), int(match[2] or 0)) if match else None


def scale_of(name: str) -> Polynomial:
    """The polynomial of `Scale` for an engine by its `id name`. An unknown version counts as the newest."""
    version = parse_version(name) or SCALES[0].since
    return next(scale.polynomial for scale in SCALES if version >= scale.since)


def pawns_per_centipawn(polynomial: Polynomial, material: float) -> float:
    """Pawns, as the papers count them, that one reported centipawn is worth.

    material: of both sides, in pawns (1, 3, 3, 5, 9). Between versions this is no more than an
    approximation: networks differ in what they give a unit for.
    """
    m = min(max(material, LEAST_MATERIAL), MOST_MATERIAL) / MIDDLE_MATERIAL
    a, b, c, d = polynomial
    return (((a * m + b) * m + c) * m + d) / 100 / UNITS_PER_PAPER_PAWN
