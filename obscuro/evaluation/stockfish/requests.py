"""Write the requests to Stockfish for a batch: lists of moves, and single children.

Material values the children that Stockfish cannot search.
"""

from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.material import material_value
from obscuro.evaluation.stockfish.uci_text import write_request
from obscuro.evaluation.stockfish.validity import stockfish_can_take
from obscuro.kernels import kernel
from obscuro.rules.make import make_move
from obscuro.rules.moves import side_to_move
from obscuro.rules.position import load


@kernel
def write_lists(tables, positions, forget, out, lists):
    """Write a request for each valid position of uint64[n, 8].

    forget: whether Stockfish forgets before each request. Written: out uint8[…], the requests;
    lists int64[n], the indices of their positions. Returns the numbers of bytes and of requests.
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
    """Write a request for each child of asked int64[n], or value the child by material.

    Material values children that are no valid position for Stockfish. Unless search_dominated, it
    also values the other moves of a position with a capture of the king. positions: uint64[m, 8].
    parents: int64[n], indices of the children's parents. moves: uint32[children].

    Written: out uint8[…], the requests; accepted int64[n], the children with a request; parents,
    compacted to these; values float32[children] of the other children, in the view of the mover.
    Returns the numbers of bytes and of accepted children.
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
