"""Kernels that read Stockfish's answers, as bytes.

An answer is all text up to and including a line `bestmove …`. Only lines with `score` and `pv`
count. A later line for the same move replaces an earlier one, but a bound never replaces an exact
score. The kernels skip all other text.
"""

import numpy as np

from obscuro.evaluation import scale
from obscuro.kernels import kernel
from obscuro.rules.layout import (
    PROMOTION_SHIFT,
    THREE_BITS,
)

NO_MOVE = -1
NO_SCORE = -2_000_000_000

_SPACE, _NEWLINE, _MINUS, _ZERO, _NINE = 32, 10, 45, 48, 57
_MOVE_BITS = np.uint64(0xFFF)

value_of_pawns = kernel(scale.value_of_pawns)
value_of_mate = kernel(scale.value_of_mate)


@kernel
def _is_word(text, start, end, word):
    if end - start != len(word):
        return False
    for k in range(len(word)):  # noqa: SIM110 - a loop is what numba compiles
        if text[start + k] != word[k]:
            return False
    return True


@kernel
def _word_end(text, start, end):
    while start < end and text[start] > _SPACE:
        start += 1
    return start


@kernel
def _next_word(text, start, end):
    while start < end and text[start] <= _SPACE:
        start += 1
    return start


@kernel
def _read_integer(text, start, end):
    """Parse the integer text[start:end]; return NO_SCORE if it is none."""
    negative = start < end and text[start] == _MINUS
    if negative:
        start += 1
    if start == end or end - start > 9:
        return NO_SCORE
    number = 0
    for k in range(start, end):
        if text[k] < _ZERO or text[k] > _NINE:
            return NO_SCORE
        number = number * 10 + np.int64(text[k]) - _ZERO
    return -number if negative else number


@kernel
def _read_move(text, start, end):
    """Parse a move such as e7e8q to origin | target << 6 | promotion << 15; else NO_MOVE."""
    if end - start < 4 or end - start > 5:
        return NO_MOVE
    squares = 0
    for k in range(2):
        file = np.int64(text[start + 2 * k]) - 97
        rank = np.int64(text[start + 2 * k + 1]) - 49
        if file < 0 or file > 7 or rank < 0 or rank > 7:
            return NO_MOVE
        squares |= (rank * 8 + file) << (6 * k)
    if end - start == 4:
        return squares
    for promotion in range(1, 5):
        if text[start + 4] == b" nbrq"[promotion]:
            return squares | promotion << 15
    return NO_MOVE


@kernel
def _read_info(text, start, end):
    """Parse a line `info …`: return its score, whether it is a mate, a bound, and the first move.

    Without a score the score is NO_SCORE; without a move the move is NO_MOVE.
    """
    score = NO_SCORE
    mate = False
    bound = False
    while True:
        start = _next_word(text, start, end)
        if start == end:
            return score, mate, bound, NO_MOVE
        stop = _word_end(text, start, end)
        if _is_word(text, start, stop, b"score"):
            kind = _next_word(text, stop, end)
            kind_end = _word_end(text, kind, end)
            mate = _is_word(text, kind, kind_end, b"mate")
            if mate or _is_word(text, kind, kind_end, b"cp"):
                number = _next_word(text, kind_end, end)
                stop = _word_end(text, number, end)
                score = _read_integer(text, number, stop)
        elif _is_word(text, start, stop, b"lowerbound") or _is_word(
            text, start, stop, b"upperbound"
        ):
            bound = True
        elif _is_word(text, start, stop, b"pv"):
            move = _next_word(text, stop, end)
            return score, mate, bound, _read_move(text, move, _word_end(text, move, end))
        elif _is_word(text, start, stop, b"string"):  # free text follows
            return NO_SCORE, False, False, NO_MOVE
        start = stop


@kernel
def _line_end(text, start):
    while start < text.shape[0] and text[start] != _NEWLINE:
        start += 1
    return start


@kernel
def _value(score, mate, worth, tau):
    if mate:
        return value_of_mate(score)
    return value_of_pawns(score * worth, tau)


@kernel
def _find_child(moves, start, end, squares):
    """Return the index in moves[start:end] of a move by `_read_move`, or -1."""
    for k in range(start, end):
        word = np.uint64(moves[k])
        promotion = (word >> PROMOTION_SHIFT) & THREE_BITS
        if np.int64((word & _MOVE_BITS) | promotion << PROMOTION_SHIFT) == squares:
            return k
    return -1


@kernel
def read_lists(text, asked, worths, offsets, moves, wanted, tau, values):
    """Read MultiPV answers: the values of all listed moves that are wanted.

    text: uint8[…], the answers. asked: int64[n], the indices of their positions. worths:
    float64[n], the worth of a centipawn there in pawns. offsets, moves: the arrays of ChildValues.
    wanted: bool[children]. Written: values float32[children], in the view of the side to move.

    Returns the number of answers read, or -1 if an answer does not fit its position, because it
    lists or chooses a move that the position lacks.
    """
    answers = 0
    exact = np.zeros(moves.shape[0], dtype=np.bool_)
    start = 0
    while start < text.shape[0] and answers < asked.shape[0]:
        end = _line_end(text, start)
        stop = _word_end(text, start, end)
        first = offsets[asked[answers]]
        last = offsets[asked[answers] + 1]
        if _is_word(text, start, stop, b"info"):
            score, mate, bound, squares = _read_info(text, stop, end)
            if score != NO_SCORE and squares != NO_MOVE:
                child = _find_child(moves, first, last, squares)
                if child < 0:
                    return -1
                if wanted[child] and not (bound and exact[child]):
                    values[child] = _value(score, mate, worths[answers], tau)
                    exact[child] = not bound
        elif _is_word(text, start, stop, b"bestmove"):
            move = _next_word(text, stop, end)
            stop = _word_end(text, move, end)
            if not _is_word(text, move, stop, b"(none)"):
                squares = _read_move(text, move, stop)
                if squares == NO_MOVE or _find_child(moves, first, last, squares) < 0:
                    return -1
            answers += 1
        start = end + 1
    return answers


@kernel
def read_scores(text, asked, worths, tau, values):
    """Read single answers: the last score before each `bestmove`.

    text: uint8[…], the answers. asked: int64[n], the indices of their children. worths: float64[n],
    the worth of a centipawn there in pawns. Written: values float32[children]. Scores are in the
    view of the side to move in the child, so values are negated, in the view of the side that moved
    there. Returns the number of answers read, or -1 if an answer has no score.
    """
    answers = 0
    value = np.nan
    start = 0
    while start < text.shape[0] and answers < asked.shape[0]:
        end = _line_end(text, start)
        stop = _word_end(text, start, end)
        if _is_word(text, start, stop, b"info"):
            score, mate, bound, _ = _read_info(text, stop, end)
            if score != NO_SCORE and (not bound or np.isnan(value)):
                value = _value(score, mate, worths[answers], tau)
        elif _is_word(text, start, stop, b"bestmove"):
            if np.isnan(value):
                return -1
            values[asked[answers]] = -value
            answers += 1
            value = np.nan
        start = end + 1
    return answers
