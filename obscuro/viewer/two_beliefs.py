"""What both sides knew after each ply of a game: what they saw, and which positions were possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.viewer.marginals import levels, piece_counts

if TYPE_CHECKING:
    from obscuro.belief.belief import Belief

Levels = npt.NDArray[np.uint8]


class Possibilities(NamedTuple):
    """The belief of one side at one moment."""

    size: int  # how many positions
    exact: bool  # whether these are all possible ones; False: a sample
    rebuilt: bool  # whether the last ply left none, and these were drawn anew
    shares: Levels  # [7, 64] how likely each enemy piece is; see `marginals.levels`


class SideKnowledge(NamedTuple):
    """What one side knew after a ply. belief: None once the game is over."""

    observation: Observation
    belief: Possibilities | None


class TwoBeliefs:
    """Follows a game ply by ply, with the beliefs of both sides.

    Both are exact until they outgrow `max_positions`; see `Belief`. The same game gives the same
    beliefs on every machine. The two share their memory, because only one is updated at a time.
    """

    def __init__(self, board: FogOfWarBoard, max_positions: int, threads: int = 1) -> None:
        """Start from a position that both sides know. The board is the caller's, and is not kept.

        Raises ValueError for a `max_positions` or `threads` below 1.
        """
        # They load numba. Who only reads games, or waits for one, does without.
        from obscuro.belief.belief import Belief  # noqa: PLC0415
        from obscuro.belief.buffers import Buffers  # noqa: PLC0415
        from obscuro.rules.position import from_board  # noqa: PLC0415

        buffers = Buffers()
        words = from_board(board)
        self._beliefs = {
            color: Belief(words, int(not color), max_positions, threads, buffers=buffers)
            for color in chess.COLORS
        }

    def known(self, board: FogOfWarBoard) -> dict[chess.Color, SideKnowledge]:
        """Return what both sides know at the start; board: the position that they start from."""
        return {color: self._knowledge(board, color, rebuilt=False) for color in chess.COLORS}

    def after_ply(self, board: FogOfWarBoard) -> dict[chess.Color, SideKnowledge]:
        """Return what both sides know after the last ply of a board.

        It must be one ply further than at the last call. A belief holds only positions in which the
        game goes on, so once it is over there is none.
        """
        known = {}
        for color, belief in self._beliefs.items():
            rebuilds = belief.rebuilds
            if goes_on(board):
                last_ply(board, color).tell(_Teller(belief))
            known[color] = self._knowledge(board, color, rebuilt=belief.rebuilds > rebuilds)
        return known

    def close(self) -> None:
        """End the threads of both beliefs."""
        for belief in self._beliefs.values():
            belief.close()

    def _knowledge(
        self, board: FogOfWarBoard, color: chess.Color, *, rebuilt: bool
    ) -> SideKnowledge:
        belief = self._beliefs[color]
        observation = board.observation(color)
        if not goes_on(board):
            return SideKnowledge(observation, None)
        shares = levels(piece_counts(belief.records), len(belief))
        return SideKnowledge(observation, Possibilities(len(belief), belief.exact, rebuilt, shares))


class _Teller:
    """Tells a belief of a ply, as a `obscuro.rules.account.PlyListener`."""

    def __init__(self, belief: Belief) -> None:
        self._belief = belief

    def own_move(self, uci: str, observation: Observation | None) -> None:
        self._belief.after_own_move(uci, observation)

    def opponent_move(self, observation: Observation) -> None:
        self._belief.after_opponent_move(observation)


def goes_on(board: FogOfWarBoard) -> bool:
    """Tell whether the side to move has a king and a move. A draw by the rules ends no belief."""
    return not (board.is_variant_end() or board.is_stalemate())


def replay(
    board: FogOfWarBoard, moves: list[chess.Move], max_positions: int, threads: int = 1
) -> Iterator[dict[chess.Color, SideKnowledge]]:
    """Yield what both sides knew at the start of a game and after each of its moves.

    board: the start; the iterator makes the moves on it. Raises ValueError as `TwoBeliefs`.
    """
    beliefs = TwoBeliefs(board, max_positions, threads)
    try:
        yield beliefs.known(board)
        for move in moves:
            board.push(move)
            yield beliefs.after_ply(board)
    finally:
        beliefs.close()
