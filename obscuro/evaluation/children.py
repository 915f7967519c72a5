"""All children of a batch of positions, and the values of those that need no evaluation.

Under perfect information some children are decided at once. From the view of the mover:

- the king captured, or the enemy left without any move: +1, terminal;
- the mover's own king left to be captured: -1, but not terminal, the enemy has yet to see it;
- the enemy left with moves that all lose its king (mate, or stalemate as chess has it): mate in 1.

The rest have no value yet (`NaN`); an evaluator fills them in.
"""

import numpy as np
import numpy.typing as npt

from obscuro.board.attacks import bishop_attacks, rook_attacks
from obscuro.board.bits import lowest_square
from obscuro.board.layout import KINGS, KNIGHTS, MAX_MOVES, ONE, PAWNS, SQUARE_BITS, TO_SHIFT
from obscuro.board.make import make_move
from obscuro.board.moves import (
    generate_moves,
    has_move,
    occupied_squares,
    pieces_of,
    side_to_move,
)
from obscuro.board.position import load
from obscuro.board.tables import TABLES
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.scale import value_of_mate
from obscuro.kernels import kernel

_MATE_IN_ONE = value_of_mate(1)
_NOTHING = np.uint64(0)
_EIGHT = np.uint64(8)


@kernel
def count_children(tables, positions, moves, offsets):
    """Write where each position's children start into offsets int64[n + 1]; return their number."""
    total = 0
    offsets[0] = 0
    for index in range(positions.shape[0]):
        total += generate_moves(tables, load(positions, index), moves)
        offsets[index + 1] = total
    return total


@kernel
def _has_plain_reply(tables, pos, side):
    """Whether `side`, to move, surely has a safe reply: not in check, and a pawn that can be pushed
    or a knight that can move, off all lines through its king, so that it can't be pinned.

    Cheap, and true of most positions.
    """
    own = pieces_of(pos, side)
    king = pos[KINGS] & own
    if king == _NOTHING or king_is_attacked(tables, pos, side):
        return False
    square = lowest_square(king)
    lines = rook_attacks(tables, square, _NOTHING) | bishop_attacks(tables, square, _NOTHING)
    pawns = pos[PAWNS] & own & ~lines
    ahead = pawns << _EIGHT if side == 0 else pawns >> _EIGHT
    if ahead & ~occupied_squares(pos):
        return True
    knights = pos[KNIGHTS] & own & ~lines
    while knights:
        if tables.knight[lowest_square(knights)] & ~own:
            return True
        knights &= knights - ONE
    return False


@kernel
def has_safe_reply(tables, pos, replies):
    """Whether the side to move has a move after which its king can't be captured at once."""
    side = side_to_move(pos)
    if _has_plain_reply(tables, pos, side):
        return True
    count = generate_moves(tables, pos, replies)
    for k in range(count):  # noqa: SIM110 - a loop is what numba compiles
        if not king_is_attacked(tables, make_move(pos, replies[k]), side):
            return True
    return False


@kernel
def fill_children(tables, positions, offsets, buffer, moves, values, terminal):
    """Write every child's move, its value if it is decided (else NaN), and whether it is terminal.

    positions: uint64[n, 8]; offsets: int64[n + 1] of `count_children`; buffer: uint32[MAX_MOVES].
    Written: moves uint32, values float32, terminal uint8, all [children]. With a king missing there
    is no game; the side without one has lost all children.
    """
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        side = side_to_move(pos)
        own_king = pos[KINGS] & pieces_of(pos, side)
        enemy_king = pos[KINGS] & pieces_of(pos, 1 - side)
        start = offsets[index]
        count = generate_moves(tables, pos, buffer)
        for k in range(count):
            move = buffer[k]
            child = make_move(pos, move)
            value = np.nan
            ended = 0
            if own_king == 0:
                value = -1.0
            elif enemy_king == 0:
                value = 1.0
            elif ONE << ((np.uint64(move) >> TO_SHIFT) & SQUARE_BITS) & enemy_king or not has_move(
                tables, child
            ):
                value = 1.0
                ended = 1
            elif king_is_attacked(tables, child, side):
                value = -1.0
            moves[start + k] = move
            values[start + k] = value
            terminal[start + k] = ended


@kernel
def _fill_mates(tables, positions, offsets, moves, buffer, values):
    """Give a value to the children without one that leave the enemy no safe move."""
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        for child in range(offsets[index], offsets[index + 1]):
            if np.isnan(values[child]) and not has_safe_reply(
                tables, make_move(pos, moves[child]), buffer
            ):
                values[child] = _MATE_IN_ONE


def expand(positions: npt.NDArray[np.uint64], find_mates: bool) -> ChildValues:
    """All children of uint64[n, 8]; the undecided ones have the value NaN.

    find_mates: also look for children that leave the enemy no safe move, as `fill_mates` does.
    """
    buffer = np.empty(MAX_MOVES, dtype=np.uint32)
    offsets = np.empty(len(positions) + 1, dtype=np.int64)
    total = count_children(TABLES, positions, buffer, offsets)
    children = ChildValues(
        offsets,
        np.empty(total, dtype=np.uint32),
        np.empty(total, dtype=np.float32),
        np.empty(total, dtype=np.uint8),
    )
    fill_children(
        TABLES, positions, offsets, buffer, children.moves, children.values, children.terminal
    )
    if find_mates:
        fill_mates(positions, children)
    return children


def fill_mates(positions: npt.NDArray[np.uint64], children: ChildValues) -> None:
    """Give their value to the undecided children that leave the enemy no safe move."""
    buffer = np.empty(MAX_MOVES, dtype=np.uint32)
    _fill_mates(TABLES, positions, children.offsets, children.moves, buffer, children.values)
