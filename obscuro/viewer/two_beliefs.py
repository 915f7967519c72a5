"""What both sides knew after each ply of a game: what they saw, and which positions were possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.starts import hidden_fen

if TYPE_CHECKING:
    from obscuro.belief.belief import Belief

Counts = npt.NDArray[np.float64]
Levels = npt.NDArray[np.uint8]

CERTAIN = 255


class HeatMap(NamedTuple):
    """How likely a belief makes things, in one of its two views."""

    shares: Levels  # [7, 64] each enemy piece on each square; see `levels`
    truth: float  # the true position, in [0, 1]; 0: it is not among the positions


class Possibilities(NamedTuple):
    """The belief of one side at one moment.

    even: all positions count alike. weighted: each counts by how plausibly the other side has
    played; None where the belief has no weights, see `Belief.weights`.
    """

    size: int  # how many positions
    exact: bool  # whether these are all possible ones; False: a sample
    rebuilt: bool  # whether the last ply left none, and these were drawn anew
    even: HeatMap
    weighted: HeatMap | None


class SideKnowledge(NamedTuple):
    """What one side knew after a ply. belief: None once the game is over."""

    observation: Observation
    belief: Possibilities | None


class TwoBeliefs:
    """Follows a game ply by ply, with the beliefs of both sides.

    Both are exact until they outgrow `max_positions`, and weighted; see `Belief`. The same game gives
    the same positions on every machine. The two share their memory, because only one is updated at a time.
    """

    def __init__(self, board: FogOfWarBoard, max_positions: int, threads: int = 1) -> None:
        """Start from what each side knows of a position. The board is the caller's, and is not kept.

        Raises ValueError for a `max_positions` or `threads` below 1.
        """
        # They load numba. Who only reads games, or waits for one, does without.
        from obscuro.belief.belief import Belief  # noqa: PLC0415
        from obscuro.belief.buffers import Buffers  # noqa: PLC0415
        from obscuro.rules.position import from_board, start_words  # noqa: PLC0415

        buffers = Buffers()
        self._beliefs = {}
        for color in chess.COLORS:
            side = int(not color)
            hidden = board.hidden_start
            words = start_words(hidden_fen(board, color), side) if hidden else from_board(board)
            self._beliefs[color] = Belief(
                words, side, max_positions, threads, buffers=buffers, weighted=True
            )

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
        even, weighted = heat_maps(belief, board)
        known = Possibilities(len(belief), belief.exact, rebuilt, even, weighted)
        return SideKnowledge(observation, known)


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


# -- how likely each enemy piece is on each square ------------------------------------------


def heat_maps(belief: Belief, board: FogOfWarBoard) -> tuple[HeatMap, HeatMap | None]:
    """Return how likely a belief makes things: all positions alike, and by its weights if it has.

    board: the true position. Raises ValueError for a belief without positions.
    """
    from obscuro.belief.marginals import piece_counts  # noqa: PLC0415 - loads numba, as above
    from obscuro.rules.position import from_board  # noqa: PLC0415

    size, weights, truth = len(belief), belief.weights, from_board(board)
    counts = piece_counts(belief.records)
    even = HeatMap(levels(counts, counts, size), float(belief.contains(truth)) / size)
    if weights is None:
        return even, None
    sums = piece_counts(belief.records, weights)
    weight = float(belief.weights_of(truth.reshape(1, -1))[0]) if even.truth else 0.0
    return even, HeatMap(levels(sums, counts, size), weight / size)


def levels(weights: Counts, counts: Counts, positions: int) -> Levels:
    """Turn sums of weights among `positions` into shares of 255: uint8[…].

    weights: float64[…]; all positions together have `positions`. counts: in how many positions it
    is so, float64[…]; equal to the weights if all positions count alike.

    0 means in no position and 255 in all of them. All that lies in between gets 1 to 254: a share
    is right within 1/255, and what is possible is never shown as impossible or as certain.
    """
    if positions < 1:
        raise ValueError("a belief without positions has no shares")
    shares = np.clip(np.rint(weights * (CERTAIN / positions)), 1, CERTAIN - 1)
    shares = np.where(counts == 0, 0, np.where(counts == positions, CERTAIN, shares))
    return shares.astype(np.uint8)
