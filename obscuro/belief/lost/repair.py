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

import numpy as np

from obscuro.belief.lost.placement import (
    ANYHOW,
    KINDS,
    KING_KIND,
    KNIGHT_KIND,
    PAWN_KIND,
    STRICT,
    add_position,
    count_hidden,
    split,
)
from obscuro.belief.lost.plausibility import (
    ANYWHERE,
    EDIT,
    MORE_MOVES,
    ONE_MOVE,
    UNLIKELY,
    after_a_move,
    fraction,
    nearness,
    random_bits,
    random_square,
)
from obscuro.kernels import kernel
from obscuro.rules.bits import lowest_square, popcount
from obscuro.rules.layout import MAX_MOVES, ONE, STATE
from obscuro.rules.position import load

# What is done as a rule, and what after `LONG` draws in a row without a new position.
WIDE = (64, 4)  # one draw of so many begins with no position
STIRRED = (0.5, 0.9)  # share of draws that move one piece more, and of those that move another one
CERTAIN = 0.25  # the weight of moving a piece that never stood elsewhere; 1 if it always did
LONG = 512
PATIENCE = 16_384  # drawing ends after so many draws in a row without a new position

_FILE_A = np.uint64(0x0101010101010101)

_ZERO = np.uint64(0)


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
