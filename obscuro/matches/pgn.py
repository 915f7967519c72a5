"""Write games as PGN with the variant's name, so that other programs can replay them."""

from __future__ import annotations

import datetime
from typing import TextIO

import chess
import chess.pgn

from obscuro.matches.game_record import GameRecord
from obscuro.matches.pgn_comments import write_comment
from obscuro.matches.time_control import MILLISECONDS, ChessClock, TimeControl

VARIANT = "Fog of War"


def to_pgn(
    record: GameRecord,
    *,
    event: str = "Obscuro arena",
    round_: int | str | None = None,
    fingerprint: str | None = None,
) -> chess.pgn.Game:
    """Convert a record to a game with headers, and a comment on each move (`pgn_comments`).

    round_: for the header `Round`; None writes `?`. fingerprint: of the event, for the header
    `Fingerprint`, by which a file's games are known to belong to a journal.
    """
    game = chess.pgn.Game.from_board(record.board)
    game.headers.update(
        {
            "Event": event,
            "Site": "?",
            "Date": _date(record),
            "Round": str(round_) if round_ is not None else "?",
            "White": record.white,
            "Black": record.black,
            "Result": record.result,
            "Variant": VARIANT,
            "PlyCount": str(len(record.plies)),
            "Termination": record.ending,
            **_opening_header(record),
            **time_headers(record),
            "WhiteTold": record.told[chess.WHITE],
            "BlackTold": record.told[chess.BLACK],
        }
    )
    if fingerprint is not None:
        game.headers["Fingerprint"] = fingerprint
    clock = ChessClock(record.controls[chess.WHITE], record.controls[chess.BLACK])
    for node, ply in zip(game.mainline(), record.plies, strict=True):
        clock.press(ply.color, ply.turn.seconds)
        node.comment = write_comment(ply.turn, ply.color, clock.left(ply.color))
    return game


def write_pgn(
    stream: TextIO,
    record: GameRecord,
    *,
    event: str = "Obscuro arena",
    round_: int | str | None = None,
    fingerprint: str | None = None,
) -> None:
    """Append the game to an open file and flush it, so an interrupted match keeps its games."""
    game = to_pgn(record, event=event, round_=round_, fingerprint=fingerprint)
    stream.write(f"{game}\n\n")  # at once, so that Ctrl-C can't come in between
    stream.flush()


def _date(record: GameRecord) -> str:
    """Return the day of the game, UTC."""
    if not record.started:
        return "????.??.??"
    return datetime.datetime.fromisoformat(record.started).strftime("%Y.%m.%d")


def _opening_header(record: GameRecord) -> dict[str, str]:
    return {"Opening": record.opening} if record.opening else {}


def time_headers(record: GameRecord) -> dict[str, str]:
    """Return the headers of the time: `MoveTime` or `TimeControl`, or one for each side.

    `WhiteTime` and `BlackTime` tell the time where the sides differ.
    """
    white, black = record.controls[chess.WHITE], record.controls[chess.BLACK]
    if white != black:
        return {"WhiteTime": _time(white), "BlackTime": _time(black)}
    if white.movetime:
        return {"MoveTime": _time(white)}
    return {"TimeControl": _time(white)} if white.base else {}


def _time(control: TimeControl) -> str:
    if control.movetime is not None:
        return f"{control.movetime} ms"
    base, increment = (ms / MILLISECONDS for ms in (control.base, control.increment))
    return f"{base:g}+{increment:g}"
