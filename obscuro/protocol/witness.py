"""One side's own account of a game (`position fog`), as a referee that keeps secrets sends it."""

import chess

from obscuro.fog.board import FogOfWarBoard
from obscuro.protocol.history import KING_CAPTURED, NO_MOVE, History, Ply, ending, start_text
from obscuro.protocol.protocol_error import ProtocolError
from obscuro.protocol.sight import Sight, parse_sight

NOT_TOLD = "-"


class _View(FogOfWarBoard):
    """A side's own board: a king that isn't there is just not seen, and the game goes on."""

    def is_variant_end(self) -> bool:
        return False


class Witness:
    """Reads the turns of one side in order of play: own moves and observations.

    What the side last saw fixes its legal moves exactly: it sees every square that it can move to.
    Only its castling rights are remembered.
    """

    def __init__(self, side: chess.Color, start: FogOfWarBoard) -> None:
        self._side = side
        self._start = start_text(start)
        self._turn = start.turn
        self._over = ending(start)
        self._plies: list[Ply] = []
        self._pending: str | None = None  # our move, while what was seen then is still to come
        self._rights = start.castling_rights
        self._look(Sight(start, start.vision_mask(side), start.ep_target(side)))

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
            seen=self._seen.text(),
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
            self._look(Sight(self._view.copy(stack=False), own, None))
            self._plies.append(Ply(move, None))
        else:
            sight = self._observation(token, f"what was seen after {move}")
            self._look(sight)
            self._plies.append(Ply(move, sight.text()))
        self._pending = None

    def _take_other_observation(self, token: str) -> None:
        other = chess.COLOR_NAMES[not self._side]
        sight = self._observation(token, f"what was seen after {other}'s move")
        self._turn = not self._turn
        self._look(sight)
        self._plies.append(Ply(None, sight.text()))
        if not sight.board.kings & sight.board.occupied_co[self._side]:
            self._over = KING_CAPTURED

    def _observation(self, token: str, expected: str) -> Sight:
        if "/" not in token:
            raise ProtocolError(f"{expected} must come, not {_short(token)}")
        return parse_sight(token)

    # -- what the side knows ----------------------------------------------------------------

    def _look(self, sight: Sight) -> None:
        """See the board anew: the pieces seen, and of castling rights those still possible."""
        view = _View(None)
        view.set_piece_map(sight.board.piece_map(mask=sight.seen))
        view.turn = self._side
        view.castling_rights = self._rights
        self._rights = view.castling_rights = view.clean_castling_rights()
        view.ep_square = sight.ep if self._turn == self._side else None
        self._view = view
        self._seen = Sight(view, sight.seen, sight.ep)

    def _moves(self) -> tuple[str, ...]:
        moves = self._view.generate_pseudo_legal_moves()
        return tuple(move.uci() for move in moves if not self._is_blocked(move))

    def _is_blocked(self, move: chess.Move) -> bool:
        """Tell whether a pawn's way ahead is not seen, hence not free: its blocker is in the fog."""
        way = chess.between(move.from_square, move.to_square) | chess.BB_SQUARES[move.to_square]
        is_pawn = chess.BB_SQUARES[move.from_square] & self._view.pawns
        return bool(is_pawn and way & ~self._seen.seen)

    def _name(self) -> str:
        return chess.COLOR_NAMES[self._side]


def _short(token: str) -> str:
    return repr(token if len(token) <= 20 else token[:17] + "...")
