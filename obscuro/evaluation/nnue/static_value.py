"""What a position is worth as it stands: the network's value on the scale of Stockfish's searches.

Stockfish's searches don't take its network's value as it is. They trust it more the more pieces are
left, and where one side's material decides they don't ask it: there it is not much good, and may
call a queen up 600 units. What is left of it then is mostly its part that counts pieces. The
numbers here are fitted to what Stockfish 15.1 says at the end of `eval`, for 3,119 positions that
searches ask about or that lie beside recorded games (`tools/record/fit_nnue_scale.py`): as values, in
tanh(units / 1,248), they are off by 0.012 where the network counts, by 0.04 where it does not.
"""

from obscuro.board.bits import popcount
from obscuro.board.layout import BISHOPS, KNIGHTS, QUEENS, ROOKS
from obscuro.board.moves import side_to_move
from obscuro.evaluation.nnue.layers import (
    OUTPUT_SCALE,
    bucket_of,
    material_part,
    positional_part,
    toward_zero,
)
from obscuro.evaluation.nnue.see import BISHOP_UNITS, KNIGHT_UNITS, QUEEN_UNITS, ROOK_UNITS
from obscuro.kernels import kernel

# In 1,024ths: what the network's value is multiplied with, without pieces and with all of them.
_ONE = 1024
BARE_SCALE = 967
PIECES_SCALE = 331
ALL_PIECES = 2 * (2 * (KNIGHT_UNITS + BISHOP_UNITS + ROOK_UNITS) + QUEEN_UNITS)

DECISIVE = 1600  # units of material from which on little else counts
DECISIVE_UNITS = 400  # for the side that has it, whatever it is
DECISIVE_SCALE = 717
DECISIVE_POSITIONAL_SCALE = 102


@kernel
def pieces_units(pos):
    """The pieces of both sides without pawns, in Stockfish's units."""
    return (
        KNIGHT_UNITS * popcount(pos[KNIGHTS])
        + BISHOP_UNITS * popcount(pos[BISHOPS])
        + ROOK_UNITS * popcount(pos[ROOKS])
        + QUEEN_UNITS * popcount(pos[QUEENS])
    )


@kernel
def static_value(weights, work, frame, pos):
    """The value of a position to its side to move, in Stockfish's internal units.

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
