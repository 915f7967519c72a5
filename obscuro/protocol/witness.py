"""One side's own account of a game (`position fog`), as a referee that keeps secrets sends it."""

from collections.abc import Iterable

import chess

from obscuro.fog.account import Ply
from obscuro.fog.board import FogOfWarBoard
from obscuro.fog.observation import Observation
from obscuro.protocol.history import KING_CAPTURED, NO_MOVE, History, ending, start_text
from obscuro.protocol.protocol_error import ProtocolError

NOT_TOLD = "-"
"""Stands for an observation after an own move that the referee does not tell."""


def turns_text(plies: Iterable[Ply]) -> str:
    """Return the turns of `position fog` for these plies; `Witness` reads them."""
    tokens = []
    for ply in plies:
        if ply.move is not None:
            tokens.append(ply.move)
        tokens.append(NOT_TOLD if ply.observation is None else ply.observation.text())
    return " ".join(tokens)


class _View(FogOfWarBoard):
    """A side's own board: a king that is not on it is out of sight, and the game goes on."""

    def is_variant_end(self) -> bool:
        return False


class Witness:
    """Reads the turns of one side in order of play: its own moves and its observations.

    What the side last saw fixes its legal moves, since it sees every square that it can move to.
    Beside the last observation only the castling rights are remembered.
    """

    def __init__(self, side: chess.Color, start: FogOfWarBoard) -> None:
        self._side = side
        self._start = start_text(start)
        self._turn = start.turn
        self._over = ending(start)
        self._plies: list[Ply] = []
        self._pending: str | None = None  # our move, while what was seen then is still to come
        self._rights = start.castling_rights
        self._look(start.observation(side))

    def take(self, token: str) -> None:
        """Take the next token. Raises ProtocolError; nothing changes then."""
        if self._pending is not None:
            self._take_own_observation(self._pending, token)
        elif self._over is not None:
            raise ProtocolError(f"{_short(token)} comes after the end of the game: {self._over}")
        elif self._turn == self._side:
            self._take_own_move(token)
        else:
            self._take_other_observation(token)

    def history(self) -> History:
        """Return the account so far. Raises ProtocolError in the middle of a turn."""
        if self._pending is not None:
            raise ProtocolError(f"what was seen after {self._pending} is missing")
        our_turn = self._turn == self._side
        moves = self._moves() if our_turn and self._over is None else ()
        return History(
            side=self._side,
            start=self._start,
            plies=tuple(self._plies),
            observation=self._seen,
            our_turn=our_turn,
            moves=moves,
            over=NO_MOVE if our_turn and self._over is None and not moves else self._over,
        )

    # -- one token --------------------------------------------------------------------------

    def _take_own_move(self, token: str) -> None:
        if "/" in token or token == NOT_TOLD:
            raise ProtocolError(f"a move of {self._name()} must come, not {_short(token)}")
        if token not in self._moves():
            raise ProtocolError(f"illegal move {token!r}")
        move = chess.Move.from_uci(token)
        if chess.BB_SQUARES[move.to_square] & self._view.kings:
            self._over = KING_CAPTURED
        self._view.push(move)
        self._turn = not self._turn
        self._pending = token

    def _take_own_observation(self, move: str, token: str) -> None:
        if token == NOT_TOLD:
            own = self._view.occupied_co[self._side]
            self._look(Observation.on(self._view, own))
            self._plies.append(Ply(move, None))
        else:
            observation = self._observation(token, f"what was seen after {move}")
            self._look(observation)
            self._plies.append(Ply(move, observation))
        self._pending = None

    def _take_other_observation(self, token: str) -> None:
        other = chess.COLOR_NAMES[not self._side]
        observation = self._observation(token, f"what was seen after {other}'s move")
        self._turn = not self._turn
        self._look(observation)
        self._plies.append(Ply(None, observation))
        if self._view.king(self._side) is None:
            self._over = KING_CAPTURED

    def _observation(self, token: str, expected: str) -> Observation:
        if "/" not in token:
            raise ProtocolError(f"{expected} must come, not {_short(token)}")
        try:
            return Observation.parse(token)
        except ValueError as error:
            raise ProtocolError(str(error)) from None

    # -- what the side knows ----------------------------------------------------------------

    def _look(self, observation: Observation) -> None:
        """Set up the view: the pieces seen, and the castling rights that are still possible."""
        view = _View(None)
        view.set_piece_map(observation.board().piece_map())
        view.turn = self._side
        view.castling_rights = self._rights
        self._rights = view.castling_rights = view.clean_castling_rights()
        view.ep_square = observation.en_passant if self._turn == self._side else None
        self._view = view
        self._seen = observation

    def _moves(self) -> tuple[str, ...]:
        moves = self._view.generate_pseudo_legal_moves()
        return tuple(move.uci() for move in moves if not self._is_blocked(move))

    def _is_blocked(self, move: chess.Move) -> bool:
        """Tell whether a pawn's way ahead is out of sight: then a piece in the fog blocks it."""
        way = chess.between(move.from_square, move.to_square) | chess.BB_SQUARES[move.to_square]
        is_pawn = chess.BB_SQUARES[move.from_square] & self._view.pawns
        return bool(is_pawn and way & ~self._seen.seen)

    def _name(self) -> str:
        return chess.COLOR_NAMES[self._side]


def _short(token: str) -> str:
    return repr(token if len(token) <= 20 else token[:17] + "...")
