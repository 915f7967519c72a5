"""A quiescence search: it values a position after all captures that pay.

Positions as they stand are valued by the network, or without weights by material and sight.

The side to move takes the static value, or the best of the captures and promotions that may pay.
The other side answers in the same way. In the first plies a side in check may answer with any move,
because the static value of a position in check means little. The search makes no move that leaves
the own king to be captured. A side in check without another move is mated.

The search covers as much of Stockfish's search at depth 1 as pays (docs/network.md). Without
answers to checks it ranks the children of a position a little less like Stockfish. Adding quiet
checks does not bring it closer.
"""

import numpy as np

from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.material import simple_pawns
from obscuro.evaluation.nnue.accumulator import update
from obscuro.evaluation.nnue.captures import (
    captured_piece,
    exchange_pays,
    gain_of_key,
    generate_captures,
    order_key,
    promotion_of,
    target_of,
)
from obscuro.evaluation.nnue.layers import static_value
from obscuro.evaluation.stockfish_program import UNITS_PER_PAPER_PAWN
from obscuro.kernels import kernel
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves, side_to_move
from obscuro.rules.position import load, store

# Values, all in Stockfish's internal units.
INFINITE = 32_000  # larger than all values
MATED = 31_000  # the loss of a mated side, minus the plies until the mate

PLIES = 12  # the largest depth
NODES = 100  # positions, after which the search tries no more moves
EVASION_PLIES = 2  # in these first plies the search tries all answers to a check
RECAPTURE_PLY = 4  # from this ply on it only recaptures on the last move's target
MARGIN = 300  # units that a capture may gain in addition to the captured piece

FIRST = 1  # the frame of the searched position; FIRST - 1 is its parent's
NOWHERE = -1


@kernel
def _list_captures(tables, pos, work, frame, target):
    """Write the captures and promotions that lose no material; return their number.

    target: the only square to capture on, or NOWHERE for all squares.
    """
    moves, keys = work.moves, work.keys
    count = generate_captures(tables, pos, moves, frame)
    kept = 0
    for k in range(count):
        move = moves[frame, k]
        if target != NOWHERE and target_of(move) != target:
            continue
        if promotion_of(move) == 0 and not exchange_pays(
            tables, pos, move, captured_piece(pos, move)
        ):
            continue
        moves[frame, kept] = move
        keys[frame, kept] = order_key(pos, move)
        kept += 1
    return kept


@kernel
def _list_evasions(tables, pos, work, frame):
    """Write all moves; return their number. Making a move shows whether it answers the check."""
    count = generate_moves(tables, pos, work.moves[frame])
    for k in range(count):
        work.keys[frame, k] = order_key(pos, work.moves[frame, k])
    return count


@kernel
def _next_move(work, frame):
    """Remove the move with the largest key from the list; return it (-1 if empty) and its key."""
    moves, keys = work.moves, work.keys
    count = work.counts[frame]
    if count == 0:
        return np.int64(-1), np.int64(0)
    best = 0
    for k in range(1, count):
        if keys[frame, k] > keys[frame, best]:
            best = k
    move, key = np.int64(moves[frame, best]), np.int64(keys[frame, best])
    moves[frame, best] = moves[frame, count - 1]
    keys[frame, best] = keys[frame, count - 1]
    work.counts[frame] = count - 1
    return move, key


@kernel
def _value_as_it_stands(tables, weights, work, frame, pos):
    """Return a position's value without a search, in the view of the side to move, in units.

    weights: None for material and sight, for which numba compiles a version of its own.
    """
    if weights is None:
        return np.int64(round(UNITS_PER_PAPER_PAWN * simple_pawns(tables, pos, side_to_move(pos))))
    return static_value(weights, work, frame, pos)


@kernel
def _enter(tables, weights, work, frame, pos, target, goes_on):
    """Compute a position's static value and list the moves that may be better.

    target: the target square of the last move. goes_on: whether to try moves at all.
    """
    ply = frame - FIRST
    if goes_on and ply < EVASION_PLIES and king_is_attacked(tables, pos, side_to_move(pos)):
        work.standing[frame] = INFINITE
        work.bests[frame] = ply - MATED
        work.counts[frame] = _list_evasions(tables, pos, work, frame)
    else:
        value = _value_as_it_stands(tables, weights, work, frame, pos)
        work.standing[frame] = value
        work.bests[frame] = value
        work.counts[frame] = 0
        if goes_on and value < work.betas[frame]:
            only = target if ply >= RECAPTURE_PLY else NOWHERE
            work.counts[frame] = _list_captures(tables, pos, work, frame, only)
    work.alphas[frame] = max(work.alphas[frame], work.bests[frame])


@kernel
def search_captures(tables, weights, work, plies):
    """Return the value of the position in frame FIRST in the view of the side to move.

    The value is in Stockfish's internal units. The frame must hold the position and its sums. The
    king of the side not to move must not be attacked. weights: the network's, or None for material
    and sight, which need no sums. plies: 0 for the static value, PLIES for a search. Instead of
    recursion each ply has a frame. Written: work.nodes, which counts the valued positions.
    """
    frame = FIRST
    work.alphas[frame] = -INFINITE
    work.betas[frame] = INFINITE
    nodes = 1
    pos = load(work.positions, frame)
    _enter(tables, weights, work, frame, pos, NOWHERE, plies > 0)
    while True:
        move, key = np.int64(-1), np.int64(0)
        if work.alphas[frame] < work.betas[frame]:
            move, key = _next_move(work, frame)
        if move < 0:  # this frame has no more moves
            if frame == FIRST:
                break
            value = -work.bests[frame]
            frame -= 1
            pos = load(work.positions, frame)
            if value > work.bests[frame]:
                work.bests[frame] = value
                work.alphas[frame] = max(work.alphas[frame], value)
            continue
        side = side_to_move(pos)
        child = make_move(pos, move)
        if king_is_attacked(tables, child, side):
            continue
        hoped = work.standing[frame] + gain_of_key(key) + MARGIN
        if hoped <= work.alphas[frame] and not king_is_attacked(tables, child, 1 - side):
            continue
        if weights is not None:
            update(weights, work, frame, frame + 1, pos, child, move)
        store(work.positions, frame + 1, child)
        work.alphas[frame + 1] = -work.betas[frame]
        work.betas[frame + 1] = -work.alphas[frame]
        frame += 1
        pos = child
        nodes += 1
        goes_on = frame - FIRST < plies and nodes < NODES
        _enter(tables, weights, work, frame, pos, target_of(move), goes_on)
    work.nodes[0] += nodes
    return work.bests[FIRST]
