"""How likely the positions of a belief are: weights beside the records, by how the other side plays.

After a move b of the other side, w(s') = Σ w(s) π(b | s) over the positions s and the moves b that
lead to s'. π is the model of `move_model`. Weights are relative to even ones: their mean is 1. They
never decide what is possible. Where there was no time to compute any, all are 1 again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from obscuro.belief.record import castles_otherwise
from obscuro.belief.successors import SuccessorTask, differences, fits, more_than_one
from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product, lowest_square, prefetch_row
from obscuro.rules.castling import arrivals
from obscuro.rules.layout import (
    BLACK_LONG_PATH,
    BLACK_SHORT_PATH,
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    KIND_SHIFT,
    KING_TAKES_ROOK,
    ONE,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    SQUARE_BITS,
    THREE_BITS,
    TO_SHIFT,
    WHITE_LONG_PATH,
    WHITE_SHORT_PATH,
)
from obscuro.rules.tables import TABLES, bishop_attacks, rook_attacks

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]
Weights = npt.NDArray[np.float32]

LEAST_WEIGHT = 1e-6
"""No position is less likely than this, times an even one: many odd moves in a row happen."""
SUM_BITS = 40
CHUNK = 8192  # parents between two looks at the clock
ENDING = 25e-9  # seconds that the table of sums takes for each record, to be made or to be read
MOST_WEIGHTED = 4_000_000
"""Positions of a belief that get weights; with more, all are alike. Then the units of sums are small."""

_SUM_MASK = np.uint64((1 << SUM_BITS) - 1)
_ZERO = np.uint64(0)
_SALT_1 = np.uint64(0x9E3779B97F4A7C15)
_SALT_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_SALT_3 = np.uint64(0x165667B19E3779F9)
# What a piece's square has in the planes A, B and C (see `record`): pawn … king.
_IN_A, _IN_B, _IN_C = 0b111000, 0b010110, 0b001101


model_of_moves: Callable[[], Any] = cache(load_model)
"""Returns the fitted model, which is loaded once a process."""


@kernel(forceinline=True)
def _hash(a, b, c):
    return folded_product(folded_product(a ^ _SALT_1, b ^ _SALT_2) ^ c, _SALT_3)


# -- sums by record ------------------------------------------------------------------------------
#
# An open-addressing table of words: a tag of the record's hash above SUM_BITS bits of its sum. A
# word is one access to memory. Sums count in small units, and integers add up to the same in any
# order. Two records with equal tags, one pair in millions, share a sum.


@kernel(forceinline=True)
def _tag(hashed):
    """The tag of a hash: never 0, above the bits of the sum."""
    return (hashed | (ONE << np.uint64(63))) & ~_SUM_MASK


@kernel(forceinline=True)
def _slot(sums, hashed):
    """The slot that has the tag of a hash, or else the free one where it would be."""
    mask = np.uint64(sums.shape[0] - 1)
    tag = _tag(hashed)
    slot = hashed & mask
    while sums[slot, 0] != 0 and (sums[slot, 0] & ~_SUM_MASK) != tag:
        slot = (slot + ONE) & mask
    return slot


@kernel
def note_records(records, sums):
    """Give each record of uint64[n, 3] a sum of 0 in uint64[slots, 1], a power of two above n."""
    sums[:] = 0
    for row in range(records.shape[0]):
        hashed = _hash(records[row, 0], records[row, 1], records[row, 2])
        sums[_slot(sums, hashed), 0] = _tag(hashed)


@kernel
def read_sums(records, sums, unit, weights):
    """Write the sums of records uint64[n, 3], times unit, to float32[n]; 0 for unknown records."""
    for row in range(records.shape[0]):
        hashed = _hash(records[row, 0], records[row, 1], records[row, 2])
        word = sums[_slot(sums, hashed), 0] & _SUM_MASK
        weights[row] = np.float32(np.float64(word) * unit)


@kernel
def add_sums(total, more):
    """Add the sums uint64[slots, 1] of another thread, which has noted the same records."""
    for slot in range(total.shape[0]):
        total[slot, 0] += more[slot, 0] & _SUM_MASK


@kernel
def add_weights(records, weights, unit, sums):
    """Add the weights float32[n] of records uint64[n, 3] to the sums of those that are noted."""
    for row in range(records.shape[0]):
        hashed = _hash(records[row, 0], records[row, 1], records[row, 2])
        slot = _slot(sums, hashed)
        if sums[slot, 0] != 0:
            sums[slot, 0] += np.uint64(np.float64(weights[row]) / unit)


def _sums_of(records: Records) -> Words:
    sums = np.empty((1 << max(6, (len(records) * 4 // 3).bit_length()), 1), dtype=np.uint64)
    note_records(records, sums)
    return sums


def _unit(total: float) -> float:
    """The unit of sums whose total is at most `total`."""
    return max(total, 1.0) / (1 << SUM_BITS - 1)


def _read(records: Records, sums: Words, unit: float) -> Weights:
    weights = np.empty(len(records), dtype=np.float32)
    read_sums(records, sums, unit, weights)
    return weights


# -- after a move of the other side --------------------------------------------------------------


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
        elif word >> KIND_SHIFT == KING_TAKES_ROOK:
            king_to, rook_to = arrivals(word)
            a2 = (a2 & ~target) | king_to | rook_to
            c2 = (c2 & ~target) | rook_to
    return a2, b2, c2


@kernel(forceinline=True)
def _arrivals(tables, square, a, b, c, occupied, white, capture):
    """The other side's pieces that may move to a square, en passant and castling left out."""
    bit = ONE << np.uint64(square)
    castlers = a & b & c
    rooks, bishops = (a & c) | (a & b & ~c), (b & c & ~a) | (a & b & ~c)
    found = rook_attacks(tables, square, occupied) & rooks
    found |= bishop_attacks(tables, square, occupied) & bishops
    found |= tables.knight[square] & b & ~(a | c)
    found |= tables.king[square] & a & ~((b & ~castlers) | c)
    if capture:
        behind = tables.pawn[1 if white else 0, square]
    elif white:
        behind = bit >> np.uint64(8) | bit >> np.uint64(16)
    else:
        behind = bit << np.uint64(8) | bit << np.uint64(16)
    return found | (behind & c & ~(a | b))


@kernel
def may_fit(tables, task, a, b, c):
    """Whether some move from a record may fit the task; False is certain.

    Most positions drop out when something is seen to change. So their moves need no scores.
    """
    castlers = a & b & c
    captured = task.own & ~task.own_after
    enemy = a | b | c
    occupied = enemy | task.own
    if castlers and captured == 0:
        if castles_otherwise(a, b, c):
            return True
        short, long = WHITE_SHORT_PATH, WHITE_LONG_PATH
        if task.white == 0:
            short, long = BLACK_SHORT_PATH, BLACK_LONG_PATH
        if not occupied & short or not occupied & long:
            return True
    changed = differences(task, a, b, c)
    must_leave = enemy & (changed | task.no_enemy)
    must_arrive = (changed & ~enemy) | (task.blocked & ~occupied)
    must_arrive &= ~captured
    if more_than_one(must_leave) or more_than_one(must_arrive):
        return False
    if captured:
        if captured == task.pushed:  # maybe en passant
            return True
        must_arrive = captured
    if must_arrive:
        white = task.white != 0
        square = lowest_square(must_arrive)
        movers = _arrivals(tables, square, a, b, c, occupied, white, captured != 0)
        return movers & (must_leave if must_leave else enemy) != 0
    return True


@kernel
def carry_weights(
    tables, model, known, task, recapture, scratch, parents, old, unit, first, last, sums
):
    """Add the weights of the parents number `first` to `last` - 1 to the sums of their children.

    known: what our side knows before the move; task: a `SuccessorTask`; recapture: see
    `score_moves`; scratch: of this thread. parents: uint64[n, 3], old: float32[n], or float32[0] if
    all are alike, with mean 1. unit, sums: of the records after the move, see above.
    """
    white = task.white != 0
    captured = task.own & ~task.own_after
    even = old.shape[0] == 0
    mask = np.uint64(sums.shape[0] - 1)
    for row in range(first, last):
        a, b, c = parents[row, 0], parents[row, 1], parents[row, 2]
        if not may_fit(tables, task, a, b, c):
            continue
        count = score_moves(tables, model, known, a, b, c, recapture, scratch)
        probabilities(model, scratch.scores, count)
        weight = (1.0 if even else np.float64(old[row])) / unit
        children = 0
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
                hashed = _hash(a2, b2, c2)
                prefetch_row(sums, np.int64(hashed & mask))
                scratch.hashes[children] = hashed
                scratch.shares[children] = np.uint64(weight * scratch.scores[k])
                children += 1
        for k in range(children):
            slot = _slot(sums, scratch.hashes[k])
            if sums[slot, 0] != 0:
                sums[slot, 0] += scratch.shares[k]


def merged(parents: Records, weights: Weights, records: Records) -> Weights:
    """The sums of the weights float32[n] of equal parents uint64[n, 3], for each record: float32[m].

    records: uint64[m, 3]; one that is no parent has 0. Goes through all parents once.
    """
    sums, unit = _sums_of(records), _unit(float(weights.sum(dtype=np.float64)))
    add_weights(parents, weights, unit, sums)
    return _read(records, sums, unit)


def scaled(weights: Weights) -> Weights | None:
    """Scale weights float32[n], in place, so that their mean is 1; None if none is above 0."""
    mean = float(weights.mean(dtype=np.float64)) if len(weights) else 0.0
    if not (np.isfinite(mean) and mean > 0):
        return None
    weights *= np.float32(1 / mean)
    np.maximum(weights, np.float32(LEAST_WEIGHT), out=weights)
    return weights


def after_opponent_move(
    parents: Records,
    weights: Weights | None,
    parts: Sequence[tuple[int, int]],
    known: Words,
    task: SuccessorTask,
    recapture: int,
    records: Records,
    run: Callable[[list[Callable[[], None]]], object],
    is_late: Callable[[float], bool],
) -> Weights | None:
    """The weights float32[m] of the records after a move of the other side; None: all alike.

    parents, weights: uint64[n, 3] and float32[n] before the move, or None. parts: which parents
    were visited, from a number up to below another one; each thread takes a part. known, task: see
    `carry_weights`. recapture: a mask of the square where our last move captured. records:
    uint64[m, 3], all that fit. run: does jobs at once. is_late: asked after each chunk, with the
    seconds that are needed to end. If it says so, the parents that are left lead to all records
    alike.
    """
    ending = ENDING * len(records)
    if len(records) < 2 or max(len(parents), len(records)) > MOST_WEIGHTED:
        return None
    if len(records) > CHUNK and is_late(2 * ending):  # so few are weighed in no time
        return None
    model, unit = model_of_moves(), _unit(1.01 * len(parents))
    sums = [_sums_of(records)]
    sums += [sums[0].copy() for _ in parts[1:]]
    old = np.zeros(0, dtype=np.float32) if weights is None else weights
    scratches = [make_scratch() for _ in parts]
    longest = max(end - begin for begin, end in parts)
    done = 0
    while done < longest:
        bounds = [(min(begin + done, end), min(begin + done + CHUNK, end)) for begin, end in parts]
        run(
            [
                partial(
                    carry_weights,
                    TABLES,
                    model,
                    known,
                    task,
                    np.uint64(recapture),
                    scratch,
                    parents,
                    old,
                    unit,
                    begin,
                    end,
                    into,
                )
                for (begin, end), scratch, into in zip(bounds, scratches, sums, strict=True)
            ]
        )
        done += CHUNK
        if done < longest and is_late(ending):
            break
    for more in sums[1:]:
        add_sums(sums[0], more)
    found = _read(records, sums[0], unit)
    if done < longest:
        carried = [(begin, min(begin + done, end)) for begin, end in parts]
        left = _total(old, parts) / max(_total(old, carried), 1e-9) - 1
        found += np.float32(left * found.mean(dtype=np.float64))
    return scaled(found)


def _total(weights: Weights, parts: Sequence[tuple[int, int]]) -> float:
    """The sum of the weights float32[n] in some parts; without weights each counts 1."""
    if not len(weights):
        return float(sum(end - begin for begin, end in parts))
    return sum(float(weights[begin:end].sum(dtype=np.float64)) for begin, end in parts)


def draw_by_weight(
    weights: Weights, count: int, random: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw up to `count` rows without repeats, one after the other in proportion to their weights.

    weights: float32[n]. Returns int64[k], k ≤ count: fewer where few rows have nearly all of the
    weight.
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
