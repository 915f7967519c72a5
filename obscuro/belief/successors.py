"""The other side's moves: from the records of a belief to those that fit the next observation.

`expand` goes through a range of parents and writes each child that fits, with a hash; `table` drops
repeats. It makes hardly any move that does not fit. All positions agree in what is ours, so the
other side's planes alone decide what fits:

- The move must leave, or arrive at, every square where the parent differs from the observation.
- The move may touch no other square that we see. It may not empty a hidden square whose piece
  blocks our pawn. It may not arrive on a diagonal of our pawns, where we would see it.
- If a piece of ours is gone, the move went there or captured it en passant.
- The observation shows a double push past our pawn as an en passant square, and no other move does.

If nothing that we see has changed, every move between hidden squares fits, and no child needs a
test. Otherwise few moves are made, and each child is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.fit import POSSIBLE
from obscuro.belief.record import OUR_SIDE, PASSED, castles_otherwise
from obscuro.belief.table import Ranking, record_hash, region_of
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square
from obscuro.rules.castling import castling_of, castling_way, files_of
from obscuro.rules.layout import (
    ALL,
    BACK_RANKS,
    BLACK_LONG_PATH,
    BLACK_LONG_ROOK,
    BLACK_SHORT_PATH,
    BLACK_SHORT_ROOK,
    CASTLING_SHIFT,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    RANK_3,
    RANK_6,
    WHITE,
    WHITE_LONG_PATH,
    WHITE_LONG_ROOK,
    WHITE_SHORT_PATH,
    WHITE_SHORT_ROOK,
)
from obscuro.rules.tables import TABLES, bishop_attacks, rook_attacks

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]

_ZERO = np.uint64(0)
_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)
_RANK_4 = 0x00000000FF000000
_RANK_5 = 0x000000FF00000000
_FAR_ROOKS = np.uint64(0x8000000000000080)  # h1, h8
_NEAR_ROOKS = np.uint64(0x0100000000000001)  # a1, a8


class Streams(NamedTuple):
    """One thread's children on their way into a table, sorted by region."""

    offered: Words  # [regions, room, 4] records and their hashes
    counts: npt.NDArray[np.int64]  # [regions]
    # [2] How many children of one region are enough; the room holds at least MAX_MOVES more. Then
    # whether some region has enough.
    enough: npt.NDArray[np.int64]


# (first, last, ranking, streams) -> first parent not visited
Visit = Callable[[int, int, Ranking, Streams], int]


class SuccessorTask(NamedTuple):
    """What a move of the other side must explain. Masks of squares; planes as in `record`."""

    white: np.uint64  # 1 if the other side is White
    own: np.uint64  # our pieces before the move
    own_after: np.uint64
    seen: np.uint64
    a: np.uint64  # the other side's pieces on the seen squares
    b: np.uint64
    c: np.uint64
    blocked: np.uint64  # unseen squares on which something stands
    no_enemy: np.uint64  # unseen squares on which no piece of the other side stands
    en_passant: np.uint64  # where we can capture en passant afterwards
    beside: np.uint64  # where a pawn that arrives by a double push could be captured en passant
    passed: np.uint64  # the square that our pawn has just passed over
    pushed: np.uint64  # where that pawn stands


def opponent_task(
    known: Words, known_after: Words, observed: Words, required: Words, untold: int = 0
) -> SuccessorTask | None:
    """What a move of the other side must explain; None if no move explains the observation.

    known, known_after: uint64[KNOWN_WORDS], before and after the move; see `record`. observed: the
    observation's words, uint64[9]; required: its `requirements`, uint64[REQUIREMENT_WORDS]. untold:
    where a double push may have ended of which the observation does not tell, a mask.
    """
    side = int(known[OUR_SIDE])
    seen = int(required[0])
    white = int(required[7])
    enemy = ~white if side == 0 else white
    pawns, knights, bishops, rooks, queens, kings = (
        int(board) & enemy for board in required[1:7].tolist()
    )
    own_pawns = int(known_after[0])
    left, right = int(NOT_FILE_A), int(NOT_FILE_H)
    beside = ((own_pawns & left) >> 1 | (own_pawns & right) << 1) & (
        _RANK_5 if side == 0 else _RANK_4
    )
    beside &= ~untold
    en_passant, passed = int(observed[8]), int(known[PASSED])
    forward = 8 if side == 0 else -8
    if en_passant and not beside >> en_passant - forward & 1:
        return None
    words = (
        side,
        int(np.bitwise_or.reduce(known[:WHITE])),
        int(np.bitwise_or.reduce(known_after[:WHITE])),
        seen,
        kings | queens | rooks,
        knights | bishops | queens,
        pawns | bishops | rooks,
        int(required[9]),
        int(required[10]),
        1 << en_passant if en_passant else 0,
        beside,
        1 << passed if passed else 0,
        1 << passed + forward if passed else 0,
    )
    return SuccessorTask(*map(np.uint64, words))


@kernel(forceinline=True)
def offer(streams, ranking, a, b, c):
    """Write a record with its hash for the table, if the hash is not above the ceiling."""
    hashed = record_hash(ranking, a, b, c)
    if hashed <= ranking.ceiling:
        region = region_of(ranking, hashed)
        count = streams.counts[region]
        streams.offered[region, count, 0] = a
        streams.offered[region, count, 1] = b
        streams.offered[region, count, 2] = c
        streams.offered[region, count, 3] = hashed
        streams.counts[region] = count + 1
        if count >= streams.enough[0]:
            streams.enough[1] = 1


@kernel(forceinline=True)
def differences(task, a, b, c):
    """The seen squares where a record is not what was observed."""
    castlers = a & b & c
    return ((a ^ task.a) | ((b ^ castlers) ^ task.b) | (c ^ task.c)) & task.seen


@kernel(forceinline=True)
def fits(task, a, b, c):
    """Whether we would observe in the position what was observed, but for the en passant square."""
    enemy = a | b | c
    return (
        differences(task, a, b, c) == 0
        and task.blocked & ~(enemy | task.own_after) == 0
        and task.no_enemy & enemy == 0
    )


@kernel(forceinline=True)
def more_than_one(bits):
    """Whether a mask has several squares."""
    return bits & (bits - ONE) != 0


@kernel(forceinline=True)
def _offer_castling(task, streams, ranking, a, b, c, occupied):
    """Offer the children by castling that fit."""
    castlers = a & b & c
    short, long = castlers & _FAR_ROOKS, castlers & _NEAR_ROOKS
    if task.white:
        short_path, long_path = WHITE_SHORT_PATH, WHITE_LONG_PATH
        short_rook, long_rook = WHITE_SHORT_ROOK, WHITE_LONG_ROOK
        king = np.uint64(0x10)
    else:
        short_path, long_path = BLACK_SHORT_PATH, BLACK_LONG_PATH
        short_rook, long_rook = BLACK_SHORT_ROOK, BLACK_LONG_ROOK
        king = np.uint64(0x10) << np.uint64(56)
    b ^= castlers
    if short and not occupied & short_path:
        a1 = a ^ short_rook ^ king ^ (king << np.uint64(2))
        if fits(task, a1, b, c ^ short_rook):
            offer(streams, ranking, a1, b, c ^ short_rook)
    if long and not occupied & long_path:
        a2 = a ^ long_rook ^ king ^ (king >> np.uint64(2))
        if fits(task, a2, b, c ^ long_rook):
            offer(streams, ranking, a2, b, c ^ long_rook)


@kernel
def _offer_other_castling(task, streams, ranking, a, b, c, occupied):
    """Offer the children by castling that fit, from a start of Chess960."""
    castlers, king = a & b & c, a & ~(b | c)
    side = 0 if task.white else 1
    rank = np.uint64(56 * side)
    state = castling_of(king, castlers, side)
    rights = (state >> CASTLING_SHIFT) >> np.uint64(2 * side)
    king_file, far, near = files_of(state, side)
    b ^= castlers
    for wing in range(2):
        file = far if wing == 0 else near
        way = castling_way(king_file, file)
        if not (rights >> np.uint64(wing)) & ONE or (occupied >> rank) & way:
            continue
        rook = (ONE << np.uint64(file)) << rank
        king_to = np.uint64(0x40 if wing == 0 else 0x04) << rank
        rook_to = np.uint64(0x20 if wing == 0 else 0x08) << rank
        a1 = (a & ~(king | rook)) | king_to | rook_to
        c1 = (c & ~rook) | rook_to
        if fits(task, a1, b, c1):
            offer(streams, ranking, a1, b, c1)


@kernel(forceinline=True)
def _offer_en_passant(task, streams, ranking, a, b, c):
    """Offer the children by an en passant capture of our pawn that fit."""
    pawns = c & ~(a | b)
    capturers = ((task.pushed & NOT_FILE_A) >> ONE) | ((task.pushed & NOT_FILE_H) << ONE)
    capturers &= pawns
    while capturers:
        bit = capturers & (~capturers + ONE)
        capturers ^= bit
        if fits(task, a, b, c ^ bit ^ task.passed):
            offer(streams, ranking, a, b, c ^ bit ^ task.passed)


@kernel
def expand(tables, parents, first, last, task, ranking, streams):
    """Offer the children of the parents number `first` to `last` - 1 that fit.

    parents: records uint64[n, 3]; task: a `SuccessorTask`; ranking: see `table`; streams:
    written. Returns the number of the first parent not visited, which is less than `last` only if
    the streams' room was used up.
    """
    hidden = ~task.seen
    captured = task.own & ~task.own_after
    quiet = captured == 0
    usual = task.en_passant == 0
    # Landing squares of a double push, and the pieces that may move at all.
    if usual:
        landing, landed = ~task.beside, ALL
    else:
        landing = task.en_passant >> _EIGHT if task.white == 0 else task.en_passant << _EIGHT
        landed = _ZERO
    for row in range(first, last):
        if streams.enough[1]:
            return row
        a, b, c = parents[row, 0], parents[row, 1], parents[row, 2]
        enemy = a | b | c
        occupied = enemy | task.own
        castlers = a & b & c
        changed = differences(task, a, b, c)
        must_leave = enemy & (changed | task.no_enemy)
        must_arrive = (changed & ~enemy) | (task.blocked & ~occupied)
        must_arrive &= ~captured
        if quiet and castlers and usual:
            if castles_otherwise(a, b, c):
                _offer_other_castling(task, streams, ranking, a, b, c, occupied)
            else:
                _offer_castling(task, streams, ranking, a, b, c, occupied)
        if more_than_one(must_leave) or more_than_one(must_arrive):
            continue
        sure = quiet and must_leave == 0 and must_arrive == 0
        origins = must_leave if must_leave else hidden & ~task.blocked
        if quiet:
            targets = must_arrive if must_arrive else hidden & ~task.no_enemy
            targets &= ~occupied
        elif not usual:
            continue
        else:
            if captured == task.pushed and not enemy & task.passed:
                _offer_en_passant(task, streams, ranking, a, b, c)
            if must_arrive:
                continue
            targets = captured
        movers = enemy & origins
        if not usual:
            movers &= c & ~(a | b)
        while movers:
            square = lowest_square(movers)
            bit = movers & (~movers + ONE)
            movers ^= bit
            # The planes without the piece, and all ones where the piece is to be in a plane.
            a1, b1, c1 = a & ~bit, b & ~bit, c & ~bit
            in_a = ALL if a & bit else _ZERO
            in_b = ALL if b & bit else _ZERO
            in_c = ALL if c & bit else _ZERO
            promotions = 0
            if in_a:
                if in_c:
                    reached = rook_attacks(tables, square, occupied)
                    in_b = _ZERO
                elif in_b:
                    reached = rook_attacks(tables, square, occupied)
                    reached |= bishop_attacks(tables, square, occupied)
                else:
                    reached = tables.king[square]
                    b1 &= ~castlers
            elif in_b:
                reached = tables.knight[square]
                if in_c:
                    reached = bishop_attacks(tables, square, occupied)
            elif quiet:
                if task.white:
                    reached = (bit << _EIGHT) & ~occupied
                    double = ((reached & RANK_3) << _EIGHT) & landing
                else:
                    reached = (bit >> _EIGHT) & ~occupied
                    double = ((reached & RANK_6) >> _EIGHT) & landing
                reached = (reached & landed) | double
                promotions = 3 if reached & BACK_RANKS else 0
            else:
                if task.white:
                    reached = ((bit & NOT_FILE_A) << _SEVEN) | ((bit & NOT_FILE_H) << _NINE)
                else:
                    reached = ((bit & NOT_FILE_H) >> _SEVEN) | ((bit & NOT_FILE_A) >> _NINE)
                promotions = 3 if reached & BACK_RANKS else 0
            reached &= targets
            if promotions:  # queen AB, then rook AC, bishop BC, knight B
                in_a, in_b, in_c = ALL, ALL, _ZERO
            while True:
                left = reached
                while left:
                    target = left & (~left + ONE)
                    left ^= target
                    a2, b2, c2 = a1 | (target & in_a), b1 | (target & in_b), c1 | (target & in_c)
                    if sure or fits(task, a2, b2, c2):
                        offer(streams, ranking, a2, b2, c2)
                if promotions == 0:
                    break
                if promotions == 3:
                    in_b, in_c = _ZERO, ALL
                elif promotions == 2:
                    in_a, in_b = _ZERO, ALL
                else:
                    in_c = _ZERO
                promotions -= 1
    return last


@kernel
def offer_all(records, first, last, ranking, streams):
    """Offer the records number `first` to `last` - 1 themselves; return as `expand`."""
    for row in range(first, last):
        if streams.enough[1]:
            return row
        offer(streams, ranking, records[row, 0], records[row, 1], records[row, 2])
    return last


def successor_task(
    known: Words,
    known_after: Words | None,
    observed: Words,
    required: Words,
    untold: int = 0,
) -> SuccessorTask | None:
    """What a move of the other side must explain; None if nothing can fit.

    known, known_after: uint64[KNOWN_WORDS], before and after the move. observed: uint64[9], what we
    then see; required: uint64[REQUIREMENT_WORDS], what follows from it. untold: see
    `opponent_task`.
    """
    if known_after is None or not required[POSSIBLE]:
        return None
    return opponent_task(known, known_after, observed, required, untold)


def successor_pass(records: Records, task: SuccessorTask) -> Visit:
    """A pass that offers the children of records uint64[n, 3] by the moves that fit the task."""

    def visit(first: int, last: int, ranking: Ranking, streams: Streams) -> int:
        reached: int = expand(TABLES, records, first, last, task, ranking, streams)
        return reached

    return visit
