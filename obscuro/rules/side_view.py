"""The board as one side knows it: what it sees now, and the moves that it therefore has.

Importing this module loads no compiled code.
"""

from __future__ import annotations

import chess

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation


class _SeenBoard(FogOfWarBoard):
    """A side's own board: a king that is not on it is out of sight, and the game goes on."""

    def is_variant_end(self) -> bool:
        return False


class SideView:
    """Follows a game with one side's eyes.

    A side sees every square that it can move to. So what it last saw fixes its moves. Beside the
    last observation only its castling rights are remembered.

    side: whose view it is. our_turn: whether it is this side's turn. observation: what it sees now;
    after an own move whose observation it was not told, its own pieces alone. board: the pieces
    seen, with the castling rights that are still possible, this side to move; it must not be changed.
    """

    def __init__(self, side: chess.Color, start: FogOfWarBoard) -> None:
        """Begin at a position that the side knows."""
        self.side = side
        self.our_turn = start.turn == side
        self._rights = start.castling_rights
        self._chess960 = start.chess960
        self._look(start.observation(side))

    def push(self, uci: str) -> None:
        """Make an own move, one of `moves`. What is seen then comes by `see_own_move`."""
        self.board.push(chess.Move.from_uci(uci))
        self.our_turn = False

    def see_own_move(self, observation: Observation | None) -> None:
        """Take what the side saw after its move; None if it was not told."""
        if observation is None:
            observation = Observation.on(self.board, self.board.occupied_co[self.side])
        self._look(observation)

    def see_other_move(self, observation: Observation) -> None:
        """Take what the side saw after a move of the other side."""
        self.our_turn = True
        self._look(observation)

    def moves(self) -> tuple[str, ...]:
        """Return the side's moves in UCI, in python-chess's order. It must be its turn."""
        moves = self.board.generate_pseudo_legal_moves()
        return tuple(move.uci() for move in moves if not self._is_blocked(move))

    def _look(self, observation: Observation) -> None:
        """Set up the board: the pieces seen, and the castling rights that are still possible."""
        board = _SeenBoard(None, chess960=self._chess960)
        board.set_piece_map(observation.board().piece_map())
        board.turn = self.side
        board.castling_rights = self._rights
        self._rights = board.castling_rights = board.clean_castling_rights()
        board.ep_square = observation.en_passant if self.our_turn else None
        self.board = board
        self.observation = observation

    def _is_blocked(self, move: chess.Move) -> bool:
        """Tell whether a pawn's way ahead is out of sight: then a piece in the fog blocks it.

        A castling whose squares are out of sight is blocked, too.
        """
        if self._chess960 and self.board.is_castling(move):
            return bool(self.board.castling_arrivals(move) & ~self.observation.seen)
        way = chess.between(move.from_square, move.to_square) | chess.BB_SQUARES[move.to_square]
        is_pawn = chess.BB_SQUARES[move.from_square] & self.board.pawns
        return bool(is_pawn and way & ~self.observation.seen)
