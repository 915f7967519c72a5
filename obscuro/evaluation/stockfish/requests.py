"""Kernels that write requests to Stockfish for a batch, and say which positions it can take.

Stockfish does not check its input. A king that can be captured, or a castling right without its
rook, crashes it or makes it loop forever. In the fog such positions are normal.
Material values the children that Stockfish cannot search.
"""

import numpy as np

from obscuro.evaluation import stockfish_program
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.material import material_pawns, material_value
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import (
    BACK_RANKS,
    BISHOPS,
    CASTLING_BITS,
    CASTLING_SHIFT,
    EN_PASSANT,
    FILES_SHIFT,
    KIND_SHIFT,
    KINGS,
    KNIGHTS,
    ONE,
    PAWNS,
    QUEENS,
    ROOKS,
    STATE,
    TO_SHIFT,
    WHITE,
)
from obscuro.rules.make import make_move
from obscuro.rules.moves import en_passant_square, occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import load

_EIGHT = np.uint64(8)
_E1 = ONE << np.uint64(4)
_E8 = ONE << np.uint64(60)
_ROOK_SQUARES = (np.uint64(7), np.uint64(0), np.uint64(63), np.uint64(56))  # of K, Q, k, q
_EN_PASSANT_KIND = np.uint64(EN_PASSANT) << KIND_SHIFT


@kernel
def stockfish_can_take(tables, pos):
    """Return whether `pos` has the properties of chess positions that Stockfish relies on.

    Each side has one king, at most 16 pieces and at most 8 pawns. The king of the side not to move
    is not attacked. No square has two pieces, and no pawn is on a back rank. The castling rights
    and the en passant square fit the pieces; those of Chess960 do not count, since a request has none.
    """
    occupied = occupied_squares(pos)
    pieces = 0
    for board in range(WHITE):
        pieces += popcount(pos[board])
    if pieces != popcount(occupied) or pos[WHITE] & ~occupied or pos[PAWNS] & BACK_RANKS:
        return False
    for side in range(2):
        own = pieces_of(pos, side)
        if popcount(pos[KINGS] & own) != 1 or popcount(own) > 16 or popcount(pos[PAWNS] & own) > 8:
            return False
    return (
        _rights_fit(pos)
        and _en_passant_fits(tables, pos)
        and not king_is_attacked(tables, pos, 1 - side_to_move(pos))
    )


@kernel
def _told_rights(pos):
    """The castling rights that a request tells: none if a king or a rook has another home.

    Stockfish would refuse them outside of Chess960. It does not list castling then, so that children
    by castling are searched alone.
    """
    if pos[STATE] >> FILES_SHIFT:
        return np.uint64(0)
    return (pos[STATE] >> CASTLING_SHIFT) & CASTLING_BITS


@kernel
def _rights_fit(pos):
    rights = _told_rights(pos)
    for k in range(4):
        if rights & (ONE << np.uint64(k)):
            own = pieces_of(pos, k >> 1)
            king = _E1 if k < 2 else _E8
            rook = ONE << _ROOK_SQUARES[k]
            if not (pos[KINGS] & own & king and pos[ROOKS] & own & rook):
                return False
    return True


@kernel
def _en_passant_fits(tables, pos):
    """Return whether the pushed pawn exists, its path is empty, and a pawn can capture it."""
    square = en_passant_square(pos)
    if square == 0:
        return True
    side = side_to_move(pos)
    if (square >> np.uint64(3)) != np.uint64(5 if side == 0 else 2):
        return False
    target = ONE << square
    pawn = target >> _EIGHT if side == 0 else target << _EIGHT
    origin = target << _EIGHT if side == 0 else target >> _EIGHT
    return (
        (pos[PAWNS] & pieces_of(pos, 1 - side) & pawn) != 0
        and (occupied_squares(pos) & (target | origin)) == 0
        and (tables.pawn[1 - side, np.int64(square)] & pos[PAWNS] & pieces_of(pos, side)) != 0
    )


@kernel
def safe_en_passant_square(tables, pos):
    """Return the en passant square if a capture there leaves the own king safe, else 0.

    A request may contain only such a square. Stockfish assumes that a check came from the pawn's
    push, and so considers the en passant capture legal although, say, a knight still attacks the
    king. In the fog the check may be older than the push, and Stockfish would then capture a king.
    """
    square = en_passant_square(pos)
    if square == 0:
        return square
    side = side_to_move(pos)
    capturers = tables.pawn[1 - side, np.int64(square)] & pos[PAWNS] & pieces_of(pos, side)
    while capturers:
        origin = np.uint64(lowest_square(capturers))
        capturers &= capturers - ONE
        move = origin | square << TO_SHIFT | _EN_PASSANT_KIND
        if not king_is_attacked(tables, make_move(pos, move), side):
            return square
    return np.uint64(0)


REQUEST_BYTES = 140  # the longest request: 71 characters of pieces, 40 of words, 10 of state
_ZERO = 48
_LOWER_CASE = 32


@kernel
def _put(out, at, text):
    for k in range(len(text)):
        out[at + k] = text[k]
    return at + len(text)


@kernel
def write_request(tables, pos, forget, out, at):
    """Write `position fen …` and `go depth 1` to out uint8[…] from index `at`; return the end.

    forget: whether Stockfish forgets all earlier searches first.
    """
    if forget:
        at = _put(out, at, b"ucinewgame\n")
    at = _put(out, at, b"position fen ")
    occupied = occupied_squares(pos)
    for rank in range(7, -1, -1):
        empty = 0
        for square in range(rank * 8, rank * 8 + 8):
            bit = ONE << np.uint64(square)
            if not occupied & bit:
                empty += 1
                continue
            if empty:
                out[at] = _ZERO + empty
                at += 1
                empty = 0
            if pos[PAWNS] & bit:
                letter = 112
            elif pos[KNIGHTS] & bit:
                letter = 110
            elif pos[BISHOPS] & bit:
                letter = 98
            elif pos[ROOKS] & bit:
                letter = 114
            elif pos[QUEENS] & bit:
                letter = 113
            else:
                letter = 107
            out[at] = letter - _LOWER_CASE if pos[WHITE] & bit else letter
            at += 1
        if empty:
            out[at] = _ZERO + empty
            at += 1
        if rank:
            out[at] = 47
            at += 1
    at = _put(out, at, b" w " if side_to_move(pos) == 0 else b" b ")
    rights = _told_rights(pos)
    for k in range(4):
        if rights & (ONE << np.uint64(k)):
            out[at] = b"KQkq"[k]
            at += 1
    if rights == 0:
        at = _put(out, at, b"-")
    at = _put(out, at, b" ")
    square = np.int64(safe_en_passant_square(tables, pos))
    if square:
        out[at] = 97 + (square & 7)
        out[at + 1] = 49 + (square >> 3)
        at += 2
    else:
        at = _put(out, at, b"-")
    return _put(out, at, b" 0 1\ngo depth 1\n")


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


_pawns_per_centipawn = kernel(stockfish_program.pawns_per_centipawn)


@kernel
def worth_of_centipawns(positions, asked, polynomial, worths):
    """Write the worth of a centipawn in pawns in each of n positions.

    positions: uint64[m, 8]. asked: int64[n], indices of positions. polynomial: see
    `stockfish_program.scale_of`. Written: worths float64[n].
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
