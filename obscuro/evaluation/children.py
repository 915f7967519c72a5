"""All children of a batch of positions, and the values of those that need no evaluation.

Under perfect information the rules decide some children. In the view of the mover:

- The move captures the king or leaves the enemy without a move: +1, terminal. Where a side without
  a move draws, `obscuro.engine.chess_game` puts 0 in the place of the latter.
- The move leaves the mover's own king to be captured: -1, but not terminal. The game ends with the
  capture, and the enemy sees every king that it attacks.
- The enemy has moves, but each of them loses its king (mate, or stalemate in chess): mate in 1.

The other children have the value NaN until an evaluator gives them one.
"""

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.scale import value_of_mate
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.layout import KINGS, KNIGHTS, MAX_MOVES, ONE, PAWNS, SQUARE_BITS, TO_SHIFT
from obscuro.rules.make import make_move
from obscuro.rules.moves import (
    generate_moves,
    has_move,
    occupied_squares,
    pieces_of,
    side_to_move,
)
from obscuro.rules.position import load
from obscuro.rules.tables import TABLES, bishop_attacks, rook_attacks

_MATE_IN_ONE = value_of_mate(1)
_NOTHING = np.uint64(0)
_EIGHT = np.uint64(8)


@kernel
def count_children(tables, positions, moves, offsets):
    """Count the children of positions uint64[n, 8]; return the total.

    Written: offsets int64[n + 1], where each position's children start. moves: uint32[MAX_MOVES], a
    buffer.
    """
    total = 0
    offsets[0] = 0
    for index in range(positions.shape[0]):
        total += generate_moves(tables, load(positions, index), moves)
        offsets[index + 1] = total
    return total


@kernel
def _has_plain_reply(tables, pos, side):
    """Return True only if `side`, to move, has an obvious safe reply. Cheap, and mostly True.

    The side is then not in check, and it can push a pawn or move a knight that stands on no line
    through its king and so cannot be pinned.
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
    """Return whether the side to move has a move that leaves its king safe from capture.

    replies: uint32[MAX_MOVES], a buffer.
    """
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
    """Write every child's move, its value (NaN if undecided), and whether it is terminal.

    positions: uint64[n, 8]. offsets: int64[n + 1], by `count_children`. buffer: uint32[MAX_MOVES].
    Written: moves uint32, values float32 in the view of the mover, terminal uint8, all [children].
    If a king is missing, the side without a king has lost in all children.
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
    """Write the value of the undecided children that leave the enemy no safe move."""
    for index in range(positions.shape[0]):
        pos = load(positions, index)
        for child in range(offsets[index], offsets[index + 1]):
            if np.isnan(values[child]) and not has_safe_reply(
                tables, make_move(pos, moves[child]), buffer
            ):
                values[child] = _MATE_IN_ONE


def expand(positions: npt.NDArray[np.uint64], find_mates: bool) -> ChildValues:
    """Return all children of uint64[n, 8]; undecided children have the value NaN.

    find_mates: whether to call `fill_mates` too.
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
    """Write the value of the undecided children that leave the enemy no safe move.

    positions: uint64[n, 8]. children: their children, by `expand`; its values change.
    """
    buffer = np.empty(MAX_MOVES, dtype=np.uint32)
    _fill_mates(TABLES, positions, children.offsets, children.moves, buffer, children.values)
