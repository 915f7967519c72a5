"""The referee between a server, which tells everything, and the engine, which may know one side."""

from __future__ import annotations

from collections.abc import Sequence

import chess

from obscuro.fog.board import FogOfWarBoard
from obscuro.protocol.protocol_error import ProtocolError
from obscuro.protocol.start import start_board


class RefereeError(Exception):
    """A game can't be followed: a start or a move that isn't possible; the text is one line."""


class Referee:
    """Follows a game, and says what one side did and saw in it (`position fog`).

    The moves stay in here; what comes out is that side's own moves, observations, and legal moves.
    """

    def __init__(self, side: chess.Color, start: str | None) -> None:
        """side: ours. start: a FEN, None for the usual start. Raises RefereeError."""
        self.side = side
        self._start_text = "startpos" if start is None else f"fen {start}"
        try:
            self._start = start_board(start)
        except ProtocolError as error:
            raise RefereeError(str(error)) from None
        self._rewind()

    def _rewind(self) -> None:
        self._board = self._start.copy()
        self.moves: tuple[str, ...] = ()
        """The moves of both sides, as the server wrote them."""
        self._turns: list[str] = []

    def follow(self, moves: Sequence[str]) -> None:
        """Bring the game to these moves, going on from where it stands if they continue it.

        Raises RefereeError; the game stands before the bad move then.
        """
        if tuple(moves[: len(self.moves)]) != self.moves:
            self._rewind()
        for move in moves[len(self.moves) :]:
            self._take(move)

    def _take(self, text: str) -> None:
        board = self._board
        try:
            # The king to its rook's square is castling as well, for some servers.
            move = board.parse_uci(text)
        except ValueError:
            move = chess.Move.null()
        if not move:
            raise RefereeError(f"move {len(self.moves) + 1} of the game, {text!r}, is not legal")
        if board.turn == self.side:
            self._turns.append(move.uci())
        board.push(move)
        self._turns.append(board.fog_fen(self.side))
        self.moves = (*self.moves, text)

    @property
    def plies(self) -> int:
        """How many moves have been made."""
        return len(self.moves)

    @property
    def our_turn(self) -> bool:
        """Whether our side is to move in a game that goes on."""
        return self._board.turn == self.side and not self.decided

    @property
    def decided(self) -> bool:
        """Whether nothing can be played any more: a king was captured, or there is no move.

        Draws are the server's to declare: it may let a repeated position be played on.
        """
        return not any(self._board.generate_legal_moves())

    @property
    def won(self) -> bool:
        """Whether our side has captured the king, or left the other without a move."""
        return self.decided and self._board.turn != self.side

    def position(self) -> str:
        """Return the command that tells an engine our side of the game."""
        turns = f" turns {' '.join(self._turns)}" if self._turns else ""
        return f"position fog {chess.COLOR_NAMES[self.side]} {self._start_text}{turns}"

    def legal_moves(self) -> tuple[str, ...]:
        """Return our side's moves, those that capture the king first; none out of turn."""
        if not self.our_turn:
            return ()
        king = self._board.king(not self.side)
        moves = sorted(
            self._board.legal_moves, key=lambda move: (move.to_square != king, str(move))
        )
        return tuple(move.uci() for move in moves)

    def board(self) -> FogOfWarBoard:
        """Return a copy of the whole board, for records of finished games."""
        return self._board.copy()
