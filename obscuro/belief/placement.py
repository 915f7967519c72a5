"""Placing hidden enemy pieces on squares that we do not see, and checking the position.

A pawn changes its file only by capturing, one file for each rank that it advances. So pawns can
stand on given squares only if each has a home of its own from which it can have come. All together
they have captured as often as they have changed files.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.fit import observes
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.castling import OWN_CASTLING, castling_at_home, outermost_castling
from obscuro.rules.layout import (
    ALL,
    EN_PASSANT_SHIFT,
    KINGS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    ROOKS,
    STATE,
    WHITE,
)
from obscuro.rules.moves import has_move, occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import load, position_hash, store

# Kinds of pieces; bishops of light and of dark squares are two kinds.
KINDS = 7
PAWN_KIND, KNIGHT_KIND, LIGHT_BISHOP, DARK_BISHOP, ROOK_KIND, QUEEN_KIND, KING_KIND = range(KINDS)
BOARD_OF_KIND = (0, 1, 2, 2, 3, 4, 5)

DARK_SQUARES = np.uint64(0xAA55AA55AA55AA55)
SQUARES_OF_KIND = (ALL, ALL, ~DARK_SQUARES, DARK_SQUARES, ALL, ALL, ALL)

STRICT, LENIENT, ANYHOW = range(3)

MOST_HOMES = 8  # if more pawns started, nothing is ruled out
IMPOSSIBLE = 127  # captures

STRUCTURE = 16  # attempts in the time that it takes to rule out a pawn structure

UNKNOWN = -1

_ZERO = np.uint64(0)
_EIGHT = np.uint64(8)
_STRUCTURES = 1024  # pawn structures remembered
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_SHIFT = np.uint64(54)  # leaves the bits that index the structures

Words = npt.NDArray[np.uint64]


class Known(NamedTuple):
    """What is known now. Masks are uint64."""

    side: int  # ours: 0 = White
    base: Words  # [8] what is certain, in `STATE` the side to move and our en passant square
    observed: Words  # [9]
    seen: Words  # [KINDS] the enemy pieces in `base`
    numbers: npt.NDArray[np.int64]  # [KINDS] of these
    allowed: Words  # [KINDS] where hidden enemy pieces may stand
    occupied: np.uint64  # unseen squares on which enemy pieces stand
    settled: np.uint64  # unseen squares that we saw before the last move
    remaining: npt.NDArray[np.int64]  # [KINDS] see `rebuild.hidden_pieces`
    rights: Words  # [2] castling rights in the state word: ours, and those that the enemy may have
    pushed: np.uint64  # the square where our pawn has just arrived by a double push, or 0
    homes: np.uint64  # where the enemy pawns started
    captures: int  # how often the enemy has captured, or `UNKNOWN`
    # For castling, in the state word's places; 0 in ordinary chess. Bit 0: the enemy's are unknown,
    # and its outermost rooks may castle.
    files: np.uint64


class Memory(NamedTuple):
    """What the kernels write while they collect positions."""

    hashes: Words  # [2^k] of the positions tried, in a table with linear probing; 0 = free
    structures: Words  # [_STRUCTURES] pawns
    captures: npt.NDArray[np.int8]  # [_STRUCTURES] what they take: see `fewest_captures`
    costs: npt.NDArray[np.int8]  # [2^MOST_HOMES] scratch


def new_memory(count: int) -> Memory:
    """Memory for trying `count` positions."""
    return Memory(
        np.zeros(1 << max(4, (2 * count).bit_length()), dtype=np.uint64),
        np.zeros(_STRUCTURES, dtype=np.uint64),
        np.zeros(_STRUCTURES, dtype=np.int8),
        np.empty(1 << MOST_HOMES, dtype=np.int8),
    )


@kernel
def split(pos, side, boards):
    """Write the pieces of the other side than `side` by their kinds: uint64[KINDS]."""
    enemies = occupied_squares(pos) ^ pieces_of(pos, side)
    for kind in range(KINDS):
        boards[kind] = pos[BOARD_OF_KIND[kind]] & enemies & SQUARES_OF_KIND[kind]


@kernel
def count_pieces(positions, side, without, counts):
    """Count the pieces of the other side than `side` in positions uint64[n, 8], by kinds.

    without: squares to leave out, as a uint64 mask; counts: int64[n, KINDS], written.
    """
    boards = np.empty(KINDS, dtype=np.uint64)
    for row in range(positions.shape[0]):
        split(load(positions, row), side, boards)
        for kind in range(KINDS):
            counts[row, kind] = popcount(boards[kind] & ~without)


@kernel
def count_hidden(remaining, seen, there, hidden):
    """How many enemy pieces of each kind must stand where we do not see.

    All are int64[KINDS]. remaining: the first census less what was captured; it is negative if a
    promoted piece was captured. seen: a census. there: pieces that there may be by promotions that
    nothing else shows. hidden: written. It assumes no more promotions than `there` and `seen` need.
    """
    pawns = remaining[PAWN_KIND] - seen[PAWN_KIND]
    for believed in (True, False):
        promoted = 0
        for kind in range(1, KING_KIND):
            least = max(seen[kind], 0)
            if believed:
                least = max(least, there[kind])
            surplus = max(least - remaining[kind], 0)
            hidden[kind] = remaining[kind] + surplus - seen[kind]
            promoted += surplus
        if promoted <= pawns:
            break
    hidden[PAWN_KIND] = max(pawns - promoted, 0)
    hidden[KING_KIND] = max(1 - seen[KING_KIND], 0)


@kernel
def rights_at_home(pos):
    """Castling rights (K Q k q = 1 2 4 8) for which king and rook stand at home, as uint64."""
    rights = _ZERO
    white_kings = pos[KINGS] & pos[WHITE]
    white_rooks = pos[ROOKS] & pos[WHITE]
    black_kings = pos[KINGS] & ~pos[WHITE]
    black_rooks = pos[ROOKS] & ~pos[WHITE]
    if white_kings >> np.uint64(4) & ONE:
        rights |= white_rooks >> np.uint64(7) & ONE
        rights |= (white_rooks & ONE) << np.uint64(1)
    if black_kings >> np.uint64(60) & ONE:
        rights |= (black_rooks >> np.uint64(63) & ONE) << np.uint64(2)
        rights |= (black_rooks >> np.uint64(56) & ONE) << np.uint64(3)
    return rights


@kernel
def _state(pos, side, rights, files, pushed):
    """The state word with those of the rights that can exist, and the en passant square.

    side: ours. files: see `Known`. pushed: the square where our pawn should have arrived by a
    double push just now, or 0.
    """
    state = pos[STATE] & ~(np.uint64(15) << ONE)
    if files == _ZERO:
        state |= rights & rights_at_home(pos) << ONE
    else:
        castling = castling_at_home(pos, rights | files & ~ONE)
        if files & ONE:
            castling &= np.uint64(OWN_CASTLING[0]) if side == 0 else np.uint64(OWN_CASTLING[1])
            castling |= outermost_castling(pos, 1 - side, rights)
        state |= castling
    if pushed:
        bit = ONE << pushed
        own_side = 1 - side_to_move(pos)
        passed = pushed - _EIGHT if own_side == 0 else pushed + _EIGHT
        beside = ((bit & NOT_FILE_A) >> ONE) | ((bit & NOT_FILE_H) << ONE)
        own = pieces_of(pos, own_side)
        occupied = occupied_squares(pos)
        if (
            pos[PAWNS] & own & bit
            and pos[PAWNS] & (occupied ^ own) & beside
            and not occupied & (ONE << passed)
        ):
            state |= passed << EN_PASSANT_SHIFT
    return state


@kernel
def pawns_can_stand(known, hidden_pawns, memory):
    """Whether the enemy's captures explain where its pawns stand."""
    if known.captures == UNKNOWN:
        return True
    pawns = known.seen[PAWN_KIND] | hidden_pawns
    slot = np.int64((pawns * _MIX) >> _MIX_SHIFT)
    if memory.structures[slot] != pawns:
        captures = fewest_captures(known.homes, pawns, known.side == 1, memory.costs)
        memory.structures[slot] = pawns
        memory.captures[slot] = captures
    return memory.captures[slot] <= known.captures


@kernel
def _is_new(hashes, hash_):
    """Put a hash into the table; return whether it was not there yet."""
    mask = np.uint64(hashes.shape[0] - 1)
    slot = hash_ & mask
    while hashes[slot] != _ZERO:
        if hashes[slot] == hash_:
            return False
        slot = (slot + ONE) & mask
    hashes[slot] = hash_
    return True


@kernel
def add_position(tables, known, level, hidden, enemy_rights, memory, out, count):
    """Append the position with these hidden pieces to `out`, if it fits and is new.

    level: `STRICT`: all must fit; `LENIENT`: the numbers of pieces and pawns may differ; `ANYHOW`:
    what is observed may differ too. hidden: uint64[KINDS]. enemy_rights: castling rights in the
    state word. out: uint64[n, 8], with `count` positions so far. Returns how many there are then.
    """
    base = known.base
    bishops = hidden[LIGHT_BISHOP] | hidden[DARK_BISHOP]
    enemies = _ZERO
    for kind in range(KINDS):
        enemies |= hidden[kind]
    pos = (
        base[0] | hidden[PAWN_KIND],
        base[1] | hidden[KNIGHT_KIND],
        base[2] | bishops,
        base[3] | hidden[ROOK_KIND],
        base[4] | hidden[QUEEN_KIND],
        base[5] | hidden[KING_KIND],
        base[6] | enemies if known.side == 1 else base[6],
        base[7],
    )
    rights = known.rights[0] | enemy_rights & known.rights[1]
    state = _state(pos, known.side, rights, known.files, known.pushed)
    pos = (pos[0], pos[1], pos[2], pos[3], pos[4], pos[5], pos[6], state)
    if level == STRICT and known.occupied & ~enemies:
        return count
    if not _is_new(memory.hashes, position_hash(pos)):
        return count
    if level == STRICT and not pawns_can_stand(known, hidden[PAWN_KIND], memory):
        return count
    if level != ANYHOW:
        if side_to_move(pos) != known.side and not has_move(tables, pos):
            return count
        if not observes(tables, pos, known.side, known.observed):
            return count
    store(out, count, pos)
    return count + 1


@kernel
def fewest_captures(homes, pawns, white, costs):
    """The least number of captures that takes pawns to where they stand, or `IMPOSSIBLE`.

    homes, pawns: uint64 masks, where the pawns of a colour started and where those that are left
    stand; white: whether they are White's; costs: int8[2 ** MOST_HOMES], scratch.
    """
    count = popcount(homes)
    if count > MOST_HOMES:
        return 0
    if popcount(pawns) > count:
        return IMPOSSIBLE
    # Homes and pawns are taken in order of their squares; a set of homes, as an index of `costs`,
    # stands for the assignments of its homes to the first pawns.
    if pawns == 0:
        return 0
    full = 1 << count
    for chosen in range(full):
        costs[chosen] = IMPOSSIBLE
    costs[0] = 0
    best = IMPOSSIBLE
    last = popcount(pawns) - 1
    for number in range(last + 1):
        pawn = lowest_square(pawns)
        pawns &= pawns - ONE
        for chosen in range(full):
            cost = costs[chosen]
            if cost == IMPOSSIBLE or popcount(np.uint64(chosen)) != number:
                continue
            left = homes
            for index in range(count):
                home = lowest_square(left)
                left &= left - ONE
                if chosen >> index & 1:
                    continue
                files = abs((pawn & 7) - (home & 7))
                ranks = (pawn >> 3) - (home >> 3)
                if (ranks if white else -ranks) < files:
                    continue
                more = chosen | 1 << index
                costs[more] = min(costs[more], cost + files)
                if number == last:
                    best = min(best, cost + files)
    return best


@kernel
def add_all(tables, known, wanted, attempts, memory, out, count):
    """Write all positions with these numbers of hidden pieces that are not in `out` yet.

    wanted: int64[KINDS], the number of hidden pieces of each kind. attempts: the greatest number of
    positions to try. out: uint64[n, 8], with `count` positions so far. Returns how many there are
    then, and the attempts left. If `out` is full or no attempt is left, there may be more
    positions.
    """
    number = wanted.sum()
    kinds = np.empty(number, dtype=np.int64)
    left = np.zeros(number + 1, dtype=np.uint64)  # squares still to be tried, for each piece
    taken = np.zeros(number + 1, dtype=np.uint64)  # the square of each piece
    piece = 0
    for kind in range(KINDS):  # pawns are placed first
        for _ in range(wanted[kind]):
            kinds[piece] = kind
            piece += 1
    if number:
        left[0] = known.allowed[kinds[0]]
    hidden = np.zeros(KINDS, dtype=np.uint64)
    occupied = _ZERO
    piece = 0
    while piece >= 0 and attempts > 0 and count < out.shape[0]:
        if piece == wanted[PAWN_KIND] and not pawns_can_stand(known, hidden[PAWN_KIND], memory):
            attempts -= STRUCTURE
            piece -= 1
            continue
        if piece == number:  # all stand
            rights = known.rights[1]
            while True:  # for each set of castling rights
                count = add_position(tables, known, STRICT, hidden, rights, memory, out, count)
                attempts -= 1
                if rights == _ZERO or count == out.shape[0]:
                    break
                rights = (rights - ONE) & known.rights[1]
            piece -= 1
            continue
        kind = kinds[piece]
        hidden[kind] ^= taken[piece]  # take it up again
        occupied ^= taken[piece]
        taken[piece] = _ZERO
        squares = left[piece] & ~occupied
        required = known.occupied & ~occupied
        if popcount(required) >= number - piece:  # no piece may go elsewhere
            squares &= required if popcount(required) == number - piece else _ZERO
        if squares == _ZERO:
            attempts -= 1
            piece -= 1
            continue
        bit = ONE << np.uint64(lowest_square(squares))
        left[piece] = squares & (squares - ONE)
        taken[piece] = bit
        hidden[kind] ^= bit
        occupied ^= bit
        piece += 1
        if piece < number:
            # Pieces of a kind go on rising squares, so that each set of squares comes once.
            same = kinds[piece] == kind
            left[piece] = left[piece - 1] if same else known.allowed[kinds[piece]]
    return count, attempts
