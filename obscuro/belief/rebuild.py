"""A belief from what is known now, for when no position is left that explains all that was seen.

What is known: our pieces and what stands on the seen squares; which squares must be occupied and
which must not; which enemy pieces there were and which of them we captured. The other enemy pieces
are drawn at random, half of the time near to where they were last believed to be. Each position
drawn explains the present observation, unless that is impossible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.fit import REQUIREMENT_WORDS, requirements
from obscuro.belief.placement import (
    ANYHOW,
    BOARD_OF_KIND,
    DARK_BISHOP,
    KINDS,
    KING_KIND,
    LENIENT,
    LIGHT_BISHOP,
    PAWN_KIND,
    STRICT,
    draw_positions,
)
from obscuro.board.layout import (
    ALL,
    BACK_RANKS,
    CASTLING_SHIFT,
    EN_PASSANT,
    EN_PASSANT_SHIFT,
    KIND_SHIFT,
    KINGS,
    PAWNS,
    QUEENS,
    STATE,
    WHITE,
    WORDS,
)
from obscuro.board.position import hash_positions, move_squares
from obscuro.board.tables import TABLES
from obscuro.fog.observation import Observation

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

DRAWS = 16_384  # positions to draw, if the belief may hold as many
ATTEMPTS = 4  # draws to try for each

DARK_SQUARES = 0xAA55AA55AA55AA55
_OWN_RIGHTS = (0b0011, 0b1100)  # of White, of Black
_COLOUR = {LIGHT_BISHOP: ~DARK_SQUARES & int(ALL), DARK_BISHOP: DARK_SQUARES}


class ContradictionError(ValueError):
    """An observation that nothing can be made of: our king is not in it."""


class Rebuilt(NamedTuple):
    """Positions drawn, and how well they do."""

    positions: Words  # [n, 8] each once
    level: int  # STRICT, LENIENT or ANYHOW


def census(words: Words, colour: int) -> Counts:
    """Number of pieces of each kind that `colour` (0 = White) has in a position: int64[KINDS]."""
    white = int(words[WHITE])
    mask = white if colour == 0 else ~white
    counts = np.zeros(KINDS, dtype=np.int64)
    for kind in range(KINDS):
        board = int(words[BOARD_OF_KIND[kind]]) & mask & _COLOUR.get(kind, int(ALL))
        counts[kind] = board.bit_count()
    return counts


def captured(words: Words, move: int) -> Counts:
    """What a move captures in a position, as a census."""
    origin, target, _ = move_squares(move)
    mover_is_white = int(words[WHITE]) >> origin & 1
    if move >> int(KIND_SHIFT) == EN_PASSANT:
        target += -8 if mover_is_white else 8
    only_there = words & np.uint64(1 << target)
    return census(only_there, 1 if mover_is_white else 0)


def hidden_pieces(remaining: Counts, seen: Counts) -> Counts:
    """How many enemy pieces of each kind must stand where we do not see: int64[KINDS].

    remaining: the first census less what was captured, which goes below zero where a promoted
    piece was captured; seen: a census. There are no more promotions than it takes to explain them.
    """
    surplus = seen - remaining
    surplus[PAWN_KIND] = surplus[KING_KIND] = 0
    hidden: Counts = np.maximum(remaining - seen, 0)
    promoted = int(np.maximum(surplus, 0).sum())
    hidden[PAWN_KIND] = max(0, int(remaining[PAWN_KIND] - seen[PAWN_KIND]) - promoted)
    hidden[KING_KIND] = 1 - seen[KING_KIND]
    return hidden


def rebuild(
    observation: Observation,
    side: int,
    to_move: int,
    remaining: Counts,
    earlier: Words,
    vacated: int,
    pushed: int,
    limit: int,
    rng: np.random.Generator,
) -> Rebuilt:
    """Draw at most `limit` positions.

    observation: of `side`; to_move: whose turn it is; remaining: see `hidden_pieces`; earlier:
    uint64[m, 8], positions that were believed in before the last moves, m ≥ 1; vacated: squares
    that our move has just shown to be empty, as a mask; pushed: the square where a pawn of ours has
    just arrived by a double push, or 0.

    Raises ContradictionError if our king is not in the observation.
    """
    base, tidied = _known(observation, side, to_move)
    observed = observation.words()
    needed = np.zeros(REQUIREMENT_WORDS, dtype=np.uint64)
    requirements(TABLES, observed, side, needed)
    hidden = hidden_pieces(remaining, census(base, 1 - side))
    mask, blocked, free_of_enemies = int(needed[0]), needed[9], int(needed[10])
    vacated |= _just_left(base)
    allowed = _allowed_squares(~(mask | free_of_enemies | vacated) & int(ALL))
    rights = np.array(
        [
            int(earlier[0, STATE]) & _OWN_RIGHTS[side] << int(CASTLING_SHIFT),
            int(np.bitwise_or.reduce(earlier[:, STATE]))
            & _OWN_RIGHTS[1 - side] << int(CASTLING_SHIFT),
        ],
        dtype=np.uint64,
    )
    random = rng.integers(1 << 64, size=1, dtype=np.uint64)
    out = np.empty((min(limit, DRAWS), WORDS), dtype=np.uint64)
    for level in (STRICT, LENIENT, ANYHOW):
        if level < ANYHOW and (tidied or not needed[11]):
            continue
        count = draw_positions(
            TABLES,
            base,
            side,
            observed,
            hidden,
            allowed,
            blocked,
            rights,
            np.uint64(pushed),
            earlier,
            ATTEMPTS * len(out),
            level,
            random,
            out,
        )
        if count:
            return Rebuilt(_each_once(out[:count]), level)
    raise ContradictionError("the observation leaves no place for the other side's king")


def _each_once(positions: Words) -> Words:
    """The positions without repeats, in their order."""
    hashes = np.empty(len(positions), dtype=np.uint64)
    hash_positions(positions, hashes)
    first = np.unique(hashes, return_index=True)[1]
    first.sort()
    return positions[first]


def _known(observation: Observation, side: int, to_move: int) -> tuple[Words, bool]:
    """What is certain, as a position, and whether it had to be tidied to make sense.

    Tidying takes a piece from under another one, and makes queens of pawns on the back ranks and
    of a side's second king.
    """
    words = np.zeros(WORDS, dtype=np.uint64)
    taken = 0
    for board, bits in enumerate(observation.boards[:WHITE]):
        words[board] = bits & observation.seen & ~taken
        taken |= bits & observation.seen
    white = observation.boards[WHITE] & taken
    words[WHITE] = white
    surplus = int(words[PAWNS] & BACK_RANKS)
    for mask in (white, ~white):
        kings = int(words[KINGS]) & mask
        surplus |= kings & (kings - 1)
    words[PAWNS] &= np.uint64(~surplus & int(ALL))
    words[KINGS] &= np.uint64(~surplus & int(ALL))
    words[QUEENS] |= np.uint64(surplus)
    if not int(words[KINGS]) & (white if side == 0 else ~white):
        raise ContradictionError("our king is not in the observation")
    words[STATE] = to_move
    en_passant = observation.en_passant or 0
    if to_move == side and _is_en_passant(words, en_passant, side):
        words[STATE] |= np.uint64(en_passant << int(EN_PASSANT_SHIFT))
    told = (*observation.boards, en_passant << int(EN_PASSANT_SHIFT) | to_move)
    return words, tuple(int(word) for word in words) != told


def _is_en_passant(words: Words, square: int, side: int) -> bool:
    """Whether the pieces are such that `side` might capture en passant on the square."""
    if square // 8 != (5 if side == 0 else 2):
        return False
    pawns, white = int(words[PAWNS]), int(words[WHITE])
    own, enemy = (white, ~white) if side == 0 else (~white, white)
    victim = square + (-8 if side == 0 else 8)
    occupied = int(np.bitwise_or.reduce(words[:WHITE]))
    return bool(
        not occupied >> square & 1
        and (pawns & enemy) >> victim & 1
        and int(TABLES.pawn[1 - side, square]) & pawns & own
    )


def _just_left(base: Words) -> int:
    """The square that a pawn has just left by a double push that we may answer en passant."""
    en_passant = int(base[STATE]) >> int(EN_PASSANT_SHIFT)
    if not en_passant:
        return 0
    return 1 << (en_passant + 8 if base[STATE] & np.uint64(1) == 0 else en_passant - 8)


def _allowed_squares(squares: int) -> Words:
    """Where a hidden piece of each kind may stand, out of `squares`: uint64[KINDS]."""
    allowed = [squares & _COLOUR.get(kind, int(ALL)) for kind in range(KINDS)]
    allowed[PAWN_KIND] &= ~int(BACK_RANKS)
    return np.array(allowed, dtype=np.uint64)
