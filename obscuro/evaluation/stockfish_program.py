"""The installed Stockfish: where it is, and how its versions differ, above all in a centipawn.

Internally Stockfish counts in units. The papers count in pawns of Stockfish 13 and 14, which are
208 units (`PawnValueEg`). Up to version 15, 100 reported centipawns are one such pawn. From 15.1 on
they are the advantage with which Stockfish wins half of its games against itself. That is a
different number of units in each version. From 17 on a polynomial of the material on the board
gives it.

The answer to `uci` states two other differences: the largest MultiPV (500 up to 16, then 256, both
more than any position has moves), and the option `Contempt`, which 13 still has and which we switch
off. The process works around the rest:

- No version checks a position. An invalid one ends the process, makes it answer with an illegal
  move, or makes it hang (issues 3256, 3519, 5071, 6476, 6786). So we never send one: see
  `validity`.
- Some versions read `setoption` while they search. So we send it between searches only.
- We skip `info string` lines about threads, processors and networks.
- From 17 on Stockfish writes each line by itself. Older versions write an answer in one piece.

Sources: `src/uci.cpp` and `src/uci.h` at the tags sf_13 to sf_18, and the pull requests that
changed the scale: 4216 and 4236 (15.1), 5565 (17), 5939 (17.1), 6549 (18).
"""

import os
import re
import shutil
from typing import NamedTuple

DEBIAN_PATH = "/usr/games/stockfish"  # Debian's place for it, often not in PATH
UNITS_PER_PAPER_PAWN = 208
LEAST_MATERIAL, MOST_MATERIAL = 17, 78  # of both sides, in pawns; outside, the scale is constant
MIDDLE_MATERIAL = 58

Polynomial = tuple[float, float, float, float]


class Scale(NamedTuple):
    """The number of units in 100 reported centipawns, from the version `since` on.

    It is a m³ + b m² + c m + d for the polynomial (a, b, c, d). Here m is the material of both
    sides (1, 3, 3, 5, 9), clamped, divided by MIDDLE_MATERIAL.
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
    """Return the version in an engine's `id name`: (15, 1) for `Stockfish 15.1`; None without one.

    Development builds (`Stockfish dev-20240917-d6043970`, `Stockfish 181221`) have no version.
    """
    match = _NAME.match(name)
    return (int(match[1]), int(match[2] or 0)) if match else None


def scale_of(name: str) -> Polynomial:
    """Return the polynomial of `Scale` for an engine's `id name`.

    An unknown version counts as the newest.
    """
    version = parse_version(name) or SCALES[0].since
    return next(scale.polynomial for scale in SCALES if version >= scale.since)


def pawns_per_centipawn(polynomial: Polynomial, material: float) -> float:
    """Return the worth of one reported centipawn in pawns as the papers count them.

    material: of both sides, in pawns (1, 3, 3, 5, 9). The conversion between versions is an
    approximation, because networks differ in the meaning of a unit.
    """
    m = min(max(material, LEAST_MATERIAL), MOST_MATERIAL) / MIDDLE_MATERIAL
    a, b, c, d = polynomial
    return (((a * m + b) * m + c) * m + d) / 100 / UNITS_PER_PAPER_PAWN


def stockfish_path(option: str | None = None) -> str | None:
    """Return the path of Stockfish; None if there is no executable file.

    option: a path, or a name in PATH. Without it the function tries `stockfish` in PATH and then
    Debian's place.
    """
    if option:
        return shutil.which(os.path.expanduser(option))
    return shutil.which("stockfish") or shutil.which(DEBIAN_PATH)
