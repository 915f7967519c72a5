"""What our side knows of the game: the belief, its information key, and what might be a draw.

Own moves and observations wait in a queue. `update` works them off, on the clock of a search.
"""

from collections.abc import Callable
from dataclasses import replace
from threading import Event

import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import Belief, ContradictionError
from obscuro.belief.buffers import Buffers
from obscuro.engine.chess_game import FIFTY_MOVES, REPETITIONS, sighting
from obscuro.rules.account import Ply
from obscuro.rules.key import initial_key, key_after_other_move, key_after_own_move, mix
from obscuro.rules.layout import PAWN, STATE, WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, legal_moves, move_squares

Words = npt.NDArray[np.uint64]


class GameError(ValueError):
    """A move or an observation does not fit the game; the text is one line for the user."""


class Knowledge:
    """One side's knowledge of one game.

    side: ours, 0 = White. start: the position that both sides know, uint64[8]; None if our side does
    not know how the other one began. warn: called with one line for each thing that a user
    should know. buffers: memory that the belief works in; it outlasts the game. lost_place: called
    when our place in a search tree can't be found any more.

    start_key, key: our information key at the start and now.
    """

    def __init__(
        self,
        side: int,
        start: Words,
        *,
        max_positions: int,
        threads: int,
        seed: int,
        buffers: Buffers,
        warn: Callable[[str], None],
        lost_place: Callable[[], None],
        weighted: bool = False,
    ) -> None:
        self.side = side
        self.belief = Belief(
            start,
            side,
            max_positions=max_positions,
            threads=threads,
            seed=seed,
            buffers=buffers,
            weighted=weighted,
        )
        self.plies = 0  # worked off so far
        self.quiet_plies = 0  # since the last pawn move or capture that we know of
        starts = start.reshape(-1, WORDS)
        self.observation = Observation.of(starts[0], side)
        self.start = starts[0] if len(starts) == 1 else None
        self._en_passant_told = True  # whether the referee tells of all that we may capture so
        self.start_key = int(initial_key(side, np.uint64(self.observation.key())))
        self.key = self.start_key
        self._warn = warn
        self._lost_place = lost_place
        self._queue: list[Ply] = []
        self._sightings: dict[int, int] = {}  # how often we have seen what
        self._note_sighting(int(starts[0, STATE]) & 1)

    def queue(self, ply: Ply) -> None:
        """Queue a ply; its observation may be missing after our own move."""
        self._queue.append(ply)

    def update(self, deadline: float | None = None, stop: Event | None = None) -> bool:
        """Work off the queue; return whether all of it is done.

        deadline: a second of `time.monotonic`; a belief update that would pass it is cut short.
        stop: when it is set, the rest stays in the queue.

        Raises GameError if an own move is not possible or an observation can't be ours. The plies
        before that one have been worked off; that one and those after it are dropped.
        """
        try:
            while self._queue:
                ply = self._queue[0]
                if ply.move is not None:
                    self._after_own_move(ply.move, ply.observation, deadline)
                elif ply.observation is not None:
                    done = self._after_opponent_move(ply.observation, deadline, stop)
                    if not done:
                        return False
                self.plies += 1
                del self._queue[0]
        except GameError:
            self._queue.clear()
            raise
        return True

    def expect(self, stop: Event) -> None:
        """Prepare for seeing the same after the other side's move as now, while that side thinks.

        Ends within some milliseconds when `stop` is set. Does nothing on our turn.
        """
        if not self.belief.our_turn and len(self.belief):
            same = replace(self.observation, en_passant_told=self._en_passant_told)
            self.belief.expect(same, stop)

    def release(self) -> None:
        """Give the belief's memory back to the buffers. This ends the game."""
        self.belief.release()
        self.belief.close()

    def any_position(self) -> Words:
        """Some possible position, uint64[8]. Our pieces and moves are the same in all of them."""
        return self.belief.any_position()

    def legal_moves(self) -> npt.NDArray[np.uint32]:
        """Our moves now, uint32[k] in the generator's order; empty when it is not our turn."""
        position = self.any_position()
        if int(position[STATE]) & 1 != self.side:
            return np.zeros(0, dtype=np.uint32)
        return legal_moves(position)

    def forced_move(self, moves: npt.NDArray[np.uint32]) -> tuple[int, bool] | None:
        """The index of a move that needs no thought, and whether it captures the king.

        That is a capture of a king whose square is certain, or the only move. moves: ours,
        uint32[k], as `legal_moves` returns them.
        """
        square = self.belief.certain_enemy_king()
        for index, move in enumerate(moves):
            if square is not None and move_squares(move)[1] == square:
                return index, True
        return (0, False) if len(moves) == 1 else None

    def repeated(self) -> Words:
        """The sightings that may be a third repetition if they come once more: uint64[n]."""
        often = [s for s, count in self._sightings.items() if count >= REPETITIONS - 1]
        return np.array(sorted(often), dtype=np.uint64)

    def _after_own_move(
        self, uci: str, observation: Observation | None, deadline: float | None
    ) -> None:
        position = self.any_position()
        word = find_move(position, uci)
        if word is None or int(position[STATE]) & 1 != self.side:
            raise GameError(f"illegal move {uci}")
        _, target, piece = move_squares(word)
        captured = self.observation.pieces(1 - self.side) >> target & 1
        self._count_ply(quiet=not (piece == PAWN or captured))
        update = self.belief.after_own_move(word, observation, deadline)
        if observation is None:
            observation = self.belief.common_observation()
        if observation is None:
            # Without that observation our key is unknown, and so is our place in the tree.
            self.key = int(mix(np.uint64(self.key)))
            self._lost_place()
            return
        seen = np.uint64(observation.key())
        self.key = int(key_after_own_move(np.uint64(self.key), np.uint64(word), seen))
        self._see(observation, 1 - self.side, update.warning)

    def _after_opponent_move(
        self, observation: Observation, deadline: float | None, stop: Event | None
    ) -> bool:
        try:
            update = self.belief.after_opponent_move(observation, deadline, stop)
        except ContradictionError as error:
            raise GameError(str(error)) from None
        if update is None:
            return False
        if observation.en_passant is None:
            self._en_passant_told = observation.en_passant_told
        lost = self.observation.pieces(self.side) & ~observation.pieces(self.side)
        self._count_ply(quiet=not lost)
        seen = np.uint64(observation.key())
        self.key = int(key_after_other_move(np.uint64(self.key), seen))
        self._see(observation, self.side, update.warning)
        return True

    def _count_ply(self, *, quiet: bool) -> None:
        """Count a ply for the fifty-move rule. quiet: no pawn move or capture that we know of.

        A game that goes on at the limit shows that there was one unseen. It may have been any of
        those plies; so half of the limit counts on. The tree's draw words have the old count.
        """
        self.quiet_plies = self.quiet_plies + 1 if quiet else 0
        if self.quiet_plies >= FIFTY_MOVES:
            self.quiet_plies = FIFTY_MOVES // 2
            self._lost_place()

    def _see(self, observation: Observation, to_move: int, warning: str | None) -> None:
        self.observation = observation
        if self.quiet_plies == 0:
            self._sightings.clear()
        self._note_sighting(to_move)
        if warning is not None and self.belief.rebuilds == 1:
            self._warn(warning)

    def _note_sighting(self, to_move: int) -> None:
        sight = int(sighting(np.uint64(self.observation.key()), np.uint64(to_move)))
        self._sightings[sight] = self._sightings.get(sight, 0) + 1
