"""Setting hidden enemy pieces on squares that we do not see, at random: the kernel of `rebuild`."""

import numpy as np
from numba import njit

from obscuro.belief.fit import observes
from obscuro.board.bits import lowest_square, popcount
from obscuro.board.layout import (
    EN_PASSANT_SHIFT,
    KINGS,
    NOT_FILE_A,
    NOT_FILE_H,
    ONE,
    PAWNS,
    ROOKS,
    STATE,
    WHITE,
    WORDS,
)
from obscuro.board.moves import has_move, occupied_squares, pieces_of, side_to_move
from obscuro.board.position import load, store
from obscuro.fog.key import mix

# Kinds of pieces, where bishops on squares of different colours are of different kinds.
KINDS = 7
PAWN_KIND, KNIGHT_KIND, LIGHT_BISHOP, DARK_BISHOP, ROOK_KIND, QUEEN_KIND, KING_KIND = range(KINDS)
BOARD_OF_KIND = (0, 1, 2, 2, 3, 4, 5)

STRICT, LENIENT, ANYHOW = range(3)

_ZERO = np.uint64(0)
_EIGHT = np.uint64(8)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def _random(state):
    """The next 64 random bits (splitmix64); state: uint64[1], advanced."""
    state[0] += _STEP
    return mix(state[0])


@njit(nogil=True, cache=True)
def _random_below(state, count):
    return np.int64((_random(state) >> np.uint64(33)) % np.uint64(count))


@njit(nogil=True, cache=True)
def _random_square(state, squares):
    """One of the squares of a mask that is not empty."""
    for _ in range(_random_below(state, popcount(squares))):
        squares &= squares - ONE
    return lowest_square(squares)


@njit(nogil=True, cache=True)
def _put(words, kind, square, enemy_is_white):
    bit = ONE << np.uint64(square)
    words[BOARD_OF_KIND[kind]] |= bit
    if enemy_is_white:
        words[WHITE] |= bit


@njit(nogil=True, cache=True)
def _kind_on(pos, square):
    """The kind of the piece on an occupied square."""
    bit = ONE << np.uint64(square)
    for kind in range(KINDS):
        if kind != DARK_BISHOP and pos[BOARD_OF_KIND[kind]] & bit:
            is_dark = (square + (square >> 3)) & 1 == 0
            return DARK_BISHOP if kind == LIGHT_BISHOP and is_dark else kind
    return -1


@njit(nogil=True, cache=True)
def _keep_from(earlier, side, allowed, hidden, words, random, squares):
    """Leave hidden pieces where they stood in the position `earlier`, as far as that is possible.

    In random order, so that if there are too many of a kind, any of them may go.
    """
    enemies = occupied_squares(earlier) ^ pieces_of(earlier, side)
    count = 0
    while enemies:
        squares[count] = lowest_square(enemies)
        enemies &= enemies - ONE
        count += 1
    for last in range(count - 1, -1, -1):
        chosen = _random_below(random, last + 1)
        square = squares[chosen]
        squares[chosen] = squares[last]
        kind = _kind_on(earlier, square)
        if hidden[kind] > 0 and allowed[kind] >> np.uint64(square) & ONE:
            _put(words, kind, square, side == 1)
            hidden[kind] -= 1


@njit(nogil=True, cache=True)
def _block(blocked, side, allowed, hidden, words, random, level):
    """Put a piece on each square of `blocked` that is still empty; return whether that worked."""
    squares = blocked & ~occupied_squares(load(words.reshape(1, WORDS), 0))
    while squares:
        square = lowest_square(squares)
        squares &= squares - ONE
        choices = 0
        for kind in range(KINDS):
            if allowed[kind] >> np.uint64(square) & ONE:
                choices += hidden[kind]
        if choices:
            number = _random_below(random, choices)
            chosen = -1
            while number >= 0:
                chosen += 1
                if allowed[chosen] >> np.uint64(square) & ONE:
                    number -= hidden[chosen]
            hidden[chosen] -= 1
        elif level == STRICT:
            return False
        else:  # one more than there should be
            chosen = KNIGHT_KIND
        _put(words, chosen, square, side == 1)
    return True


@njit(nogil=True, cache=True)
def _place_rest(side, allowed, hidden, words, random, level):
    """Put all hidden pieces that are left on free squares; return whether that worked."""
    for kind in range(KINDS - 1, -1, -1):  # the king first
        for _ in range(hidden[kind]):
            empty = ~occupied_squares(load(words.reshape(1, WORDS), 0))
            free = allowed[kind] & empty
            if free == 0 and kind == KING_KIND and level == ANYHOW:
                free = empty
            if free:
                _put(words, kind, _random_square(random, free), side == 1)
            elif level == STRICT or kind == KING_KIND:
                return False
        hidden[kind] = 0
    return True


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _state(pos, own_rights, enemy_rights, pushed):
    """The state word with these rights, where they can exist, and what a double push allows.

    pushed: the square where our pawn should have arrived by a double push just now, or 0.
    """
    state = pos[STATE] & ~(np.uint64(15) << ONE)
    state |= (own_rights | enemy_rights) & rights_at_home(pos) << ONE
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


@njit(nogil=True, cache=True)
def draw_positions(
    tables,
    base,
    side,
    observed,
    hidden,
    allowed,
    blocked,
    rights,
    pushed,
    earlier,
    attempts,
    level,
    random,
    out,
):
    """Draw positions at random and write those that serve; return their number.

    base: uint64[8], all that is known, in `STATE` the side to move and our en passant square;
    observed: uint64[9]; hidden: int64[KINDS], how many enemy pieces to add; allowed: uint64[KINDS],
    where; blocked: squares that must not stay empty; rights: uint64[2], castling rights in the
    state word that we have, and that the other side may have; pushed: see `_state`; earlier:
    uint64[m, 8], positions from which every second draw takes over what it can; random: uint64[1].

    level: `STRICT`, or `LENIENT`: numbers of pieces may be off, or `ANYHOW`: the observation too.
    """
    count = 0
    left = np.empty(KINDS, dtype=np.int64)
    words = np.empty(WORDS, dtype=np.uint64)
    squares = np.empty(64, dtype=np.int64)
    for attempt in range(attempts):
        if count == out.shape[0]:
            break
        words[:] = base
        left[:] = hidden
        enemy_rights = rights[1] & _random(random)
        if earlier.shape[0] and attempt & 1:
            former = load(earlier, _random_below(random, earlier.shape[0]))
            enemy_rights = rights[1] & former[STATE]
            _keep_from(former, side, allowed, left, words, random, squares)
        if not _block(blocked, side, allowed, left, words, random, level):
            continue
        if not _place_rest(side, allowed, left, words, random, level):
            continue
        words[STATE] = _state(load(words.reshape(1, WORDS), 0), rights[0], enemy_rights, pushed)
        pos = load(words.reshape(1, WORDS), 0)
        goes_on = side_to_move(pos) == side or has_move(tables, pos)
        if level == ANYHOW or (goes_on and observes(tables, pos, side, observed)):
            store(out, count, pos)
            count += 1
    return count
