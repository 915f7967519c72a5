"""Games as files hold them: PGN files and journals of matches."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import chess
import chess.pgn

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.matches.journal import read_journal
from obscuro.matches.pgn import read_comment, time_headers
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import GameFileError, all_games

BOTH = "both"
_JOURNAL = ".jsonl"


@dataclass(frozen=True)
class FiledGame:
    """One game of a file.

    number: its place in the file, from 1. winner: None for a draw. regular: whether the rules ended
    it; False after a forfeit, or at the limit of moves. coverages: what the mover's search knew of
    the true position at each ply, and beliefs: the |P| of the mover; None: the file does not say.
    time: of both players, such as `200 ms`; empty if it is not the same, or not told.
    """

    number: int
    names: Mapping[chess.Color, str]
    start: FogOfWarBoard
    moves: tuple[chess.Move, ...]
    winner: chess.Color | None
    regular: bool
    coverages: tuple[Coverage | None, ...]
    beliefs: tuple[int | None, ...]
    time: str

    def result(self, side: chess.Color) -> int:
        """The result for one side: 1, 0 or -1."""
        return 0 if self.winner is None else 1 if self.winner == side else -1

    def sides(self, wanted: str) -> list[chess.Color]:
        """The sides that `--side` names: a colour, `both`, or a player's name."""
        if wanted == BOTH:
            return [chess.WHITE, chess.BLACK]
        if wanted in chess.COLOR_NAMES:
            return [wanted == chess.COLOR_NAMES[chess.WHITE]]
        return [color for color in (chess.WHITE, chess.BLACK) if self.names[color] == wanted]

    @cached_property
    def key(self) -> int:
        """A hash of the start and the moves, 64 bits: the same in whatever file the game is."""
        text = " ".join([self.start.fen(), *(move.uci() for move in self.moves)])
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def load_games(path: Path) -> list[FiledGame]:
    """Read all games of a PGN file, or of a journal (`.jsonl`).

    Raises GameFileError or JournalError, with one line for the user.
    """
    if path.suffix != _JOURNAL:
        return [_from_pgn(game, path, number) for number, game in enumerate(all_games(path), 1)]
    records = sorted(read_journal(path).games.items())
    return [
        FiledGame(
            number + 1,
            {chess.WHITE: record.white, chess.BLACK: record.black},
            record.board.root(),
            tuple(record.board.move_stack),
            record.winner,
            record.regular,
            tuple(ply.turn.coverage for ply in record.plies),
            tuple(_belief(ply.turn.report) for ply in record.plies),
            _time(time_headers(record)),
        )
        for number, record in records
    ]


def _from_pgn(game: chess.pgn.Game, path: Path, number: int) -> FiledGame:
    headers, end = game.headers, game.end().board()
    winners = {"1-0": chess.WHITE, "0-1": chess.BLACK, "1/2-1/2": None}
    if headers["Result"] not in winners:
        raise GameFileError(f"game {number} of {path} has no result")
    moves = tuple(node.move for node in game.mainline())
    notes = [read_comment(node.comment, not node.turn()) for node in game.mainline()]
    if headers.get("PlyCount", str(len(moves))) != str(len(moves)):
        raise GameFileError(
            f"game {number} of {path} is torn: it has {len(moves)} of {headers['PlyCount']} plies"
        )
    start = game.board()
    assert isinstance(start, FogOfWarBoard)
    return FiledGame(
        number,
        {chess.WHITE: headers["White"], chess.BLACK: headers["Black"]},
        start,
        moves,
        winners[headers["Result"]],
        end.is_game_over(),
        tuple(note.coverage for note in notes),
        tuple(_belief(note.report) for note in notes),
        _time(headers),
    )


def _time(headers: Mapping[str, str]) -> str:
    return headers.get("MoveTime", headers.get("TimeControl", ""))


def _belief(report: Report | None) -> int | None:
    return None if report is None else report.belief
