"""Fog of War chess as the search sees it: expanding positions into children, keys and values.

A state is 9 words: the 8 of the position, and a draw word. The draw word counts the plies since a
pawn move or a capture. It has the bit CAPPED once the game may have been drawn on the way, as far
as our side can tell. Values there and below are at most 0 (KLSS, B.1), so that our side avoids
possible draws when it is better.
"""

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.evaluator import Evaluator
from obscuro.kernels import kernel
from obscuro.rules.key import key_after_other_move, key_after_own_move
from obscuro.rules.layout import KINGS, PAWN, PIECE_SHIFT, STATE, THREE_BITS, WORDS
from obscuro.rules.make import make_move
from obscuro.rules.moves import occupied_squares, pieces_of, side_to_move
from obscuro.rules.position import load, store
from obscuro.rules.stalemate import LOSS, value_of_stalemating
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import observation_hash
from obscuro.search.game import MAX, MIN, Expansion

FIFTY_MOVES = 100  # plies without a pawn move or a capture; then the game is drawn
REPETITIONS = 3
STATE_WORDS = WORDS + 1
DRAW_WORD = WORDS
CAPPED = np.uint64(1 << 32)
_PLIES = np.uint64((1 << 32) - 1)
_ONE = np.uint64(1)
_TO_MOVE = np.uint64(0x9E3779B97F4A7C15)

Words = npt.NDArray[np.uint64]


@kernel
def sighting(observation, state_word):
    """An observation's hash with the side to move: it is a repetition if this recurs."""
    return observation + (state_word & _ONE) * _TO_MOVE


@kernel
def _next_draw_word(pos, child, move, word):
    """The draw word after `move`; repetitions are not looked at."""
    capped = word & CAPPED
    plies = (word & _PLIES) + _ONE
    pawn_move = (np.uint64(move) >> PIECE_SHIFT) & THREE_BITS == PAWN
    if pawn_move or (  # a capture leaves no newly occupied square
        occupied_squares(child) & ~occupied_squares(pos) == 0
    ):
        plies = np.uint64(0)
    if plies >= FIFTY_MOVES:
        capped = CAPPED
    return capped | plies


@kernel
def _expand(
    tables,
    states,
    keys,
    our_side,
    repeated,
    stalemating,
    offsets,
    moves,
    values,
    terminal,
    players,
    children,
    child_keys,
):
    """Write the children of states uint64[B, 9] into players, children and child_keys.

    keys: uint64[B, 2], of the states. repeated: sightings that would be a third repetition,
    uint64[r]. stalemating: float32, what it is worth to leave the other side without a move, in the
    mover's view. offsets: int64[B + 1], moves: uint32[N], values: float32[N], terminal: uint8[N]:
    the children as an evaluator gives them. values come in the view of the side to move in the
    parent, and go out in ▲'s.
    """
    for b in range(states.shape[0]):
        pos = load(states, b)
        mover = side_to_move(pos)
        column = MAX if mover == our_side else MIN
        players[b] = column
        for i in range(offsets[b], offsets[b + 1]):
            child = make_move(pos, moves[i])
            store(children, i, child)
            own = observation_hash(tables, child, mover)
            other = observation_hash(tables, child, 1 - mover)
            child_keys[i, column] = key_after_own_move(keys[b, column], moves[i], own)
            child_keys[i, MAX + MIN - column] = key_after_other_move(
                keys[b, MAX + MIN - column], other
            )
            draw_word = _next_draw_word(pos, child, moves[i], states[b, DRAW_WORD])
            if repeated.shape[0] > 0:
                seen = sighting(own if column == MAX else other, child[STATE])
                for sight in repeated:
                    if sight == seen:
                        draw_word |= CAPPED
            children[i, DRAW_WORD] = draw_word
            value = values[i]
            if terminal[i] and child[KINGS] & pieces_of(child, 1 - mover):
                value = stalemating
            if column != MAX:
                value = -value
            if draw_word & CAPPED and value > 0:
                value = np.float32(0)
            values[i] = value


class ChessGame:
    """The game as one thread expands it: an evaluator, our side, and what would be a repetition.

    stalemate: what a side without a move gets, one of `obscuro.rules.stalemate.STALEMATES`. Evaluators
    do not know the rule: the value of such children is given here.
    """

    state_words = STATE_WORDS
    position_words = WORDS

    def __init__(self, evaluator: Evaluator, stalemate: str = LOSS) -> None:
        self.evaluator = evaluator
        self._stalemating = np.float32(value_of_stalemating(stalemate))
        self.evaluations = 0  # children evaluated so far
        self._our_side = 0
        self._repeated: Words = np.zeros(0, dtype=np.uint64)

    def set_turn(self, our_side: int, repeated: Words) -> None:
        """Set whose search it is, 0 = White, and what would be a third repetition: uint64[r]."""
        self._our_side = our_side
        self._repeated = repeated

    def expand(self, states: Words, keys: Words) -> Expansion:
        """Expand states uint64[B, 9] with keys uint64[B, 2]; see `obscuro.search.game.Game`.

        The side to move must have a move in every state.
        """
        evaluated = self.evaluator.evaluate(np.ascontiguousarray(states[:, :WORDS]))
        count = len(evaluated.moves)
        self.evaluations += count
        values = evaluated.values.astype(np.float32)
        players = np.empty(len(states), dtype=np.int8)
        children = np.empty((count, STATE_WORDS), dtype=np.uint64)
        child_keys = np.empty((count, 2), dtype=np.uint64)
        _expand(
            TABLES,
            states,
            keys,
            self._our_side,
            self._repeated,
            self._stalemating,
            evaluated.offsets,
            evaluated.moves,
            values,
            evaluated.terminal,
            players,
            children,
            child_keys,
        )
        return Expansion(
            players,
            evaluated.offsets,
            children,
            child_keys,
            values,
            evaluated.terminal,
            np.zeros(count, dtype=np.float32),
        )
