"""Reads what a Mistboard server sends an engine, and writes what it expects in return.

The protocol is Mistboard's `docs/engine-protocol.md`, version 1. Unknown fields are passed over, as
it asks. What is wrong with a message is one line: `MessageError`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

import chess

from obscuro.rules.observation import Observation

PROTOCOL = "1"
GAME = "dark-chess"
"""The only `gameSpecId` that is ours. The server leaves it out for this game."""
_SIDES = {"white": chess.WHITE, "black": chess.BLACK}
_PROMOTIONS = {"queen": "q", "rook": "r", "bishop": "b", "knight": "n"}
_PIECES = dict(zip("PNBRQK", chess.PIECE_TYPES, strict=True))
_MOST_MILLISECONDS = 1 << 31

Kind = Literal["initial", "own_move", "opp_move"]
INITIAL: Kind = "initial"
OWN_MOVE: Kind = "own_move"
OTHER_MOVE: Kind = "opp_move"


class MessageError(Exception):
    """A message is not what the protocol says; the text is one line for the log and the server."""


@dataclass(frozen=True, slots=True)
class WireMove:
    """A move as the server writes it. Castling is the king's move to its own rook.

    promotion: q, r, b, n, or nothing.
    """

    from_square: chess.Square
    to_square: chess.Square
    promotion: str = ""

    def uci(self, before: Observation) -> str:
        """Return the move in UCI. before: what our side saw before it; shows all our pieces."""
        start, target = self.from_square, self.to_square
        kings, rooks, white = (before.boards[i] for i in (chess.KING - 1, chess.ROOK - 1, -1))
        same_side = (white >> start & 1) == (white >> target & 1)
        if kings >> start & 1 and rooks >> target & 1 and same_side:
            east = chess.square_file(target) > chess.square_file(start)
            target = chess.square(6 if east else 2, chess.square_rank(target))
        return f"{chess.SQUARE_NAMES[start]}{chess.SQUARE_NAMES[target]}{self.promotion}"

    def json(self) -> dict[str, str]:
        """Return the move for an answer."""
        names = chess.SQUARE_NAMES
        move = {"from": names[self.from_square], "to": names[self.to_square]}
        roles = [role for role, letter in _PROMOTIONS.items() if letter == self.promotion]
        return move | ({"promotion": roles[0]} if roles else {})


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the server says that our side observed after a ply.

    ply: how many plies have been played. observation: without the en passant square, which the
    server does not tell. lost: where a piece of ours was captured. landing: the square on which the
    other side's move ended, if our side sees it. over: the game has ended.
    """

    ply: int
    kind: Kind
    own_move: WireMove | None
    observation: Observation
    lost: chess.Square | None
    landing: chess.Square | None
    over: bool


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """The server asks for a move of a game of ours.

    moves: our legal moves. fields: the whole message; `read_details` and `read_sighting` read the
    rest, which may be at fault.
    """

    game: str
    session: str
    moves: tuple[WireMove, ...]
    fields: dict[str, Any]

    @property
    def transcript(self) -> list[Any] | None:
        """All sightings as JSON, from the start on; None if there is none. Raises MessageError."""
        told = self.fields.get("observationTranscript")
        return None if told is None else _list(told, "observationTranscript")

    @property
    def latest(self) -> Any:
        """The last sighting as JSON, in place of the transcript."""
        return self.fields.get("latestObservationDelta")


@dataclass(frozen=True, slots=True)
class TurnDetails:
    """When and for whom a move is asked for.

    ply: how many plies have been played. remaining, increment: our clock in ms; remaining is None
    in a game without a clock.
    """

    side: chess.Color
    ply: int
    remaining: int | None
    increment: int


@dataclass(frozen=True, slots=True)
class ObservationPush:
    """What our side sees after its own move, told at once."""

    game: str
    session: str
    sighting: Sighting


def read_json(body: bytes) -> dict[str, Any]:
    """Return the object that a body holds. Raises MessageError."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise MessageError("the body is no JSON") from None
    return _object(value, "the body")


def read_turn(body: dict[str, Any]) -> TurnRequest:
    """Read whose turn it is and the legal moves: enough to answer. Raises MessageError."""
    _check_game(body)
    moves = tuple(_move(move) for move in _list(body.get("legalMoves"), "legalMoves"))
    if not moves:
        raise MessageError("legalMoves is empty")
    return TurnRequest(_text(body, "gameId"), _text(body, "sessionId"), moves, body)


def read_details(request: TurnRequest) -> TurnDetails:
    """Read the side, the ply and the clock of a turn. Raises MessageError."""
    body = request.fields
    clock = _object(body.get("clock") or {}, "clock")
    remaining = clock.get("remaining_ms")
    return TurnDetails(
        side=_side(body.get("color")),
        ply=_whole(body.get("ply"), "ply"),
        remaining=None if remaining is None else _milliseconds(remaining, "remaining_ms"),
        increment=_milliseconds(clock.get("increment_ms") or 0, "increment_ms"),
    )


def read_push(body: dict[str, Any]) -> ObservationPush:
    """Read a push. Raises MessageError."""
    _check_game(body)
    sighting = read_sighting(body.get("observation"))
    return ObservationPush(_text(body, "gameId"), _text(body, "sessionId"), sighting)


def read_sighting(value: Any) -> Sighting:
    """Read an `EngineObservation`. Raises MessageError."""
    fields = _object(value, "an observation")
    kind = fields.get("kind")
    if kind not in (INITIAL, OWN_MOVE, OTHER_MOVE):
        raise MessageError(f"an observation is of the kind {_short(kind)}")
    own_move = fields.get("own_move")
    if (own_move is None) == (kind == OWN_MOVE):
        raise MessageError(f"an observation of the kind {kind} with own_move {_short(own_move)}")
    return Sighting(
        ply=_whole(fields.get("ply"), "ply"),
        kind=kind,
        own_move=None if own_move is None else _move(own_move),
        observation=_observation(fields),
        lost=_square_or_none(fields.get("own_capture_square")),
        landing=_square_or_none(fields.get("opp_capture_landing_square")),
        over=fields.get("game_over") is not None,
    )


# -- parts of messages --------------------------------------------------------------------------


def _check_game(body: dict[str, Any]) -> None:
    version = body.get("protocolVersion")
    if version != PROTOCOL:
        raise MessageError(f"protocolVersion {_short(version)}: only {PROTOCOL} is known")
    if body.get("gameSpecId") not in (None, GAME):
        raise MessageError(f"gameSpecId {_short(body['gameSpecId'])}: this engine plays {GAME}")


def _observation(fields: dict[str, Any]) -> Observation:
    mask = fields.get("visibility_mask")
    try:
        seen = int(mask, 16) if isinstance(mask, str) and len(mask) <= 18 else -1
    except ValueError:
        seen = -1
    if not 0 <= seen <= chess.BB_ALL:
        raise MessageError(f"visibility_mask {_short(mask)}")
    board = chess.BaseBoard.empty()
    for entry in _list(fields.get("visible_pieces"), "visible_pieces"):
        if not isinstance(entry, list) or len(entry) != 2:
            raise MessageError(f"visible_pieces has {_short(entry)}")
        square, piece = _square(entry[0]), _object(entry[1], "a visible piece")
        letter = piece.get("type")
        if not isinstance(letter, str) or letter not in _PIECES:
            raise MessageError(f"a visible piece is {_short(letter)}")
        if not seen >> square & 1:
            raise MessageError(f"{chess.SQUARE_NAMES[square]} has a piece, and is not visible")
        board.set_piece_at(square, chess.Piece(_PIECES[letter], _side(piece.get("color"))))
    return Observation.on(board, seen)


def _move(value: Any) -> WireMove:
    fields = _object(value, "a move")
    try:
        start, target = (chess.parse_square(fields[name]) for name in ("from", "to"))
        promotion = fields.get("promotion")
        return WireMove(start, target, "" if promotion is None else _PROMOTIONS[promotion])
    except (KeyError, TypeError, ValueError):
        raise MessageError(f"a move is {_short(value)}") from None


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MessageError(f"{name} is no object: {_short(value)}")
    return value


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise MessageError(f"{name} is no list: {_short(value)}")
    return value


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise MessageError(f"{name} is {_short(value)}")
    return value


def _side(value: Any) -> chess.Color:
    if not isinstance(value, str) or value not in _SIDES:
        raise MessageError(f"color is {_short(value)}")
    return _SIDES[value]


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise MessageError(f"{name} is {_short(value)}")
    return value


def _milliseconds(value: Any, name: str) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise MessageError(f"{name} is {_short(value)}")
    return round(min(value, _MOST_MILLISECONDS)) if value > 0 else 0  # also for NaN


def _square(value: Any) -> chess.Square:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 64:
        raise MessageError(f"a square is {_short(value)}")
    return value


def _square_or_none(value: Any) -> chess.Square | None:
    return None if value is None else _square(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
