"""What a side remembers of a game, so that it can draw new positions when none is left."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obscuro.belief.lost.rebuild import Rebuilt, captured, census, rebuild
from obscuro.belief.own_move import Conditions
from obscuro.rules.layout import DOUBLE_PUSH, KIND_SHIFT, WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.position import move_squares

Words = npt.NDArray[np.uint64]

REMEMBERED = 4096  # positions kept from before an update that left none


class Recollection:
    """One side's memory of a game: its start, its last certain facts, and positions from before.

    remaining: number of enemy pieces of each kind that we have not captured, int64[KINDS].
    """

    def __init__(self, start: Words, side: int) -> None:
        """Begin a game. start: uint64[8], its first position. side: ours, 0 = White."""
        self.remaining = census(start, 1 - side)
        self._side = side
        self._start = start
        self._earlier = start.reshape(1, WORDS)
        self._enemy_moves = 0  # since `_earlier`
        self._vacated = 0  # squares that our last move showed to be empty
        self._pushed = 0  # where our last move put a pawn by a double push; 0 = nowhere

    def note_own_move(self, word: int, needed: Conditions, position: Words | None) -> None:
        """Note what our move shows. position: some position before it, uint64[8], if any."""
        self.note_other_move()
        self._vacated = (needed.origin | needed.empty) & ~needed.target
        if word >> int(KIND_SHIFT) == DOUBLE_PUSH:
            self._pushed = move_squares(word)[1]
        if position is not None:
            self.remaining = self.remaining - captured(position, word)

    def note_other_move(self) -> None:
        """Note a move of the other side: what our last move showed may have changed since."""
        self._vacated = self._pushed = 0

    def note_lost(self, *, by_enemy_move: bool) -> None:
        """Note that an update has left no position; by_enemy_move: after the other side's move."""
        self._enemy_moves += by_enemy_move

    def keep(self, positions: Words) -> None:
        """Keep positions, uint64[n, 8], from before an update that leaves none."""
        self._earlier = positions
        self._enemy_moves = 0

    @property
    def passed(self) -> int:
        """The square that our pawn has just passed over by a double push; 0 = none."""
        if not self._pushed:
            return 0
        return self._pushed + (-8 if self._side == 0 else 8)

    def draw(
        self, observation: Observation, to_move: int, limit: int, rng: np.random.Generator
    ) -> Rebuilt:
        """Draw positions that fit an observation; see `rebuild`. Raises ContradictionError."""
        return rebuild(
            observation,
            self._side,
            to_move,
            self.remaining,
            self._earlier,
            self._vacated,
            self._pushed,
            limit,
            rng,
            first=self._start,
            enemy_moves=self._enemy_moves,
        )
