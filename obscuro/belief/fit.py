"""Whether a position fits an observation, decided without computing what is seen in it.

What a side sees follows from its own pieces and from what stands on the squares that it sees. So a
position fits an observation if and only if

- the seen squares hold what was observed, and no own piece stands elsewhere,
- each push of an own pawn that was not seen is blocked by something, and so is castling,
- no diagonal of an own pawn that was not seen holds an enemy piece,
- the square for an en passant capture, or its absence, is the observed one,

provided that the observation agrees with itself: under these conditions the side must see just the
squares that it saw. `requirements` checks that once for each observation.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.rules.castling import castling_blocked
from obscuro.rules.layout import (
    KINGS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    RANK_3,
    RANK_6,
    WHITE,
)
from obscuro.rules.moves import occupied_squares, pieces_of
from obscuro.rules.observation import Observation
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import (
    EN_PASSANT_WORD,
    OBSERVATION_WORDS,
    SEEN,
    observation_words,
    vision,
)

Words = npt.NDArray[np.uint64]

REQUIREMENT_WORDS = 12
POSSIBLE = 11  # of these words

_ZERO = np.uint64(0)
_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)


class Requirements(NamedTuple):
    """What an observation asks of a position, each a uint64; masks unless said otherwise."""

    seen: np.uint64
    pawns: np.uint64  # this and the next six: piece boards of both colours, within `seen`
    knights: np.uint64
    bishops: np.uint64
    rooks: np.uint64
    queens: np.uint64
    kings: np.uint64
    white: np.uint64
    en_passant: np.uint64  # a square: where the observer can capture en passant; 0 = nowhere
    blocked: np.uint64  # unseen squares on which something stands
    no_enemy: np.uint64  # unseen squares on which no enemy piece stands
    possible: np.uint64  # 1 if some position may fit, 0 if the observation contradicts itself


@kernel(forceinline=True)
def requirements(tables, observed, side, castling, words):
    """Write what the observation uint64[9] of `side` asks of a position.

    castling: its own rights and files in Chess960, in the state word's places; 0 in ordinary chess.
    words: uint64[REQUIREMENT_WORDS], written: the fields of `Requirements` in their order.
    """
    seen = observed[SEEN]
    words[0] = seen
    for index in range(1, 8):
        words[index] = observed[index] & seen
    words[8] = observed[EN_PASSANT_WORD]
    boards = (
        words[1],
        words[2],
        words[3],
        words[4],
        words[5],
        words[6],
        words[7],
        np.uint64(side ^ 1) | castling,  # the other side to move: no en passant for the observer
    )
    occupied = occupied_squares(boards)
    own = pieces_of(boards, side)
    pawns = boards[PAWNS] & own
    empty = seen & ~occupied
    if side == 0:
        single = pawns << _EIGHT
        double = (single & empty & RANK_3) << _EIGHT
        diagonals = ((pawns & NOT_FILE_A) << _SEVEN) | ((pawns & NOT_FILE_H) << _NINE)
    else:
        single = pawns >> _EIGHT
        double = (single & empty & RANK_6) >> _EIGHT
        diagonals = ((pawns & NOT_FILE_H) >> _SEVEN) | ((pawns & NOT_FILE_A) >> _NINE)
    blocked = (single | double) & ~seen
    if castling:
        blocked |= castling_blocked(castling, side, occupied, seen)
    words[9] = blocked
    words[10] = diagonals & ~seen

    # An example: what was observed, with enemy knights as blockers. In all others the side sees the
    # same.
    example = (
        boards[0],
        boards[1] | blocked,
        boards[2],
        boards[3],
        boards[4],
        boards[5],
        boards[6] if side == 0 else boards[6] | blocked,
        boards[7],
    )
    en_passant = observed[EN_PASSANT_WORD]
    also_seen = _ZERO
    if en_passant:
        also_seen = ONE << en_passant
        also_seen |= also_seen >> _EIGHT if side == 0 else also_seen << _EIGHT
    possible = (vision(tables, example, side) | also_seen) == seen and own & boards[KINGS] != 0
    words[11] = np.uint64(possible)


def requirements_of(
    observation: Observation | None, side: int, castling: int = 0
) -> tuple[Words, Words]:
    """The words of an observation of `side`, uint64[9], and its `requirements`.

    castling: as there. None, where `side` was not told what it sees, gives zeros.
    """
    observed = np.zeros(OBSERVATION_WORDS, dtype=np.uint64)
    required = np.zeros(REQUIREMENT_WORDS, dtype=np.uint64)
    if observation is not None:
        observed = observation.words()
        requirements(TABLES, observed, side, np.uint64(castling), required)
    return observed, required


def implied_en_passant(
    observation: Observation, side: int, castling: int = 0
) -> tuple[Observation, int]:
    """What an observation of `side` says of en passant where the referee does not tell it all.

    Returns the observation by the usual rules that says the same, and a mask: where a pawn may have
    arrived by a double push, unseen. If a seen square can only be seen because a capture en passant
    would end there, the victim stands beside our pawn. If we see the square anyway, it may stand
    there, or not. castling: see `requirements`.
    """
    if observation.en_passant_told or observation.en_passant is not None:
        return observation, 0
    own = observation.pieces(side)
    pawns = observation.boards[PAWNS] & own
    left, right = int(NOT_FILE_A), int(NOT_FILE_H)
    rank = 0x0000FF0000000000 if side == 0 else 0x0000000000FF0000
    if side == 0:
        targets = ((pawns & left) << 7 | (pawns & right) << 9) & rank
    else:
        targets = ((pawns & right) >> 7 | (pawns & left) >> 9) & rank
    occupied = 0
    for board in observation.boards[:WHITE]:
        occupied |= board
    targets &= observation.seen & ~occupied
    victims = (targets >> 8 if side == 0 else targets << 8) & ~observation.seen
    if requirements_of(observation, side, castling)[1][POSSIBLE]:
        return observation, victims
    while victims:
        victim = victims & -victims
        victims ^= victim
        square = victim.bit_length() - 1 + (8 if side == 0 else -8)
        pawn, n, b, r, q, k, white = observation.boards
        boards = (pawn | victim, n, b, r, q, k, white | victim if side else white)
        seen = observation.seen | victim
        implied = replace(observation, seen=seen, boards=boards, en_passant=square)
        if requirements_of(implied, side, castling)[1][POSSIBLE]:
            return implied, 0
    return observation, 0


@kernel
def observes(tables, pos, side, observed):
    """Whether `side` observes in `pos` what `observed`, uint64[9], says; the naive way."""
    actual = observation_words(tables, pos, side)
    for index in range(OBSERVATION_WORDS):  # noqa: SIM110 - a kernel
        if actual[index] != observed[index]:
            return False
    return True
