"""Reads what comes in: a line of JSON becomes a checked query or an action.

A query's game becomes one or two `GameView`: what one side did and saw, ply by ply. An engine is
told nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import chess
import msgspec

from obscuro.client.analysis_messages import (
    LONGEST_ID,
    AnalysisAction,
    AnalysisQuery,
    AnalysisWarning,
    TerminateAction,
    TerminateAllAction,
    VersionAction,
)
from obscuro.client.limit import Limit
from obscuro.engine.options import OptionError, Options, text_of
from obscuro.rules.account import Account, Ply, start_fen
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.starts import is_hidden
from obscuro.suggestion import did_you_mean
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import FogGame, fog_position, hidden_start_board, start_board
from obscuro.uci.printing import one_line

SERVICE_OPTIONS = ("Threads", "Hash", "Ponder", "UCI_Variant", "UCI_Chess960", "Stockfish")
"""Options that a query can't set: the command line sets them, or they make no sense here."""
BOUNDED_OPTIONS = ("Max Positions", "eval_cache")
"""A query can make these smaller only: they bound the memory."""
NODES_MOVETIME = 600_000
"""The ms after which a search that is limited by nodes alone ends."""
MOST_UNKNOWN = 10
"""Unknown fields that are warned of, in one message."""
_FIELD_NAMES = {
    kind: frozenset(field.encode_name for field in msgspec.structs.fields(kind))
    for kind in (AnalysisQuery, TerminateAction, TerminateAllAction, VersionAction)
}
_PLACE = re.compile(r" - at `\$\.?([^`]*)`$")
_START = "startpos"


class QueryError(Exception):
    """A message can't be carried out. The text is one line for its sender.

    field: of the message, if one is at fault. id: None if it can't be read.
    """

    def __init__(self, text: str, field: str | None = None, identifier: str | None = None) -> None:
        super().__init__(one_line(text))
        self.field = field
        self.id = identifier


@dataclass(frozen=True, slots=True)
class GameView:
    """One side's view of a query's game.

    start: the FEN where the game began, as far as the side knows it; None for the usual start.
    first: who moved first. moves: of both sides; None if only one side's view is known. numbers: the
    plies to analyse, rising: a number is how many plies have been played.
    """

    side: chess.Color
    start: str | None
    first: chess.Color
    plies: tuple[Ply, ...]
    moves: tuple[str, ...] | None
    numbers: tuple[int, ...]

    def position(self, number: int) -> str:
        """Return the command that tells an engine this side's view after so many plies."""
        return fog_position(self.side, self.plies[:number], self.start)

    def is_own_turn(self, number: int) -> bool:
        """Return whether this side is to move after so many plies."""
        return (self.first == self.side) == (number % 2 == 0)

    def played(self, number: int) -> str | None:
        """Return this side's move after so many plies; None if it is not told."""
        return self.plies[number].move if number < len(self.plies) else None

    def board(self, number: int) -> FogOfWarBoard | None:
        """Return the true position after so many plies; None if the query does not tell it."""
        if self.moves is None:
            return None
        board = start_board(self.start)
        for move in self.moves[:number]:
            board.push_uci(move)
        return board


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that can be carried out. options: all that the engine must have, as texts."""

    query: AnalysisQuery
    limit: Limit
    options: Mapping[str, str]
    views: tuple[GameView, ...]
    tau: float


# -- a line ---------------------------------------------------------------------------------


def read_request(line: str) -> tuple[AnalysisQuery | AnalysisAction, AnalysisWarning | None]:
    """Read a line; the query's game is not looked at. Return a warning of unknown fields with it.

    Raises QueryError.
    """
    try:
        fields: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise QueryError(f"the line is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise QueryError("a line must hold one JSON object")
    told = fields.get("id")
    identifier = told if isinstance(told, str) and 0 < len(told) <= LONGEST_ID else None
    kind: Any = AnalysisAction if "action" in fields else AnalysisQuery
    try:
        request: AnalysisQuery | AnalysisAction = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise _query_error(str(error), identifier) from None
    known = _FIELD_NAMES[type(request)] | ({"action"} if "action" in fields else set())
    unknown = [name for name in fields if name not in known]
    if not unknown:
        return request, None
    first, more = unknown[0], len(unknown) - MOST_UNKNOWN
    text = f"unknown fields: {', '.join(unknown[:MOST_UNKNOWN])}" + (
        f" and {more} more" if more > 0 else did_you_mean(first[:20], known)
    )
    return request, AnalysisWarning(warning=one_line(text), field=one_line(first), id=request.id)


def _query_error(text: str, identifier: str | None) -> QueryError:
    """Return the error for a text of msgspec, such as ``Expected `int` - at `$.nodes` ``."""
    place = _PLACE.search(text)
    if place is not None:
        text = text[: place.start()]
    missing = re.search(r"missing required field `([^`]*)`", text)
    field = missing[1] if missing else (place[1] if place else None)
    return QueryError(f"{field or 'the message'}: {text}", field or None, identifier)


# -- a query's game -------------------------------------------------------------------------


def check_query(query: AnalysisQuery, base: Options) -> CheckedQuery:
    """Check all of a query, and follow its game. base: the service's options. Raises QueryError."""
    try:
        options = _options(query, base)
        views = _views(query)
    except QueryError as error:
        error.id = query.id
        raise
    if query.nodes is None and query.movetime is None:
        raise QueryError("a query needs nodes, movetime or both", "nodes", query.id)
    return CheckedQuery(
        query,
        Limit(query.movetime or NODES_MOVETIME, query.nodes),
        {option.name: text_of(options.get(option.name)) for option in options.table},
        views,
        options.number("tau"),
    )


def _options(query: AnalysisQuery, base: Options) -> Options:
    options = base.copy()
    for name, value in query.options.items():
        field = f"options.{one_line(name)}"
        try:
            proper = options.set(name, text_of(value))
        except OptionError as error:
            raise QueryError(f"options: {error}", field) from None
        if proper in SERVICE_OPTIONS:
            raise QueryError(f"options: {proper} can be set on the command line only", field)
    for name in BOUNDED_OPTIONS:
        if options.integer(name) > base.integer(name):
            raise QueryError(
                f"options: {name} can be at most {base.integer(name)}, as on the command line",
                "options",
            )
    return options


def _views(query: AnalysisQuery) -> tuple[GameView, ...]:
    if (query.moves is None) == (query.turns is None):
        raise QueryError("a query needs moves or turns, and not both", "moves")
    if query.turns is not None and query.side not in ("white", "black"):
        raise QueryError("turns are those of one side: side must be white or black", "side")
    hidden = query.start if query.turns is not None and is_hidden(query.start) else None
    try:
        if hidden is not None:
            start = hidden_start_board(hidden, query.side == "white")
        else:
            start = start_board(None if query.start == _START else query.start)
    except ProtocolError as error:
        raise QueryError(f"start: {error}", "start") from None
    return _whole_game(query, start) if query.moves is not None else _one_side(query, start, hidden)


def _whole_game(query: AnalysisQuery, board: FogOfWarBoard) -> tuple[GameView, ...]:
    first, start, moves = board.turn, start_fen(board), query.moves or ()
    sides = chess.COLORS if query.side in (None, "both") else (query.side == "white",)
    accounts = [Account(board, side) for side in sides]
    for number, text in enumerate(moves):
        move = _legal_move(board, text)
        if move is None:
            raise QueryError(
                f"moves: illegal move {text[:20]!r} at ply {number}", f"moves[{number}]"
            )
        board.push(move)
        for account in accounts:
            account.append(board)
    over = board.is_variant_end() or not any(board.generate_legal_moves())
    last = len(moves) - over
    views = []
    for account in accounts:
        own = [n for n in range(last + 1) if (first == account.side) == (n % 2 == 0)]
        numbers = own if query.plies is None else _asked(query.plies, last, len(moves))
        if query.plies is not None and len(accounts) > 1:
            numbers = sorted(set(own) & set(numbers))
        views.append(GameView(account.side, start, first, account.plies, moves, tuple(numbers)))
    return tuple(view for view in views if view.numbers)


def _legal_move(board: FogOfWarBoard, text: str) -> chess.Move | None:
    try:
        move = board.parse_uci(text)
    except ValueError:
        return None
    return move if move and move.uci() == text else None


def _one_side(
    query: AnalysisQuery, board: FogOfWarBoard, hidden: str | None
) -> tuple[GameView, ...]:
    """Return the view of the side that tells its turns.

    board: where the game began. hidden: the FEN that the side knows of it, if not all; the board is
    then one of those that fit.
    """
    side, start, first = query.side == "white", hidden or start_fen(board), board.turn
    game = FogGame(side, board, hidden)
    number = 0
    try:
        for number, token in enumerate(query.turns or ()):  # noqa: B007 - the error names it
            game.take(token)
        history = game.history()
    except ProtocolError as error:
        raise QueryError(f"turns: {error}", f"turns[{number}]") from None
    last = len(history.plies) - (history.over is not None)
    if query.plies is None:
        numbers = [n for n in range(last + 1) if (first == side) == (n % 2 == 0)]
    else:
        numbers = _asked(query.plies, last, len(history.plies))
    if not numbers:
        return ()
    return (GameView(side, start, first, history.plies, None, tuple(numbers)),)


def _asked(plies: tuple[int, ...], last: int, length: int) -> list[int]:
    """Return the plies that a query asks for. last: after which the game goes on."""
    for index, number in enumerate(plies):
        if number > length:
            raise QueryError(
                f"plies: the game has {length} plies, and no {number}", f"plies[{index}]"
            )
        if number > last:
            raise QueryError(f"plies: the game is over at ply {number}", f"plies[{index}]")
    return sorted(set(plies))
