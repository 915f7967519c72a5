"""The command `position`: its writers, and the reader, which continues the last game if it can."""

from collections.abc import Callable, Iterable
from functools import lru_cache

import chess

from obscuro.rules.account import Account, Ply, start_fen
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.history import History
from obscuro.uci.parsing import PositionArguments, parse_position
from obscuro.uci.start import start_board
from obscuro.uci.whole_game import WholeGame
from obscuro.uci.witness import NOT_TOLD, Witness


def fog_position(side: chess.Color, plies: Iterable[Ply], start: str | None = None) -> str:
    """Return the command that tells an engine what one side did and saw.

    start: the FEN where the game began, which both sides know; None for the usual start.
    """
    turns = " ".join(map(_ply_text, plies))
    command = f"position fog {chess.COLOR_NAMES[side]} {_start_text(start)} turns"
    return f"{command} {turns}" if turns else command


def account_position(account: Account) -> str:
    """Return the command that tells an engine a side's account."""
    return fog_position(account.side, account.plies, account.start)


def whole_position(board: FogOfWarBoard) -> str:
    """Return the command that tells an engine the whole game: its start and both sides' moves."""
    command = f"position {_start_text(start_fen(board))}"
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"{command} moves {moves}" if moves else command


@lru_cache(maxsize=1 << 14)
def _ply_text(ply: Ply) -> str:
    seen = NOT_TOLD if ply.observation is None else ply.observation.text()
    return seen if ply.move is None else f"{ply.move} {seen}"


def _start_text(fen: str | None) -> str:
    return "startpos" if fen is None else f"fen {fen}"


class PositionReader:
    """Reads one `position` command after the other.

    GUIs send the whole game before each move. Only the new tokens are read.
    """

    def __init__(self) -> None:
        self._source: tuple[chess.Color | None, str | None] | None = None
        self._reader: WholeGame | Witness = WholeGame(start_board(None))
        self._taken: list[str] = []  # the tokens that the reader has taken

    def read(self, arguments: str) -> History:
        """Return the account of the side that the position is for. Raises ProtocolError."""
        command = parse_position(arguments)
        self._find_reader(command)
        for token in command.tokens[len(self._taken) :]:
            self._reader.take(token)
            self._taken.append(token)
        return self._reader.history()

    def anticipation(self) -> Callable[[str], History | None]:
        """Return a function: a move of our side -> our account after this move, or None.

        It is always None if the game's referee keeps secrets. Any thread may call the function.
        """
        if isinstance(self._reader, WholeGame):
            return self._reader.anticipation()
        return lambda move: None

    def _find_reader(self, command: PositionArguments) -> None:
        """Keep the reader if this is its game with more tokens; else make a new one."""
        source = (command.side, command.fen)
        if source == self._source and list(command.tokens[: len(self._taken)]) == self._taken:
            return
        start = start_board(command.fen)
        self._source = source
        self._reader = WholeGame(start) if command.side is None else Witness(command.side, start)
        self._taken = []
