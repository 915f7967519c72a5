"""The document of a game that goes on: it grows with each ply, and nothing is worked out twice."""

from __future__ import annotations

from collections.abc import Callable

import chess
import chess.pgn

from obscuro.viewer.document import GameDocument, ShownPosition
from obscuro.viewer.game_file import first_board
from obscuro.viewer.make_document import describe_game, shown_moves, shown_position
from obscuro.viewer.two_beliefs import TwoBeliefs


class GrowingDocument:
    """Follows a game with the beliefs of both sides.

    max_positions: the greatest size of a belief, at least 1. A game that goes on needs one with
    which a ply takes no longer than its players do. One thread uses it.
    """

    def __init__(self, game: chess.pgn.Game, max_positions: int, threads: int = 1) -> None:
        """Start at the first position of a game; see `game_file.read_game`."""
        board = first_board(game)
        self._board = board
        self._max_positions = max_positions
        self._beliefs = TwoBeliefs(board, max_positions, threads)
        self._positions = [shown_position(board, self._beliefs.known(board))]

    def grow(self, game: chess.pgn.Game, on_ply: Callable[[], None] = lambda: None) -> GameDocument:
        """Return the document of a game that begins as the one before did, with all its moves.

        The documents before stay as they are. on_ply: is called after each new ply. Raises
        ValueError if the game has other moves than the one before.
        """
        moves = list(game.mainline_moves())
        known = len(self._board.move_stack)
        if moves[:known] != self._board.move_stack:
            raise ValueError("the game does not go on from the one before")
        for move in moves[known:]:
            self._positions.append(self._after(move))
            on_ply()
        return describe_game(
            game, self._max_positions, list(self._positions), list(shown_moves(game))
        )

    def close(self) -> None:
        """Release the beliefs."""
        self._beliefs.close()

    def _after(self, move: chess.Move) -> ShownPosition:
        self._board.push(move)
        return shown_position(self._board, self._beliefs.after_ply(self._board))
