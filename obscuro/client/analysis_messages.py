"""The messages of `obscuro analyse`: what it reads and what it answers, each a line of JSON.

docs/analyse.md describes them. `analysis_schema.json` beside this file is their JSON Schema.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal

import msgspec

SCHEMA = 1
"""Its number changes when a program that knows one form could misread the other one."""
MOST_PLIES = 10_000
MOST_NODES = 10_000_000
MOST_MOVETIME = 3_600_000
MOST_LISTED = 1_000
LONGEST_ID = 200
MOST_PRIORITY = 1_000_000_000
LISTED = 10
"""Positions that an answer lists unless the query says how many, as the command `belief`."""

SideWord = Literal["white", "black"]
Identifier = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_ID)]
_Ply = Annotated[int, msgspec.Meta(ge=0, le=MOST_PLIES)]
_Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Value = Annotated[float, msgspec.Meta(ge=-1, le=1)]
_Squares = Annotated[
    tuple[_Probability, ...],
    msgspec.Meta(min_length=64, max_length=64, description="Of each square: a1, b1 … h1, a2 … h8."),
]


# -- what it reads --------------------------------------------------------------------------


class AnalysisQuery(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """A game, and the turns of it to analyse."""

    id: Identifier
    moves: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_PLIES)] | None = None
    turns: Annotated[tuple[str, ...], msgspec.Meta(max_length=2 * MOST_PLIES)] | None = None
    start: str = "startpos"
    side: Literal["white", "black", "both"] | None = None
    plies: Annotated[tuple[_Ply, ...], msgspec.Meta(max_length=MOST_PLIES)] | None = None
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MOST_NODES)] | None = None
    movetime: Annotated[int, msgspec.Meta(ge=1, le=MOST_MOVETIME)] | None = None
    options: dict[str, str | int | float | bool] = {}
    priority: Annotated[int, msgspec.Meta(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] = 0
    report_every: Annotated[int, msgspec.Meta(ge=0, le=MOST_MOVETIME)] | None = None
    positions: Annotated[int, msgspec.Meta(ge=0, le=MOST_LISTED)] = LISTED
    marginals: bool = True


class TerminateAction(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="action", tag="terminate"
):
    """Ends one query."""

    terminate_id: Identifier
    id: Identifier | None = None


class TerminateAllAction(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="action", tag="terminate_all"
):
    """Ends all queries."""

    id: Identifier | None = None


class VersionAction(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="action", tag="query_version"
):
    """Asks which program and which form of the messages this is."""

    id: Identifier | None = None


AnalysisAction = TerminateAction | TerminateAllAction | VersionAction
AnalysisRequest = AnalysisQuery | AnalysisAction


# -- what it answers ------------------------------------------------------------------------


class LikelyPosition(msgspec.Struct, kw_only=True, frozen=True):
    """A possible position, as a FEN without counters, and its probability."""

    fen: str
    share: _Probability


class AnalysedBelief(msgspec.Struct, kw_only=True, frozen=True):
    """P, the positions that the side holds possible.

    weighted: whether the shares go by how plausibly the opponent has played.
    """

    size: Annotated[int, msgspec.Meta(ge=1)]
    exact: bool
    weighted: bool
    positions: tuple[LikelyPosition, ...]


class PieceSquares(msgspec.Struct, kw_only=True, frozen=True):
    """How likely each enemy piece is on each square; any: a piece of any type."""

    any: _Squares
    pawn: _Squares
    knight: _Squares
    bishop: _Squares
    rook: _Squares
    queen: _Squares
    king: _Squares


class AnalysedMarginals(msgspec.Struct, kw_only=True, frozen=True):
    """How likely each enemy piece is on each square.

    even: all positions count alike. weighted: each counts by its share; null without weights.
    """

    even: PieceSquares
    weighted: PieceSquares | None


class MoveShare(msgspec.Struct, kw_only=True, frozen=True):
    """A move in UCI, and how often the side plays it."""

    move: str
    probability: _Probability


class AnalysedSearch(msgspec.Struct, kw_only=True, frozen=True):
    """What a search found, in the view of its side.

    move: the one to play; null while the search runs. policy: the solver's strategy. play: what the
    move is drawn from. Both have the largest share first, and are empty before there is a strategy.
    """

    move: str | None
    value: _Value | None
    centipawns: int | None
    policy: tuple[MoveShare, ...]
    play: tuple[MoveShare, ...]
    nodes: int | None
    depth: float | None
    milliseconds: int | None


class PlayedReason(msgspec.Struct, kw_only=True, frozen=True):
    """A possible position, its share of the search's weight, and what both moves are worth in it."""

    fen: str
    share: _Probability
    value: _Value
    other_value: _Value


class PlayedMove(msgspec.Struct, kw_only=True, frozen=True):
    """The move that was played, beside the one that the search prefers to all others.

    loss: how much more the other move is worth; 0 if it is worth no more. A value is null where the
    search looked at no other move.
    """

    move: str
    value: _Value | None
    probability: _Probability
    other: str | None
    other_value: _Value | None
    loss: Annotated[float, msgspec.Meta(ge=0, le=2)] | None
    because: tuple[PlayedReason, ...]


class AnalysedTruth(msgspec.Struct, kw_only=True, frozen=True):
    """What the search knew of the true position; see the command `coverage`."""

    belief: bool
    infoset: bool | None
    expanded: bool | None
    weight: _Probability | None


class AnalysisResult(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="result"):
    """One turn's analysis.

    search, coverage: null on the other side's turn. played: null there, and where the query does not
    tell the move. marginals: null if the query wants none. terminated: whether `terminate` ended the
    search early.
    """

    id: str
    ply: int
    side: SideWord
    belief: AnalysedBelief
    marginals: AnalysedMarginals | None
    search: AnalysedSearch | None
    played: PlayedMove | None
    coverage: AnalysedTruth | None
    terminated: bool


class AnalysisPartial(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="partial"):
    """How far a search has come that still runs."""

    id: str
    ply: int
    side: SideWord
    search: AnalysedSearch


class AnalysisDone(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="done"):
    """The last answer to a query. results, errors: how many of its turns ended so."""

    id: str
    results: int
    errors: int
    terminated: bool


class AnalysisFailure(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="error"):
    """What could not be done.

    field: of the message, if one is at fault. id: null if it can't be read. ply: the turn that
    failed; null if no turn of the query is analysed.
    """

    error: str
    field: str | None = None
    id: str | None = None
    ply: int | None = None


class AnalysisWarning(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="warning"):
    """What a user should know."""

    warning: str
    field: str | None = None
    id: str | None = None


class TerminatedAnswer(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="terminated"
):
    """The answer to `terminate` and `terminate_all`. queries: how many they ended."""

    id: str | None
    terminate_id: str | None
    queries: int


class VersionAnswer(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", tag="version"):
    """The answer to `query_version`."""

    id: str | None
    version: str
    schema: int
    workers: int
    queue: int


AnalysisAnswer = (
    AnalysisResult
    | AnalysisPartial
    | AnalysisDone
    | AnalysisFailure
    | AnalysisWarning
    | TerminatedAnswer
    | VersionAnswer
)


def analysis_schema() -> dict[str, Any]:
    """Return the JSON Schema of all messages: `#/$defs/Request` and `#/$defs/Answer`."""
    requests, answers = AnalysisRequest.__args__, AnalysisAnswer.__args__
    refs, parts = msgspec.json.schema_components(
        [*requests, *answers], ref_template="#/$defs/{name}"
    )
    for part in parts.values():
        if "description" in part:  # which msgspec before 0.23 takes from the docstring as indented
            part["description"] = inspect.cleandoc(part["description"])
    count = len(requests)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Messages of obscuro analyse, schema {SCHEMA}",
        "$defs": {
            "Request": {"anyOf": list(refs[:count])},
            "Answer": {"oneOf": list(refs[count:])},
            **parts,
        },
    }
