"""What Stockfish's centipawns are worth: it has changed them twice.

Inside, Stockfish counts in units; a pawn of Stockfish 13 and 14, which the papers count in, is 208
of them. Up to 15 that is what 100 reported centipawns are. From 15.1 on they are the advantage with
which Stockfish wins half of its games against itself: another number of units in each version, and
from 17 on one that depends on the material.
"""

import re

UNITS_PER_PAPER_PAWN = 208

# From this version on, 100 reported centipawns are so many units.
_UNITS = (
    ((17, 0), 377),  # 370 with all pieces on the board, 391 with few: the middle of it
    ((16, 1), 356),
    ((16, 0), 328),
    ((15, 1), 361),
    ((0, 0), UNITS_PER_PAPER_PAWN),
)
_NAME = re.compile(r"Stockfish (\d{1,2})(?:\.(\d+))?(?![\d-])")


def parse_version(name: str) -> tuple[int, int] | None:
    """The version in an engine's `id name`: (15, 1) of `Stockfish 15.1`. None if it has none.

    Development builds (`Stockfish dev-20240917-d6043970`, `Stockfish 181221`) have none.
    """
    match = _NAME.match(name)
    return (int(match[1]), int(match[2] or 0)) if match else None


def pawns_per_centipawn(name: str) -> float:
    """Pawns, as the papers count them, that one reported centipawn of this engine is worth.

    name: the engine's `id name`. An unknown version counts as the newest. Between versions this is
    no more than an approximation: networks differ in what they give a unit for.
    """
    version = parse_version(name) or _UNITS[0][0]
    units = next(units for since, units in _UNITS if version >= since)
    return units / 100 / UNITS_PER_PAPER_PAWN
