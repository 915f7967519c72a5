"""Game records as JSON, and back. Nothing of a record is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import chess

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.matches.game_record import GameRecord, PlayedPly, Turn
from obscuro.matches.time_control import TimeControl
from obscuro.rules.board import BOARDS
from obscuro.rules.stalemate import LOSS

_POLICIES = ("policy", "play")


def record_to_json(record: GameRecord) -> dict[str, Any]:
    """Return a record as a JSON object."""
    return {
        "white": record.white,
        "black": record.black,
        "start": record.board.root().fen(),
        "stalemate": record.board.stalemate,
        "winner": None if record.winner is None else chess.COLOR_NAMES[record.winner],
        "ending": record.ending,
        "regular": record.regular,
        "controls": _by_color({c: control.to_json() for c, control in record.controls.items()}),
        "opening": record.opening,
        "told": _by_color(record.told),
        "started": record.started,
        "turns": [turn_to_json(ply.turn) for ply in record.plies],
    }


def record_from_json(data: Mapping[str, Any]) -> GameRecord:
    """Read what `record_to_json` wrote, and play its moves again.

    Older records do not name the rule of stalemate: there was one only.

    Raises KeyError, TypeError, AttributeError or ValueError for anything else, a game with an
    illegal move above all.
    """
    board = BOARDS[data.get("stalemate", LOSS)](data["start"])
    plies = []
    for each in data["turns"]:
        turn = turn_from_json(each)
        move = board.parse_uci(turn.uci)
        plies.append(PlayedPly(board.turn, turn, board.san(move)))
        board.push(move)
    winner = data["winner"]
    return GameRecord(
        white=str(data["white"]),
        black=str(data["black"]),
        board=board,
        winner=None if winner is None else bool(chess.COLOR_NAMES.index(winner)),
        ending=str(data["ending"]),
        regular=bool(data["regular"]),
        plies=plies,
        controls={c: TimeControl.from_json(data["controls"][name]) for c, name in _colors()},
        opening=str(data["opening"]),
        told={color: str(data["told"][name]) for color, name in _colors()},
        started=str(data["started"]),
    )


def turn_to_json(turn: Turn) -> dict[str, Any]:
    """Return a turn as a JSON object, without what is unknown."""
    data: dict[str, Any] = {"uci": turn.uci, "seconds": turn.seconds}
    if turn.belief_checks:
        data["belief_checks"] = turn.belief_checks
    if turn.report is not None:
        data["report"] = _known(turn.report)
    if turn.coverage is not None:
        data["coverage"] = _known(turn.coverage)
    return data


def turn_from_json(data: Mapping[str, Any]) -> Turn:
    """Read what `turn_to_json` wrote. Raises KeyError, TypeError or AttributeError."""
    report, coverage = data.get("report"), data.get("coverage")
    return Turn(
        uci=str(data["uci"]),
        seconds=float(data["seconds"]),
        report=None if report is None else Report(**_with_tuples(report)),
        belief_checks=int(data.get("belief_checks", 0)),
        coverage=None if coverage is None else Coverage(**coverage),
    )


def _known(values: Report | Coverage) -> dict[str, Any]:
    named = ((field.name, getattr(values, field.name)) for field in fields(values))
    return {name: value for name, value in named if value is not None and value != ()}


def _with_tuples(report: Mapping[str, Any]) -> dict[str, Any]:
    policies = {
        name: tuple((str(move), float(share)) for move, share in report[name])
        for name in _POLICIES
        if name in report
    }
    return {**report, **policies}


def _by_color(values: Mapping[chess.Color, Any]) -> dict[str, Any]:
    return {name: values[color] for color, name in _colors()}


def _colors() -> list[tuple[chess.Color, str]]:
    return [(color, chess.COLOR_NAMES[color]) for color in (chess.WHITE, chess.BLACK)]
