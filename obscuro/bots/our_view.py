"""Our side of a game on a server: the server tells everything, the engine may know one side."""

from __future__ import annotations

from collections.abc import Sequence

import chess

from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard, PychessBoard
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import account_position, start_board


class ViewError(Exception):
    """A start or a move of the server is not possible; the text is one line for the user."""


def _needs_chess960(start: str) -> bool:
    """Tell whether the castling rights of a FEN are possible in Chess960 only."""
    try:
        return chess.Board(start).has_chess960_castling_rights()
    except ValueError:
        return False


def _without_unseen_castling(board: FogOfWarBoard, side: chess.Color) -> chess.Bitboard:
    """Return the castling rights of a board but for one that a side could not use with its eyes.

    With its king on the b-file and the rook on the a-file, a side does not see whether the square on
    the d-file is empty, unless the referee shows it for the castling alone.
    """
    king, rook = (chess.B1, chess.A1) if side == chess.WHITE else (chess.B8, chess.A8)
    given_up = chess.BB_SQUARES[rook] if board.king(side) == king else chess.BB_EMPTY
    return board.castling_rights & ~given_up


class OurView:
    """Follows a whole game, and tells what our side did and saw in it (`position fog`).

    The other side's moves stay in here. Our moves, our observations and our legal moves come out.
    """

    def __init__(
        self,
        side: chess.Color,
        start: str | None,
        kind: type[FogOfWarBoard] = FogOfWarBoard,
        *,
        chess960: bool = False,
    ) -> None:
        """side: ours. start: a FEN, None for the usual start. kind: says what a side is shown.

        chess960: whether it is a game of Chess960, which a start may say, too. Raises ViewError.
        """
        self.side = side
        try:
            self._start = start_board(
                start, kind, chess960=chess960 or (start is not None and _needs_chess960(start))
            )
        except ProtocolError as error:
            raise ViewError(str(error)) from None
        if issubclass(kind, PychessBoard) and self._start.chess960:
            self._start.castling_rights = _without_unseen_castling(self._start, side)
        self._rewind()

    def _rewind(self) -> None:
        self._board = self._start.copy()
        self._account = Account(self._board, self.side)
        self.moves: tuple[str, ...] = ()
        """The moves of both sides, as the server wrote them."""

    def follow(self, moves: Sequence[str]) -> None:
        """Bring the game to these moves, from where it stands if they continue it.

        Raises ViewError if a move is not legal; the game then stands before this move.
        """
        if not self.is_continued_by(moves):
            self._rewind()
        for move in moves[len(self.moves) :]:
            self._take(move)

    def is_continued_by(self, moves: Sequence[str]) -> bool:
        """Return whether moves are the game as it stands here, or go on from there."""
        return tuple(moves[: len(self.moves)]) == self.moves

    def _take(self, text: str) -> None:
        try:
            # Some servers write castling as the king's move to its rook's square.
            move = self._board.parse_uci(text)
        except ValueError:
            move = chess.Move.null()
        if not move:
            raise ViewError(f"move {len(self.moves) + 1} of the game, {text!r}, is not legal")
        self._board.push(move)
        self._account.append(self._board)
        self.moves = (*self.moves, text)

    @property
    def plies(self) -> int:
        """How many moves both sides have made."""
        return len(self.moves)

    @property
    def white_moved(self) -> bool:
        """Whether White made the last move."""
        return self._board.turn == chess.BLACK

    @property
    def our_turn(self) -> bool:
        """Whether our side is to move in a game that goes on."""
        return self._board.turn == self.side and not self.decided

    @property
    def decided(self) -> bool:
        """Whether no move is left: a king was captured, or the side to move is blocked.

        The server declares draws. It may let both sides play on after a repetition.
        """
        return not any(self._board.generate_legal_moves())

    @property
    def won(self) -> bool:
        """Whether our side has captured the king, or left the other side without a move."""
        return self.decided and self._board.turn != self.side

    def position(self) -> str:
        """Return the command that tells an engine our side of the game."""
        return account_position(self._account)

    def legal_moves(self) -> tuple[str, ...]:
        """Return our side's moves, those that capture the king first; none out of turn.

        A capture en passant that our side is not told of is not one of them.
        """
        if not self.our_turn:
            return ()
        board, king = self._board, self._board.king(not self.side)
        en_passant = self._account.observation.en_passant
        moves = sorted(
            (
                move
                for move in board.legal_moves
                if not board.is_en_passant(move) or move.to_square == en_passant
            ),
            key=lambda move: (move.to_square != king, str(move)),
        )
        return tuple(move.uci() for move in moves)

    def board(self) -> FogOfWarBoard:
        """Return a copy of the whole board, for records of finished games."""
        return self._board.copy()
