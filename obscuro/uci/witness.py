"""One side's own account of a game (`position fog`), as a referee that keeps secrets sends it."""

import chess

from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView
from obscuro.uci.history import KING_CAPTURED, NO_MOVE, History, ending, start_text
from obscuro.uci.protocol_error import ProtocolError

NOT_TOLD = "-"
"""Stands for an observation after an own move that the referee does not tell."""


class Witness:
    """Reads the turns of one side in order of play: its own moves and its observations."""

    def __init__(self, side: chess.Color, start: FogOfWarBoard) -> None:
        self._side = side
        self._start = start_text(start)
        self._over = ending(start)
        self._plies: list[Ply] = []
        self._pending: str | None = None  # our move, while what was seen then is still to come
        self._view = SideView(side, start)

    def take(self, token: str) -> None:
        """Take the next token. Raises ProtocolError; nothing changes then."""
        if self._pending is not None:
            self._take_own_observation(self._pending, token)
        elif self._over is not None:
            raise ProtocolError(f"{_short(token)} comes after the end of the game: {self._over}")
        elif self._view.our_turn:
            self._take_own_move(token)
        else:
            self._take_other_observation(token)

    def history(self) -> History:
        """Return the account so far. Raises ProtocolError in the middle of a turn."""
        if self._pending is not None:
            raise ProtocolError(f"what was seen after {self._pending} is missing")
        our_turn = self._view.our_turn
        moves = self._view.moves() if our_turn and self._over is None else ()
        return History(
            side=self._side,
            start=self._start,
            plies=tuple(self._plies),
            observation=self._view.observation,
            our_turn=our_turn,
            moves=moves,
            over=NO_MOVE if our_turn and self._over is None and not moves else self._over,
        )

    # -- one token --------------------------------------------------------------------------

    def _take_own_move(self, token: str) -> None:
        if "/" in token or token == NOT_TOLD:
            raise ProtocolError(f"a move of {self._name()} must come, not {_short(token)}")
        if token not in self._view.moves():
            raise ProtocolError(f"illegal move {token!r}")
        move = chess.Move.from_uci(token)
        if chess.BB_SQUARES[move.to_square] & self._view.board.kings:
            self._over = KING_CAPTURED
        self._view.push(token)
        self._pending = token

    def _take_own_observation(self, move: str, token: str) -> None:
        expected = f"what was seen after {move}"
        observation = None if token == NOT_TOLD else self._observation(token, expected)
        self._view.see_own_move(observation)
        self._plies.append(Ply(move, observation))
        self._pending = None

    def _take_other_observation(self, token: str) -> None:
        other = chess.COLOR_NAMES[not self._side]
        observation = self._observation(token, f"what was seen after {other}'s move")
        self._view.see_other_move(observation)
        self._plies.append(Ply(None, observation))
        if self._view.board.king(self._side) is None:
            self._over = KING_CAPTURED

    def _observation(self, token: str, expected: str) -> Observation:
        if "/" not in token:
            raise ProtocolError(f"{expected} must come, not {_short(token)}")
        try:
            return Observation.parse(token)
        except ValueError as error:
            raise ProtocolError(str(error)) from None

    def _name(self) -> str:
        return chess.COLOR_NAMES[self._side]


def _short(token: str) -> str:
    return repr(token if len(token) <= 20 else token[:17] + "...")
