"""The record of a game on a server: notes of its moves while it goes on, and its PGN at the end.

The comments of the PGN are those of `obscuro match`. It holds both sides' moves, so it is written
when the game is over, and nothing of it is sent anywhere.
"""

from __future__ import annotations

import datetime
import fcntl
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from obscuro.bots.events import GameFull, GameState
from obscuro.bots.game_end import OurResult, Verdict
from obscuro.bots.our_view import OurView
from obscuro.client.move_report import Report
from obscuro.matches.atomic_file import replace_text
from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import VARIANT, write_comment

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PlyNotes:
    """What is noted of one move. clock: the mover's milliseconds after it; None: unknown."""

    move: str
    seconds: float = 0.0
    report: Report | None = None
    clock: int | None = None


class GameLog:
    """Notes of the moves by ply; ply 0 is White's first move, or of who moves first."""

    def __init__(self) -> None:
        self.white = "?"
        self.black = "?"
        self.time_control = "?"
        self.began = datetime.datetime.now(datetime.UTC)
        self._notes: dict[int, PlyNotes] = {}

    def begin(self, full: GameFull) -> None:
        """Take note of who plays, and with which time, if no move was made yet."""
        self.white = full.white_name or min(full.white, default="?")
        self.black = full.black_name or min(full.black, default="?")
        state = full.state
        if not state.moves and state.wtime is not None:
            self.time_control = f"{state.wtime // 1000}+{state.winc // 1000}"

    def chose(self, ply: int, move: str, seconds: float, report: Report | None) -> None:
        """Take note of what our engine said of its move."""
        self._notes[ply] = PlyNotes(move, seconds, report)

    def state(self, state: GameState, white_moved: bool) -> None:
        """Take note of the clocks. white_moved: whether White made the last move."""
        if state.moves:
            ply, move = len(state.moves) - 1, state.moves[-1]
            clock = state.wtime if white_moved else state.btime
            self.of(ply, move).clock = clock

    def of(self, ply: int, move: str) -> PlyNotes:
        """Return the notes of a move; those of a move that was taken back are dropped."""
        notes = self._notes.get(ply)
        if notes is None or notes.move != move:
            notes = self._notes[ply] = PlyNotes(move)
        return notes


class PgnArchive:
    """Appends games to a file, or writes each into a file of its own if *path* is a folder.

    Any thread may call this, and several bridges may have the same path. site: the server's
    address.
    """

    def __init__(self, path: Path, site: str) -> None:
        self._path = path
        self._site = site
        self._lock = threading.Lock()

    def save(self, game: str, view: OurView, log: GameLog, verdict: Verdict) -> None:
        """Write a game that is over; nothing if it has no move. Failures go to the log.

        game: its id.
        """
        if view.plies == 0:
            return
        pgn = to_pgn(view, log, verdict)
        pgn.headers["Site"] = f"{self._site}/{game}"
        text = f"{pgn}\n\n"
        try:
            with self._lock:
                if self._path.is_dir():
                    day = log.began.strftime("%Y-%m-%d")
                    replace_text(self._path / f"{day}-{game}.pgn", text)
                else:
                    _append(self._path, text.encode())
        except (OSError, ValueError) as error:
            logger.warning("game %s: its PGN was not written: %s", game, error)


def _append(path: Path, text: bytes) -> None:
    """Append a game to a file, after the last whole line. Raises OSError."""
    with path.open("a+b", buffering=0) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # another bridge may write now
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 2))
        ending = stream.read(2)
        if size and ending != b"\n\n":  # a bridge was killed as it wrote, or a person wrote
            text = b"\n" * (1 if ending.endswith(b"\n") else 2) + text
        try:
            while text:
                text = text[stream.write(text) :]
            os.fsync(stream.fileno())
        except OSError:
            stream.truncate(size)  # a full disk leaves no half of a game
            raise


def to_pgn(view: OurView, log: GameLog, verdict: Verdict) -> chess.pgn.Game:
    """Convert a game to one with headers and comments."""
    pgn = chess.pgn.Game.from_board(view.board())
    pgn.headers.update(
        {
            "Event": "Bot game",
            "Date": log.began.strftime("%Y.%m.%d"),
            "Round": "-",
            "White": log.white,
            "Black": log.black,
            "Result": _result(verdict, view.side),
            "Variant": VARIANT,
            "PlyCount": str(view.plies),
            "Termination": str(verdict),
            "TimeControl": log.time_control,
        }
    )
    for ply, node in enumerate(pgn.mainline()):
        notes = log.of(ply, view.moves[ply])
        turn = Turn(notes.move, notes.seconds, notes.report)
        node.comment = write_comment(turn, not node.turn(), notes.clock)
    return pgn


def _result(verdict: Verdict, side: chess.Color) -> str:
    winner = verdict.winner(side)
    if winner is None:
        return "1/2-1/2" if verdict.outcome == OurResult.DRAWN else "*"
    return "1-0" if winner == chess.WHITE else "0-1"
