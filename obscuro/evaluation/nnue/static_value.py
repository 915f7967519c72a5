"""The static value of a position: the network's value on the scale of Stockfish's searches.

Stockfish's searches scale the network's value. The weight of the network rises with the number of
pieces. If one side's material decides the game, Stockfish does not use the network, because it is
inaccurate there: it may value an extra queen at 600 units. In that case this module uses mostly the
network's part that counts pieces.

The constants are fitted to the final evaluation of Stockfish 15.1's command `eval`, on 3,119
positions from searches and from the neighbourhood of recorded games
(a tool of commit 103dea8). The mean error of tanh(units / 1,248) is 0.012 where Stockfish
uses the network, and 0.04 elsewhere.
"""

from obscuro.evaluation.nnue.layers import (
    OUTPUT_SCALE,
    bucket_of,
    material_part,
    positional_part,
    toward_zero,
)
from obscuro.evaluation.nnue.see import BISHOP_UNITS, KNIGHT_UNITS, QUEEN_UNITS, ROOK_UNITS
from obscuro.kernels import kernel
from obscuro.rules.bits import popcount
from obscuro.rules.layout import BISHOPS, KNIGHTS, QUEENS, ROOKS
from obscuro.rules.moves import side_to_move

# The factor of the network's value in 1,024ths: without pieces, and its increase with all pieces.
_ONE = 1024
BARE_SCALE = 967
PIECES_SCALE = 331
ALL_PIECES = 2 * (2 * (KNIGHT_UNITS + BISHOP_UNITS + ROOK_UNITS) + QUEEN_UNITS)

DECISIVE = 1600  # from so many units of material on, little else counts
DECISIVE_UNITS = 400  # a bonus for the side with that material
DECISIVE_SCALE = 717
DECISIVE_POSITIONAL_SCALE = 102


@kernel
def pieces_units(pos):
    """Return the worth of both sides' pieces without pawns, in Stockfish's units."""
    return (
        KNIGHT_UNITS * popcount(pos[KNIGHTS])
        + BISHOP_UNITS * popcount(pos[BISHOPS])
        + ROOK_UNITS * popcount(pos[ROOKS])
        + QUEEN_UNITS * popcount(pos[QUEENS])
    )


@kernel
def static_value(weights, work, frame, pos):
    """Return a position's value in the view of the side to move, in Stockfish's internal units.

    The frame must hold the sums of `pos`.
    """
    own = side_to_move(pos)
    bucket = bucket_of(pos)
    material = material_part(work, frame, own, bucket)
    positional = positional_part(weights, work, frame, own, bucket)
    if abs(material) >= DECISIVE * OUTPUT_SCALE:
        parts = material * DECISIVE_SCALE + positional * DECISIVE_POSITIONAL_SCALE
        certain = DECISIVE_UNITS * _ONE * OUTPUT_SCALE
        parts += certain if material > 0 else -certain
    else:
        scale = BARE_SCALE + PIECES_SCALE * pieces_units(pos) // ALL_PIECES
        parts = (material + positional) * scale
    return toward_zero(parts, _ONE * OUTPUT_SCALE)
