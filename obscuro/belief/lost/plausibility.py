"""How plausible positions and moves are, given earlier positions and what is seen."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.lost.placement import (
    BOARD_OF_KIND,
    KINDS,
    KING_KIND,
    KNIGHT_KIND,
    PAWN_KIND,
    QUEEN_KIND,
    ROOK_KIND,
    SQUARES_OF_KIND,
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
