"""What an engine is told of a game before its turn, as the text of the command `position`."""

from __future__ import annotations

import chess

from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import turns_text


def whole_game(board: FogOfWarBoard) -> str:
    """Return the command that tells the whole game: where it began, and both sides' moves."""
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position {_start(board)} moves {moves}" if moves else f"position {_start(board)}"


class OwnGame:
    """One side's account of a game as text, which grows ply by ply.

    text: the command `position fog` that tells it.
    """

    def __init__(self, board: FogOfWarBoard, side: chess.Color) -> None:
        """Begin with the plies that the board has behind it."""
        self._account = Account(board, side)
        self.text = f"position fog {chess.COLOR_NAMES[side]} {_start(board)} turns"
        if self._account.plies:
            self.text += f" {turns_text(self._account.plies)}"

    def append(self, board: FogOfWarBoard) -> None:
        """Add the last ply of the board. Raises ValueError if it is not the next."""
        self.text += f" {turns_text([self._account.append(board)])}"


def _start(board: FogOfWarBoard) -> str:
    root = board.root()
    return "startpos" if root.fen() == board.starting_fen else f"fen {root.fen()}"
