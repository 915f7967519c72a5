"""What Stockfish is asked about a batch: which positions, which children; and what is not for it.

Also what its centipawns are worth in each of these positions.
"""

from obscuro.board.make import make_move
from obscuro.board.moves import side_to_move
from obscuro.board.position import load
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.material import material_pawns, material_value
from obscuro.evaluation.stockfish import versions as stockfish_versions
from obscuro.evaluation.stockfish.uci_text import write_request
from obscuro.evaluation.stockfish.validity import stockfish_can_take
from obscuro.kernels import kernel

_pawns_per_centipawn = kernel(stockfish_versions.pawns_per_centipawn)


@kernel
def worth_of_centipawns(positions, asked, polynomial, worths):
    """Write what a centipawn is worth, in pawns, in each position of asked int64[n]: float64[n].

    polynomial: of `stockfish_versions.scale_of`.
    """
    for k in range(asked.shape[0]):
        pos = load(positions, asked[k])
        material = material_pawns(pos, 0) + material_pawns(pos, 1)
        worths[k] = _pawns_per_centipawn(polynomial, material)


@kernel
def worth_of_centipawns_after(positions, parents, moves, asked, polynomial, worths):
    """The same after the moves of children asked int64[n], in positions parents int64[n]."""
    for k in range(asked.shape[0]):
        pos = make_move(load(positions, parents[k]), moves[asked[k]])
        material = material_pawns(pos, 0) + material_pawns(pos, 1)
        worths[k] = _pawns_per_centipawn(polynomial, material)


@kernel
def write_lists(tables, positions, forget, out, lists):
    """Write a request for each position that Stockfish can take, and its index into lists int64[n].

    Returns the numbers of bytes and of requests.
    """
    at = 0
    count = 0
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        if stockfish_can_take(tables, pos):
            at = write_request(tables, pos, forget, out, at)
            lists[count] = index
            count += 1
    return at, count


@kernel
def write_singles(
    tables, positions, parents, moves, asked, search_dominated, forget, tau, out, accepted, values
):
    """Write a request for each child of asked int64[n], or value it by material.

    That is what happens to positions that Stockfish can't take, and, unless search_dominated, to
    moves beside the capture of a king. Written: out; accepted int64[n], the children asked about;
    values, of the others. Returns the numbers of bytes and of accepted children.
    """
    at = 0
    count = 0
    for k in range(asked.shape[0]):
        child = asked[k]
        parent = load(positions, parents[k])
        pos = make_move(parent, moves[child])
        side = side_to_move(parent)
        wins_at_once = king_is_attacked(tables, parent, 1 - side)
        if stockfish_can_take(tables, pos) and (search_dominated or not wins_at_once):
            at = write_request(tables, pos, forget, out, at)
            accepted[count] = child
            parents[count] = parents[k]
            count += 1
        else:
            values[child] = material_value(tables, pos, side, tau)
    return at, count
