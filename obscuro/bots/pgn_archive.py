"""A PGN of every game on a server, with what our engine said of its moves.

The comments are those of `obscuro match` (`matches.pgn`). The file holds both sides' moves,
so it is written when the game is over, and nothing of it is sent anywhere.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import chess
import chess.pgn

from obscuro.bots.server_game import ServerGame
from obscuro.bots.verdict import OurResult, Verdict
from obscuro.matches.atomic_file import replace_text
from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import VARIANT, write_comment

logger = logging.getLogger(__name__)


class PgnArchive:
    """Writes games into a file, or each into a file of its own if *path* is a folder.

    A file is replaced as a whole: a reader finds all of a game or nothing. Any thread may call
    this. site: the server's address.
    """

    def __init__(self, path: Path, site: str) -> None:
        self._path = path
        self._site = site
        self._lock = threading.Lock()

    def save(self, game: ServerGame, verdict: Verdict) -> None:
        """Write a game that is over; nothing if it never began. Failures go to the log."""
        if game.view is None or game.view.plies == 0:
            return
        text = f"{to_pgn(game, verdict, self._site)}\n\n"
        try:
            with self._lock:
                if self._path.is_dir():
                    day = game.log.began.strftime("%Y-%m-%d")
                    replace_text(self._path / f"{day}-{game.id}.pgn", text)
                else:
                    before = self._path.read_text("utf-8") if self._path.exists() else ""
                    replace_text(self._path, before + text)
        except (OSError, ValueError) as error:
            logger.warning("game %s: its PGN was not written: %s", game.id, error)


def to_pgn(game: ServerGame, verdict: Verdict, site: str) -> chess.pgn.Game:
    """Convert a game whose moves are known to a game with headers and comments."""
    view, log = game.view, game.log
    assert view is not None
    pgn = chess.pgn.Game.from_board(view.board())
    pgn.headers.update(
        {
            "Event": "Bot game",
            "Site": f"{site}/{game.id}",
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
