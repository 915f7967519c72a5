"""A whole game, as GUIs send it: both sides' accounts of it."""

from collections.abc import Callable

import chess

from obscuro.rules.account import Account, last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.history import History, ending, start_text
from obscuro.uci.protocol_error import ProtocolError


class WholeGame:
    """Follows a whole game on a board of its own, and keeps both sides' accounts of it.

    The board stays in here. A `History` holds one side's account, and what both sides are told:
    that the game is over.
    """

    def __init__(self, start: FogOfWarBoard) -> None:
        self._board = start
        self._start = start_text(start)
        self._accounts = {side: Account(start, side) for side in chess.COLORS}

    def take(self, token: str) -> None:
        """Make a move of the side to move, in UCI.

        A game may go on past a draw. Raises ProtocolError if the move is not legal; nothing changes
        then.
        """
        board = self._board
        try:
            move = board.parse_uci(token)
        except ValueError:
            move = chess.Move.null()
        if not move or move.uci() != token:
            over = ending(board)
            why = f", the game is over: {over}" if over else ""
            raise ProtocolError(f"illegal move {token!r}{why}")
        board.push(move)
        for account in self._accounts.values():
            account.append(board)

    def history(self) -> History:
        """Return the account of the side to move: `go` is meant for this side."""
        board = self._board
        account = self._accounts[board.turn]
        over = ending(board)
        return History(
            side=account.side,
            start=self._start,
            plies=account.plies,
            observation=account.observation,
            our_turn=True,
            moves=() if over else tuple(move.uci() for move in board.legal_moves),
            over=over,
        )

    def anticipation(self) -> Callable[[str], History | None]:
        """Return a function: a move of the side to move -> this side's account after the move.

        The function returns None if the game is over then. Any thread may call it.
        """
        side = self._board.turn
        board = self._board.copy(stack=False)
        start, plies = self._start, self._accounts[side].plies

        def after(move: str) -> History | None:
            then = board.copy(stack=False)
            then.push_uci(move)
            if then.is_variant_end():
                return None
            return History(
                side=side,
                start=start,
                plies=(*plies, last_ply(then, side)),
                observation=then.observation(side),
                our_turn=False,
                moves=(),
                over=None,
            )

        return after
