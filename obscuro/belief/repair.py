"""Positions that explain what is seen, made of earlier ones by moving as few pieces as possible.

If no position is left, the belief had most often been cut to a sample, and the true position was
not in it. The true position resembles those that were: most pieces stand where they stood in some
of them. So each draw has four steps:

1. It draws an earlier position. One is the likelier the fewer of its pieces contradict what is
  seen.
2. It draws the enemy's move since then, if there was one, in the same way.
3. It puts right what still contradicts. Pieces that we see must have come from somewhere. Pieces
  that are not where they should be must have gone somewhere, most likely within a move or two.
4. In some draws it moves a hidden piece or two to where they stood in other earlier positions.

A few draws begin without a position, and put every hidden piece where it often stood.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.placement import (
    ANYHOW,
    BOARD_OF_KIND,
    KINDS,
    KING_KIND,
    KNIGHT_KIND,
    PAWN_KIND,
    QUEEN_KIND,
    ROOK_KIND,
    SQUARES_OF_KIND,
    STRICT,
    add_position,
    count_hidden,
    split,
)
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.key import mix
from obscuro.rules.layout import MAX_MOVES, NOT_FILE_A, NOT_FILE_H, ONE, STATE
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves, occupied_squares, pieces_of
from obscuro.rules.position import load
from obscuro.rules.tables import bishop_attacks, rook_attacks

# How likely things are, relative to each other. The result hardly depends on these numbers.
EDIT = 0.125  # the factor for each piece that contradicts what is seen
ONE_MOVE, TWO_MOVES, MORE_MOVES = 16.0, 4.0, 1.0  # how far a piece has gone
UNLIKELY = 1e-3  # that a piece left, or came to, a square that we have just seen
ANYWHERE = 0.02  # added to the frequency of a piece on every square

# What is done as a rule, and what after `LONG` draws in a row without a new position.
WIDE = (64, 4)  # one draw in this number begins with no position
STIRRED = (0.5, 0.9)  # share of draws that move one piece more, and of those that move another one
CERTAIN = 0.25  # the weight of moving a piece that never stood elsewhere; 1 if it always did
LONG = 512
PATIENCE = 16_384  # draws in a row without a new position, after which drawing ends

_FILE_A = np.uint64(0x0101010101010101)

_ZERO = np.uint64(0)
_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_NINE = np.uint64(9)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_UNIT = 1.0 / (1 << 53)
_TO_53_BITS = np.uint64(11)


class Earlier(NamedTuple):
    """What was believed before the last moves."""

    positions: npt.NDArray[np.uint64]  # [m, 8] m ≥ 1
    moved: bool  # whether the enemy has moved since
    changed: bool  # whether its move shows on the squares that we saw then
    weights: npt.NDArray[np.float64]  # [m] running sums of how likely each position is: `weigh`
    often: npt.NDArray[np.float64]  # [KINDS, 64] how often a piece stood somewhere: `frequencies`


@kernel
def random_bits(state):
    """The next 64 random bits (splitmix64); state: uint64[1], advanced."""
    state[0] += _STEP
    return mix(state[0])


@kernel
def fraction(state):
    """A random number in [0, 1)."""
    return np.float64(random_bits(state) >> _TO_53_BITS) * _UNIT


@kernel
def random_square(state, squares):
    """One of the squares of a mask that is not empty."""
    for _ in range(np.int64(fraction(state) * popcount(squares))):
        squares &= squares - ONE
    return lowest_square(squares)


@kernel
def edits_to(pos, known):
    """The least number of pieces to move so that the position explains what is seen."""
    enemies = occupied_squares(pos) ^ pieces_of(pos, known.side)
    seen = known.observed[0]
    count = popcount(known.occupied & ~enemies)
    for kind in range(KINDS):
        there = pos[BOARD_OF_KIND[kind]] & enemies & SQUARES_OF_KIND[kind]
        told = known.seen[kind]
        missing = popcount(told & ~there)
        wrong = popcount(there & ~told & (seen | ~known.allowed[kind]))
        count += max(missing, wrong)
    return count


@kernel
def _likelihood(edits):
    return EDIT**edits


@kernel
def _weigh_move(edits, before, changed, moves):
    """How likely one of `moves` moves is, by the pieces that contradict what is seen.

    edits: how many do so after the move; before: how many did before it.
    If the enemy's move shows (`changed`), then a move that explains nothing of it was not played.
    """
    if edits < before:
        return _likelihood(edits)
    return 0.0 if changed else _likelihood(edits) / moves


@kernel
def _enemy_to_move(pos, side):
    state = pos[STATE] & ~ONE | np.uint64(1 - side)
    return pos[0], pos[1], pos[2], pos[3], pos[4], pos[5], pos[6], state


@kernel
def weigh(tables, known, earlier, weights):
    """Write how likely each earlier position is, given what is seen, to weights: float64[m].

    A position may be near the truth even if no move from it explains all that is seen.
    """
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    for row in range(earlier.positions.shape[0]):
        pos = load(earlier.positions, row)
        before = edits_to(pos, known)
        weight = _likelihood(before)
        if earlier.moved:
            pos = _enemy_to_move(pos, known.side)
            count = generate_moves(tables, pos, moves)
            for index in range(count):
                edits = edits_to(make_move(pos, moves[index]), known)
                weight += _weigh_move(edits, before, earlier.changed, count)
        weights[row] = weight


@kernel
def frequencies(known, positions, weights, often):
    """Write how often each kind stood on each square, by weight, to often: float64[KINDS, 64]."""
    boards = np.empty(KINDS, dtype=np.uint64)
    often[:] = 0.0
    total = weights.sum()
    for row in range(positions.shape[0]):
        split(load(positions, row), known.side, boards)
        for kind in range(KINDS):
            squares = boards[kind]
            while squares:
                often[kind, lowest_square(squares)] += weights[row] / total
                squares &= squares - ONE


@kernel
def after_a_move(tables, known, pos, changed, moves, random):
    """Draw a move of the enemy, or none, by what it explains; return the position after it."""
    pos = _enemy_to_move(pos, known.side)
    before = edits_to(pos, known)
    total = _likelihood(before)
    chosen = -1
    count = generate_moves(tables, pos, moves)
    for index in range(count):
        edits = edits_to(make_move(pos, moves[index]), known)
        weight = _weigh_move(edits, before, changed, count)
        if weight > 0:
            total += weight
            if fraction(random) * total < weight:
                chosen = index
    return make_move(pos, moves[chosen]) if chosen >= 0 else pos


@kernel
def score(known, positions, often, scores):
    """Write how plausible positions are by the places of their pieces: log-odds, float64[n]."""
    boards = np.empty(KINDS, dtype=np.uint64)
    odds = np.log((often + ANYWHERE) / (1.0 - often + ANYWHERE))
    for row in range(positions.shape[0]):
        split(load(positions, row), known.side, boards)
        total = 0.0
        for kind in range(KINDS):
            squares = boards[kind]
            while squares:
                total += odds[kind, lowest_square(squares)]
                squares &= squares - ONE
        scores[row] = total


@kernel
def _pawn_reach(square, occupied, black):
    """Where a pawn may have gone in a move."""
    bit = ONE << np.uint64(square)
    if black:
        single = (bit >> _EIGHT) & ~occupied
        double = (single >> _EIGHT) & ~occupied if square >= 48 else _ZERO
        sides = ((bit & NOT_FILE_H) >> _SEVEN) | ((bit & NOT_FILE_A) >> _NINE)
    else:
        single = (bit << _EIGHT) & ~occupied
        double = (single << _EIGHT) & ~occupied if square < 16 else _ZERO
        sides = ((bit & NOT_FILE_A) << _SEVEN) | ((bit & NOT_FILE_H) << _NINE)
    return single | double | sides


@kernel
def _reach(tables, kind, square, occupied, black):
    """Squares that an enemy piece may have reached from a square in one move."""
    if kind == PAWN_KIND:
        return _pawn_reach(square, occupied, black)
    if kind == KNIGHT_KIND:
        return tables.knight[square]
    if kind == KING_KIND:
        return tables.king[square]
    if kind == ROOK_KIND:
        return rook_attacks(tables, square, occupied)
    if kind == QUEEN_KIND:
        return bishop_attacks(tables, square, occupied) | rook_attacks(tables, square, occupied)
    return bishop_attacks(tables, square, occupied)


@kernel
def nearness(tables, kind, start, end, occupied, black, captures):
    """How likely it is that a piece has gone from one square to another."""
    if kind == PAWN_KIND:
        files = abs((start & 7) - (end & 7))
        ranks = (start >> 3) - (end >> 3) if black else (end >> 3) - (start >> 3)
        if files and (captures == 0 or ranks < files):
            return UNLIKELY
    occupied &= ~(ONE << np.uint64(start) | ONE << np.uint64(end))
    first = _reach(tables, kind, start, occupied, black)
    if first >> np.uint64(end) & ONE:
        return ONE_MOVE
    if kind == PAWN_KIND:
        return TWO_MOVES if files == 0 else MORE_MOVES
    if first & ~occupied & _reach(tables, kind, end, occupied, black):
        return TWO_MOVES
    return MORE_MOVES


@kernel
def pieces(words):
    """All pieces of a position uint64[8], as uint64."""
    return words[0] | words[1] | words[2] | words[3] | words[4] | words[5]


@kernel
def _all(boards):
    together = _ZERO
    for kind in range(KINDS):
        together |= boards[kind]
    return together


@kernel
def _remove(tables, known, kind, hidden, came, count, occupied, random):
    """Remove `count` hidden pieces of a kind, rather those that explain the ones that `came`."""
    black = known.side == 0
    for _ in range(count):
        total = 0.0
        chosen = -1
        squares = hidden[kind]
        while squares:
            square = lowest_square(squares)
            squares &= squares - ONE
            weight = MORE_MOVES
            ends = came
            while ends:
                end = lowest_square(ends)
                ends &= ends - ONE
                weight = max(
                    weight, nearness(tables, kind, square, end, occupied, black, known.captures)
                )
            if known.settled >> np.uint64(square) & ONE and weight < ONE_MOVE:
                weight = UNLIKELY
            total += weight
            if fraction(random) * total < weight:
                chosen = square
        hidden[kind] ^= ONE << np.uint64(chosen)


@kernel
def _fill(tables, known, level, hidden, gone, wanted, occupied, random):
    """Put a piece on each square that must be occupied; return whether that worked.

    gone: uint64[KINDS], the squares that pieces have left which are not placed yet. wanted:
    int64[KINDS], how many of these there are. If there is none, a hidden piece moves there.
    """
    black = known.side == 0
    squares = known.occupied & ~_all(hidden)
    while squares:
        target = lowest_square(squares)
        squares &= squares - ONE
        bit = ONE << np.uint64(target)
        total = 0.0
        chosen, origin = -1, -1
        for kind in range(KINDS):
            if not known.allowed[kind] & bit:
                continue
            movable = hidden[kind] & ~known.occupied
            starts = movable
            if wanted[kind] > 0:
                starts |= gone[kind]
                total += ANYWHERE
                if fraction(random) * total < ANYWHERE:
                    chosen, origin = kind, -1
            while starts:
                start = lowest_square(starts)
                starts &= starts - ONE
                weight = nearness(tables, kind, start, target, occupied, black, known.captures)
                if movable >> np.uint64(start) & ONE:
                    weight *= EDIT
                    if known.settled >> np.uint64(start) & ONE:
                        weight *= UNLIKELY
                total += weight
                if fraction(random) * total < weight:
                    chosen, origin = kind, start
        if chosen < 0:
            if level == STRICT:
                return False
            chosen = KNIGHT_KIND  # one more than there should be
        elif origin >= 0 and hidden[chosen] >> np.uint64(origin) & ONE:
            hidden[chosen] ^= ONE << np.uint64(origin)
        else:
            wanted[chosen] -= 1
            if origin >= 0:
                gone[chosen] ^= ONE << np.uint64(origin)
        hidden[chosen] |= bit
    return True


@kernel
def _choose(tables, known, kind, start, free, often, occupied, random):
    """Draw a free square by how often the kind stood there and how near it is to `start`."""
    black = known.side == 0
    total = 0.0
    chosen = -1
    while free:
        square = lowest_square(free)
        free &= free - ONE
        weight = ANYWHERE + often[kind, square]
        if start >= 0:
            weight *= nearness(tables, kind, start, square, occupied, black, known.captures)
        if known.settled >> np.uint64(square) & ONE:
            weight *= UNLIKELY
        total += weight
        if fraction(random) * total < weight:
            chosen = square
    return chosen


@kernel
def _place(tables, known, level, hidden, gone, wanted, often, random):
    """Put the pieces that are still wanted on free squares; return whether that worked."""
    base = pieces(known.base)
    for kind in range(KINDS - 1, -1, -1):  # the king first
        for _ in range(wanted[kind]):
            occupied = base | _all(hidden)
            free = known.allowed[kind] & ~occupied
            if free == 0 and kind == KING_KIND and level == ANYHOW:
                free = ~occupied
            if free == 0:
                if level == STRICT or kind == KING_KIND:
                    return False
                break
            start = -1
            if gone[kind]:
                start = random_square(random, gone[kind])
                gone[kind] ^= ONE << np.uint64(start)
            square = _choose(tables, known, kind, start, free, often, occupied, random)
            hidden[kind] |= ONE << np.uint64(square)
    return True


@kernel
def _stir(tables, known, hidden, often, random):
    """Move a hidden piece that often stood elsewhere to where it often stood, or nearby."""
    total = 0.0
    moved, origin = -1, -1
    for kind in range(KINDS):
        squares = hidden[kind] & ~known.settled & ~known.occupied
        while squares:
            square = lowest_square(squares)
            squares &= squares - ONE
            weight = 1.0 + CERTAIN - often[kind, square]
            total += weight
            if fraction(random) * total < weight:
                moved, origin = kind, square
    if moved < 0:
        return
    occupied = pieces(known.base) | _all(hidden)
    free = known.allowed[moved] & ~occupied & ~known.settled
    if free:
        start = origin if moved == PAWN_KIND or random_bits(random) & ONE else -1
        target = _choose(tables, known, moved, start, free, often, occupied, random)
        hidden[moved] ^= ONE << np.uint64(origin) | ONE << np.uint64(target)


@kernel
def _free_homes(known, pawns):
    """The homes that none of these pawns has come from, if each has kept its file."""
    homes = known.homes
    while pawns:
        home = homes & (_FILE_A << np.uint64(lowest_square(pawns) & 7))
        homes ^= home & (~home + ONE)
        pawns &= pawns - ONE
    return homes


@kernel
def draw_positions(tables, known, level, earlier, attempts, random, memory, out, count):
    """Draw positions, write the new ones that fit to `out`, and return how many are in it.

    earlier: `Earlier`. attempts: greatest number of draws. random: uint64[1], the state of the
    random numbers. out: uint64[n, 8], of which `count` rows are written already. Drawing ends early
    if nothing new has come for long.
    """
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    boards = np.empty(KINDS, dtype=np.uint64)
    hidden = np.empty(KINDS, dtype=np.uint64)
    gone = np.empty(KINDS, dtype=np.uint64)
    wanted = np.empty(KINDS, dtype=np.int64)
    there = np.empty(KINDS, dtype=np.int64)
    base = pieces(known.base)
    own = known.base[6] if known.side == 0 else base & ~known.base[6]
    last_new = 0
    for attempt in range(attempts):
        if count == out.shape[0] or attempt - last_new > PATIENCE:
            break
        dull = np.int64(attempt - last_new > LONG)
        rights = random_bits(random)
        if attempt % WIDE[dull] == 0:
            boards[:] = _ZERO
        else:
            drawn = fraction(random) * earlier.weights[-1]
            row = np.searchsorted(earlier.weights, drawn, side="right")
            pos = load(earlier.positions, min(row, earlier.positions.shape[0] - 1))
            if earlier.moved:
                pos = after_a_move(tables, known, pos, earlier.changed, moves, random)
            split(pos, known.side, boards)
            if attempt & 7:
                rights = pos[STATE]
        for kind in range(KINDS):
            there[kind] = popcount(boards[kind] & ~own)
        count_hidden(known.remaining, known.numbers, there, wanted)
        for kind in range(KINDS):
            hidden[kind] = boards[kind] & known.allowed[kind]
        occupied = base | _all(hidden)
        for kind in range(KINDS):
            gone[kind] = boards[kind] & ~hidden[kind] & ~known.seen[kind] & ~own
            came = known.seen[kind] & ~boards[kind]
            # Of the pieces that are gone, some are those that came.
            while (
                gone[kind] and came and wanted[kind] < popcount(hidden[kind]) + popcount(gone[kind])
            ):
                square = random_square(random, gone[kind])
                gone[kind] ^= ONE << np.uint64(square)
                came &= came - ONE
            surplus = popcount(hidden[kind]) - wanted[kind]
            if surplus > 0:
                _remove(tables, known, kind, hidden, came, surplus, occupied, random)
                wanted[kind] = 0
            else:
                wanted[kind] = -surplus
        if wanted[PAWN_KIND] > popcount(gone[PAWN_KIND]):
            gone[PAWN_KIND] |= _free_homes(known, hidden[PAWN_KIND] | known.seen[PAWN_KIND])
        if not _fill(tables, known, level, hidden, gone, wanted, occupied, random):
            continue
        if not _place(tables, known, level, hidden, gone, wanted, earlier.often, random):
            continue
        while fraction(random) < STIRRED[dull]:
            _stir(tables, known, hidden, earlier.often, random)
        found = add_position(tables, known, level, hidden, rights, memory, out, count)
        if found > count:
            count = found
            last_new = attempt
    return count
