"""Kernels that compute the worth of Stockfish's centipawns in each position of a batch."""

from obscuro.evaluation.material import material_pawns
from obscuro.evaluation.stockfish import versions as stockfish_versions
from obscuro.kernels import kernel
from obscuro.rules.make import make_move
from obscuro.rules.position import load

_pawns_per_centipawn = kernel(stockfish_versions.pawns_per_centipawn)


@kernel
def worth_of_centipawns(positions, asked, polynomial, worths):
    """Write the worth of a centipawn in pawns in each of n positions.

    positions: uint64[m, 8]. asked: int64[n], indices of positions. polynomial: see
    `versions.scale_of`. Written: worths float64[n].
    """
    for k in range(asked.shape[0]):
        pos = load(positions, asked[k])
        material = material_pawns(pos, 0) + material_pawns(pos, 1)
        worths[k] = _pawns_per_centipawn(polynomial, material)


@kernel
def worth_of_centipawns_after(positions, parents, moves, asked, polynomial, worths):
    """Write the worth of a centipawn in pawns in each of n children.

    positions: uint64[m, 8]. parents: int64[n], indices of the children's parents. moves:
    uint32[children]. asked: int64[n], indices of children. Written: worths float64[n].
    """
    for k in range(asked.shape[0]):
        pos = make_move(load(positions, parents[k]), moves[asked[k]])
        material = material_pawns(pos, 0) + material_pawns(pos, 1)
        worths[k] = _pawns_per_centipawn(polynomial, material)
