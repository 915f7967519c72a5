"""A whole game, as GUIs send it: what each side has seen of it, ply by ply."""

from collections.abc import Callable

import chess

from obscuro.fog.board import FogOfWarBoard
from obscuro.protocol.history import History, Ply, ending, start_text
from obscuro.protocol.protocol_error import ProtocolError


class Referee:
    """Follows a whole game and keeps both sides' accounts of it.

    The board is his alone. What a `History` holds is that side's moves and observations, and what
    everybody is told: that the game is over.
    """

    def __init__(self, start: FogOfWarBoard) -> None:
        self._board = start
        self._start = start_text(start)
        self._plies: dict[chess.Color, list[Ply]] = {chess.WHITE: [], chess.BLACK: []}

    def take(self, token: str) -> None:
        """Make a move of the side to move, in UCI. Raises ProtocolError; nothing changes then.

        A game may go on past a draw, if it is played on.
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
        mover = board.turn
        board.push(move)
        for side in chess.COLORS:
            own = token if side == mover else None
            self._plies[side].append(Ply(own, board.fog_fen(side)))

    def history(self) -> History:
        """Return the account of the side to move, which is the one that `go` is meant for."""
        board = self._board
        side = board.turn
        over = ending(board)
        return History(
            side=side,
            start=self._start,
            plies=tuple(self._plies[side]),
            seen=board.fog_fen(side),
            our_turn=True,
            moves=() if over else tuple(move.uci() for move in board.legal_moves),
            over=over,
        )

    def anticipation(self) -> Callable[[str], History | None]:
        """Return a function: the account of the side to move after one of its moves.

        It is None if the game is over then. May be called by any thread.
        """
        board = self._board.copy(stack=False)
        start, plies = self._start, tuple(self._plies[board.turn])

        def after(move: str) -> History | None:
            side = board.turn
            then = board.copy(stack=False)
            then.push_uci(move)
            if then.is_variant_end():
                return None
            seen = then.fog_fen(side)
            return History(
                side=side,
                start=start,
                plies=(*plies, Ply(move, seen)),
                seen=seen,
                our_turn=False,
                moves=(),
                over=None,
            )

        return after
