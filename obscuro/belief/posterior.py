"""How likely the positions of a belief are: weights beside the records, by how the other side plays.

After a move b of the other side, w(s') = Σ w(s) π(b | s) over the positions s and the moves b that
lead to s'. π is the model of `move_model`. Weights are relative to even ones: their mean is 1. They
never decide what is possible. Where there was no time to compute them, all are 1 again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from obscuro.belief.move_model import (
    load_model,
    make_scratch,
    probabilities,
    score_moves,
)
from obscuro.belief.successors import SuccessorTask, fits
from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product
from obscuro.rules.layout import (
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    KIND_SHIFT,
    ONE,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    SQUARE_BITS,
    THREE_BITS,
    TO_SHIFT,
)
from obscuro.rules.tables import TABLES

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]
Weights = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int32]

LEAST_WEIGHT = 1e-12
"""No position is less likely than this, times an even one: many odd moves in a row happen."""
CHUNK = 8192  # parents between two looks at the clock
MOST_WEIGHTED = 1_000_000
"""Positions of a belief that get weights; more are all alike. The index takes 8 to 16 bytes each."""

_ONE = np.float32(1)
_ZERO = np.uint64(0)
_SALT_1 = np.uint64(0x9E3779B97F4A7C15)
_SALT_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_SALT_3 = np.uint64(0x165667B19E3779F9)
# What a piece's square has in the planes A, B and C (see `record`): pawn … king.
_IN_A, _IN_B, _IN_C = 0b111000, 0b010110, 0b001101


@cache
def the_model() -> Any:
    """The fitted model, loaded once a process."""
    return load_model()


@kernel(forceinline=True)
def _hash(a, b, c):
    return folded_product(folded_product(a ^ _SALT_1, b ^ _SALT_2) ^ c, _SALT_3)


@kernel
def fill_index(records, index):
    """Index records uint64[n, 3] by their hashes: row + 1 in int32[slots], a power of two ≥ 2n."""
    index[:] = 0
    mask = np.uint64(index.shape[0] - 1)
    for row in range(records.shape[0]):
        slot = _hash(records[row, 0], records[row, 1], records[row, 2]) & mask
        while index[slot] != 0:
            slot = (slot + ONE) & mask
        index[slot] = row + 1


@kernel(forceinline=True)
def _find(records, index, a, b, c):
    """The row of a record, or -1."""
    mask = np.uint64(index.shape[0] - 1)
    slot = _hash(a, b, c) & mask
    while index[slot] != 0:
        row = index[slot] - 1
        if records[row, 0] == a and records[row, 1] == b and records[row, 2] == c:
            return row
        slot = (slot + ONE) & mask
    return np.int32(-1)


@kernel(forceinline=True)
def _child(a, b, c, word, white):
    """The planes after a move, a move word, of the other side."""
    origin = ONE << (word & SQUARE_BITS)
    target = ONE << ((word >> TO_SHIFT) & SQUARE_BITS)
    piece = (word >> PIECE_SHIFT) & THREE_BITS
    promotion = (word >> PROMOTION_SHIFT) & THREE_BITS
    castlers = a & b & c
    landed = promotion if promotion else piece
    a2, b2, c2 = a & ~origin, b & ~origin, c & ~origin
    if np.uint64(_IN_A) >> landed & ONE:
        a2 |= target
    if np.uint64(_IN_B) >> landed & ONE:
        b2 |= target
    if np.uint64(_IN_C) >> landed & ONE:
        c2 |= target
    if piece == 5:
        b2 &= ~castlers
        if word >> KIND_SHIFT == CASTLING:
            if target > origin:
                rook, beside = origin << np.uint64(3), origin << ONE
            else:
                rook, beside = origin >> np.uint64(4), origin >> ONE
            a2 = (a2 & ~rook) | beside
            c2 = (c2 & ~rook) | beside
    return a2, b2, c2


@kernel
def carry_weights(
    tables, model, known, task, recapture, scratch, parents, old, first, last, records, index, new
):
    """Add the weights of the parents number `first` to `last` - 1 to those of their children.

    known: what our side knows before the move; task: a `SuccessorTask`; recapture: see
    `score_moves`; scratch: of this thread. parents: uint64[n, 3], old: float32[n], or float32[0] if
    all are alike. records: uint64[m, 3] with their index; new: float32[m], added to.
    """
    white = task.white != 0
    captured = task.own & ~task.own_after
    even = old.shape[0] == 0
    for row in range(first, last):
        a, b, c = parents[row, 0], parents[row, 1], parents[row, 2]
        count = score_moves(tables, model, known, a, b, c, recapture, scratch)
        probabilities(scratch.scores, count)
        weight = _ONE if even else old[row]
        for k in range(count):
            word = np.uint64(scratch.moves[k])
            target = ONE << ((word >> TO_SHIFT) & SQUARE_BITS)
            kind = word >> KIND_SHIFT
            taken = task.pushed if kind == EN_PASSANT else target & task.own
            if taken != captured:
                continue
            if kind == DOUBLE_PUSH:
                passed = target >> np.uint64(8) if white else target << np.uint64(8)
                if task.en_passant != (passed if target & task.beside else _ZERO):
                    continue
            elif task.en_passant:
                continue
            a2, b2, c2 = _child(a, b, c, word, white)
            if fits(task, a2, b2, c2):
                found = _find(records, index, a2, b2, c2)
                if found >= 0:
                    new[found] += weight * scratch.scores[k]


@kernel
def merge_weights(parents, old, records, index, new):
    """Add the weights float32[n] of equal records to one another: float32[m], added to."""
    for row in range(parents.shape[0]):
        found = _find(records, index, parents[row, 0], parents[row, 1], parents[row, 2])
        if found >= 0:
            new[found] += old[row]


@kernel
def _weights_of(wanted, index, records, weights, found):
    """Write the weight of each of the `wanted` records to float32[k]; the index is theirs."""
    for row in range(records.shape[0]):
        place = _find(wanted, index, records[row, 0], records[row, 1], records[row, 2])
        if place >= 0:
            found[place] = weights[row]


def weights_of(wanted: Records, records: Records, weights: Weights) -> Weights:
    """The weights float32[k] of `wanted` records uint64[k, 3]; 0 where a record is not there.

    Goes through all records once.
    """
    unique, group = np.unique(wanted, axis=0, return_inverse=True)
    found = np.zeros(len(unique), dtype=np.float32)
    _weights_of(unique, _index_of(unique), records, weights, found)
    return np.asarray(found[group.ravel()])


def _index_of(records: Records) -> Rows:
    index = np.empty(1 << max(6, (2 * len(records)).bit_length()), dtype=np.int32)
    fill_index(records, index)
    return index


def scaled(weights: Weights) -> Weights | None:
    """Scale weights, in place, so that their mean is 1; None if none is above 0."""
    mean = float(weights.mean(dtype=np.float64)) if len(weights) else 0.0
    if not (np.isfinite(mean) and mean > 0):
        return None
    weights *= np.float32(1 / mean)
    np.maximum(weights, np.float32(LEAST_WEIGHT), out=weights)
    return weights


def after_opponent_move(
    parents: Records,
    weights: Weights | None,
    known: Words,
    task: SuccessorTask,
    recapture: int,
    records: Records,
    run: Callable[[list[Callable[[], None]]], object],
    threads: int,
    is_late: Callable[[], bool],
) -> Weights | None:
    """The weights float32[m] of the records after a move of the other side; None: all alike.

    parents, weights: uint64[n, 3] and float32[n] before the move, or None. known, task: see
    `carry_weights`. recapture: a mask of the square where our last move captured. records:
    uint64[m, 3], all that fit. run: does jobs at once; threads: how many. is_late: asked after each
    chunk; if it says so, all positions count alike again.
    """
    if len(records) < 2 or max(len(parents), len(records)) > MOST_WEIGHTED:
        return None
    index, model = _index_of(records), the_model()
    threads = threads if len(parents) > CHUNK else 1
    scratches = [make_scratch() for _ in range(threads)]
    sums = [np.zeros(len(records), dtype=np.float32) for _ in range(threads)]
    old = np.zeros(0, dtype=np.float32) if weights is None else weights
    size = CHUNK * threads
    for begin in range(0, len(parents), size):
        end = min(begin + size, len(parents))
        bounds = [begin + (end - begin) * k // threads for k in range(threads + 1)]
        run(
            [
                partial(
                    carry_weights,
                    TABLES,
                    model,
                    known,
                    task,
                    np.uint64(recapture),
                    scratches[k],
                    parents,
                    old,
                    bounds[k],
                    bounds[k + 1],
                    records,
                    index,
                    sums[k],
                )
                for k in range(threads)
            ]
        )
        if end < len(parents) and is_late():
            return None
    for more in sums[1:]:
        sums[0] += more
    return scaled(sums[0])


def merged(parents: Records, weights: Weights | None, records: Records) -> Weights | None:
    """The weights of records, each once, of which `parents` may hold some twice."""
    if weights is None:
        return None
    new = np.zeros(len(records), dtype=np.float32)
    merge_weights(parents, weights, records, _index_of(records), new)
    return scaled(new)


def draw_by_weight(
    weights: Weights, count: int, random: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw up to `count` rows without repeats, one after the other in proportion to their weights.

    Fewer come back where few rows have nearly all of the weight.
    """
    cumulated = np.cumsum(weights, dtype=np.float64)
    rows = np.empty(0, dtype=np.int64)
    for _ in range(8):
        points = random.random(2 * count) * cumulated[-1]
        drawn = np.searchsorted(cumulated, points, side="right").clip(max=len(weights) - 1)
        rows = np.concatenate((rows, drawn))
        rows = rows[np.sort(np.unique(rows, return_index=True)[1])]
        if len(rows) >= count:
            break
    return rows[:count]
