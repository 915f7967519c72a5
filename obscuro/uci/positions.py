"""The command `position`: reads a game, or continues the last one."""

from collections.abc import Callable

import chess

from obscuro.uci.history import History
from obscuro.uci.parsing import PositionArguments, parse_position
from obscuro.uci.start import start_board
from obscuro.uci.whole_game import WholeGame
from obscuro.uci.witness import Witness


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
