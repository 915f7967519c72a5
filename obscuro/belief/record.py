"""How a position of a belief is stored: in 24 bytes, which hold what our side does not know.

In all positions of a belief the side to move is the same, and so are our pieces, castling rights
and en passant square. They are kept once, as `known`. A record holds only the other side's pieces,
as three bitboards, its planes. A square's bits in the planes (A, B, C) say what stands there:

    pawn C    knight B    bishop BC    king A    rook AC    rook that may castle ABC    queen AB

So the other side's castling rights are part of its rooks, from any start of Chess960. Its en
passant square follows from its pawns and our last move; ours follows from what we saw.
"""

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.rules.castling import OWN_CASTLING, castling_after, castling_of, castling_rooks
from obscuro.rules.layout import (
    ALL,
    BISHOPS,
    CASTLING_BITS,
    CASTLING_SHIFT,
    DOUBLE_PUSH,
    EN_PASSANT_SHIFT,
    FILES_SHIFT,
    KIND_SHIFT,
    KINGS,
    KNIGHTS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    QUEENS,
    ROOKS,
    SQUARE_BITS,
    STATE,
    WHITE,
    WORDS,
)
from obscuro.rules.make import make_move
from obscuro.rules.moves import pieces_of
from obscuro.rules.observation import Observation
from obscuro.rules.position import load, move_squares
from obscuro.rules.vision import OBSERVATION_WORDS, observation_words

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]

RECORD_WORDS = 3

# `known` holds our pieces (six boards), the state word without the other side's rights and with our
# en passant square only, our side, and the square that our pawn has just passed over (0 = none).
KNOWN_WORDS = 9
OUR_STATE, OUR_SIDE, PASSED = 6, 7, 8

_ZERO = np.uint64(0)
_EIGHT = np.uint64(8)
_CORNERS = np.uint64(0x8100000000000081)
_KING_HOMES = np.uint64(0x1000000000000010)  # e1, e8
_BACK_RANKS = (0xFF, 0xFF << 56)


@kernel(forceinline=True)
def castles_otherwise(a, b, c):
    """Whether a record has a castling right, and no such as in ordinary chess."""
    return ((a & b & c) & ~_CORNERS) | (a & ~(b | c) & ~_KING_HOMES) != 0


@kernel(forceinline=True)
def pack(pos, side):
    """The record (A, B, C) of a position: 8 words, as `side` does not know it."""
    enemy = pieces_of(pos, 1 - side)
    rights = (pos[STATE] >> CASTLING_SHIFT) & CASTLING_BITS
    castlers = _ZERO
    if pos[STATE] >> FILES_SHIFT:
        castlers = castling_rooks(pos[STATE], 1 - side)
    elif side == 0:
        castlers |= (rights & np.uint64(4)) << np.uint64(61)  # h8
        castlers |= (rights & np.uint64(8)) << np.uint64(53)  # a8
    else:
        castlers |= (rights & np.uint64(1)) << np.uint64(7)  # h1
        castlers |= (rights & np.uint64(2)) >> np.uint64(1)  # a1
    rooks = pos[ROOKS] & enemy
    a = (pos[KINGS] | pos[QUEENS] | rooks) & enemy
    b = (pos[KNIGHTS] | pos[BISHOPS] | pos[QUEENS] | (castlers & rooks)) & enemy
    c = (pos[PAWNS] | pos[BISHOPS] | rooks) & enemy
    return a, b, c


@kernel(forceinline=True)
def unpack(known, a, b, c):
    """The position, 8 words, that a record (A, B, C) stands for; known: uint64[KNOWN_WORDS]."""
    side = known[OUR_SIDE]
    own = known[0] | known[1] | known[2] | known[3] | known[4] | known[5]
    pawns = c & ~(a | b)
    castlers = a & b & c
    enemy = a | b | c
    state = known[OUR_STATE]
    en_passant = (state >> EN_PASSANT_SHIFT) & SQUARE_BITS
    if en_passant:  # ours: the pawn that may be captured is there unless the belief was rebuilt
        bit = ONE << en_passant
        victim = bit >> _EIGHT if side == 0 else bit << _EIGHT
        if not pawns & victim or (own | enemy) & bit:
            state &= ~(SQUARE_BITS << EN_PASSANT_SHIFT)
    passed = known[PASSED]
    if passed:
        bit = ONE << passed
        victim = bit << _EIGHT if side == 0 else bit >> _EIGHT
        capturers = pawns & (((victim & NOT_FILE_A) >> ONE) | ((victim & NOT_FILE_H) << ONE))
        if capturers and known[PAWNS] & victim and not (own | enemy) & bit:
            state |= passed << EN_PASSANT_SHIFT
    if castlers:
        if castles_otherwise(a, b, c):
            rights = castling_of(a & ~(b | c), castlers, 1 - np.int64(side)) >> CASTLING_SHIFT
        elif side == 0:
            rights = (castlers >> np.uint64(61)) & np.uint64(4)
            rights |= (castlers >> np.uint64(53)) & np.uint64(8)
        else:
            rights = (castlers >> np.uint64(7)) & ONE
            rights |= (castlers & ONE) << ONE
        state |= rights << CASTLING_SHIFT
    return (
        known[0] | pawns,
        known[1] | (b & ~(a | c)),
        known[2] | (b & c & ~a),
        known[3] | (a & c),
        known[4] | (a & b & ~c),
        known[5] | (a & ~(b | c)),
        own if side == 0 else enemy,
        state,
    )


@kernel
def pack_rows(positions, side, records):
    """Write the record of each row of uint64[n, 8] to uint64[n, 3]."""
    for row in range(positions.shape[0]):
        a, b, c = pack(load(positions, row), side)
        records[row, 0] = a
        records[row, 1] = b
        records[row, 2] = c


@kernel
def unpack_rows(known, records, positions):
    """Write the position of each row of uint64[n, 3] to uint64[n, 8]."""
    for row in range(records.shape[0]):
        pos = unpack(known, records[row, 0], records[row, 1], records[row, 2])
        for word in range(WORDS):
            positions[row, word] = pos[word]


def packed(positions: Words, side: int) -> Records:
    """The records uint64[n, 3] of positions uint64[n, 8]."""
    records = np.empty((len(positions), RECORD_WORDS), dtype=np.uint64)
    pack_rows(positions, side, records)
    return records


def unpacked(known: Words, records: Records) -> Words:
    """The positions uint64[n, 8] of records uint64[n, 3]."""
    positions = np.empty((len(records), WORDS), dtype=np.uint64)
    unpack_rows(known, records, positions)
    return positions


def known_of(words: Words, side: int) -> Words:
    """What `side` knows of a position uint64[8] by itself: uint64[KNOWN_WORDS].

    The square that our pawn has just passed over is in it only if the pawn can be captured there.
    """
    state = int(words[STATE])
    en_passant = state >> int(EN_PASSANT_SHIFT) & int(SQUARE_BITS)
    ours = state & 1 == side
    white = int(words[WHITE])
    own = white if side == 0 else ~white & 0xFFFFFFFFFFFFFFFF
    known = np.zeros(KNOWN_WORDS, dtype=np.uint64)
    known[:WHITE] = words[:WHITE] & np.uint64(own)
    known[OUR_STATE] = (
        (state & 1)
        | state & OWN_CASTLING[side]
        | (en_passant if ours else 0) << int(EN_PASSANT_SHIFT)
    )
    known[OUR_SIDE] = side
    known[PASSED] = 0 if ours else en_passant
    return known


def known_after_own_move(known: Words, move: int) -> Words:
    """What is known after our own move, a move word: uint64[KNOWN_WORDS], as `known` before it."""
    alone = unpacked(known, np.zeros((1, RECORD_WORDS), dtype=np.uint64))[0]
    side = int(known[OUR_SIDE])
    after = known_of(np.array(make_move(tuple(alone), move), dtype=np.uint64), side)
    if move >> int(KIND_SHIFT) == DOUBLE_PUSH:
        origin, target, _ = move_squares(move)
        after[PASSED] = (origin + target) // 2
    return after


def known_after_other_move(known: Words, observation: Observation) -> Words | None:
    """What is known after a move of the other side: uint64[KNOWN_WORDS], as `known` before it.

    The move may have captured one of our pieces. None if no move explains what became of our
    pieces.
    """
    side = int(known[OUR_SIDE])
    own = observation.pieces(side)
    before = int(np.bitwise_or.reduce(known[:WHITE]))
    lost = before & ~own
    boards = np.array([board & own for board in observation.boards[:WHITE]], dtype=np.uint64)
    if lost & (lost - 1) or not (boards == known[:WHITE] & np.uint64(own)).all() or own & ~before:
        return None
    castling = int(castling_after(known[OUR_STATE], np.uint64(lost)))
    after = np.zeros(KNOWN_WORDS, dtype=np.uint64)
    after[:WHITE] = boards
    after[OUR_STATE] = side | castling | (observation.en_passant or 0) << int(EN_PASSANT_SHIFT)
    after[OUR_SIDE] = side
    return after


def shows_own_pieces(known: Words, observation: Observation) -> bool:
    """Whether an observation shows our pieces as we know them. known: uint64[KNOWN_WORDS]."""
    own = np.uint64(observation.pieces(int(known[OUR_SIDE])))
    boards = np.array(observation.boards[:WHITE], dtype=np.uint64) & own
    return bool((boards == known[:WHITE]).all())


# -- questions about all records of a belief ------------------------------------------------------


@kernel
def find(records, record):
    """The first row of uint64[n, 3] that is equal to uint64[3], or -1."""
    for row in range(records.shape[0]):
        if (
            records[row, 0] == record[0]
            and records[row, 1] == record[1]
            and records[row, 2] == record[2]
        ):
            return row
    return -1


@kernel
def common_king(records):
    """Squares where the other side has a king in every record, as a uint64 mask."""
    common = ALL
    for row in range(records.shape[0]):
        common &= records[row, 0] & ~(records[row, 1] | records[row, 2])
        if common == 0:
            break
    return common


@kernel
def common_observation(tables, known, records, side, observed):
    """Whether `side` observes the same in all records; written to `observed`: uint64[9].

    known: see `record`.
    """
    for row in range(records.shape[0]):
        pos = unpack(known, records[row, 0], records[row, 1], records[row, 2])
        actual = observation_words(tables, pos, side)
        for word in range(OBSERVATION_WORDS):
            if row == 0:
                observed[word] = actual[word]
            elif observed[word] != actual[word]:
                return False
    return records.shape[0] > 0


_HOMES = ((0x10, 0x81), (0x10 << 56, 0x81 << 56))  # king and rooks of White, of Black


def only_record(
    known: Words, observation: Observation, enemies: int, *, ordinary: bool = True
) -> Records | None:
    """The record uint64[1, 3] of the one position that an observation allows; else None.

    There is only one if our side sees all pieces of the other side, and none of them may still
    castle. What they did before does not matter then, since a position has no history.

    known: uint64[KNOWN_WORDS], see `record`. enemies: the number of pieces that the other side has.
    ordinary: whether it castles as in ordinary chess, if it may.
    """
    side = int(known[OUR_SIDE])
    enemy = observation.pieces(1 - side)
    if enemy.bit_count() != enemies:
        return None
    pawns, knights, bishops, rooks, queens, kings = (
        board & enemy for board in observation.boards[PAWNS:WHITE]
    )
    king, corners = _HOMES[1 - side] if ordinary else (_BACK_RANKS[1 - side],) * 2
    if observation.boards[KINGS] & king and observation.boards[ROOKS] & enemy & corners:
        return None
    record = (kings | queens | rooks, knights | bishops | queens, pawns | bishops | rooks)
    return np.array(record, dtype=np.uint64).reshape(1, RECORD_WORDS)
