"""Write games as PGN with the variant's name, so that other programs can replay them."""

from __future__ import annotations

import datetime
from typing import TextIO

import chess
import chess.pgn

from obscuro.arena.game_record import GameRecord, Turn
from obscuro.arena.time_control import MILLISECONDS

VARIANT = "Fog of War"


def to_pgn(
    record: GameRecord, *, event: str = "Obscuro arena", round_: int | None = None
) -> chess.pgn.Game:
    """Convert a record to a game with headers and a comment on each move of an engine.

    round_: the number for the header `Round`; None writes `?`.
    """
    game = chess.pgn.Game.from_board(record.board)
    game.headers.update(
        {
            "Event": event,
            "Site": "?",
            "Date": datetime.datetime.now(datetime.UTC).strftime("%Y.%m.%d"),
            "Round": str(round_) if round_ is not None else "?",
            "White": record.white,
            "Black": record.black,
            "Result": record.result,
            "Variant": VARIANT,
            "PlyCount": str(len(record.plies)),
            "Termination": record.ending,
        }
    )
    control = record.controls[chess.WHITE]
    if control.movetime:
        game.headers["MoveTime"] = f"{control.movetime} ms"
    elif control.base:
        base, increment = (ms / MILLISECONDS for ms in (control.base, control.increment))
        game.headers["TimeControl"] = f"{base:g}+{increment:g}"
    for node, ply in zip(game.mainline(), record.plies, strict=True):
        node.comment = comment(ply.turn)
    return game


def write_pgn(
    stream: TextIO, record: GameRecord, *, event: str = "Obscuro arena", round_: int | None = None
) -> None:
    """Append the game to an open file and flush it, so an interrupted match keeps its games."""
    print(to_pgn(record, event=event, round_=round_), file=stream, end="\n\n")
    stream.flush()


def comment(turn: Turn) -> str:
    """Summarise an engine's report on its turn in a few words; empty if it made no report."""
    report = turn.report
    if report is None:
        return ""
    parts = []
    if report.belief is not None:
        parts.append(f"|P| {report.belief}" + ("" if report.exact in (True, None) else " inexact"))
    if report.nodes is not None:
        parts.append(f"nodes {report.nodes:.0f}")
    if report.depth is not None:
        parts.append(f"depth {report.depth:g}")
    if report.centipawns is not None:
        parts.append(f"cp {report.centipawns:+.0f}")
    parts.append(f"{turn.seconds:.3f} s")
    return ", ".join(parts)
