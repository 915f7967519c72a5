"""Read games of a PGN file, maybe compressed, and refuse what is no game of Fog of War chess."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import chess
import chess.pgn

from obscuro.fog.board import FogOfWarBoard
from obscuro.fog.stalemate import DRAW, LOSS

VARIANT = "Fog of War"


class GameFileError(ValueError):
    """A file does not hold the game that was asked for. The message is one line for the user."""


class _FogGameBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a game. Without a header `Variant` it takes the moves for those of our variant.

    headers: how many the file gave. It keeps the errors and logs none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.headers = 0

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self.headers += 1
        super().visit_header(tagname, tagvalue)

    def end_headers(self) -> None:
        self.game.headers.setdefault("Variant", VARIANT)

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)

    def result(self) -> chess.pgn.Game:
        if not self.headers and self.game.is_end() and not self.game.errors:
            self.game.errors.append(ValueError("it has neither headers nor moves"))
        return self.game


def read_game(path: Path, number: int = 1) -> chess.pgn.Game:
    """Return a game of a PGN file; its boards are `FogOfWarBoard`s.

    number: counts from 1. Side lines are left in the game; nobody asks for them. Raises
    GameFileError if there is no such game, or if its variant, its position or a move is wrong.
    """
    try:
        with _open(path) as stream:
            for skipped in range(number - 1):
                if not chess.pgn.skip_game(stream):
                    raise GameFileError(_too_few(path, skipped, number))
            game = chess.pgn.read_game(stream, Visitor=_FogGameBuilder)
    except (OSError, EOFError) as error:
        raise _unreadable(path, error) from None
    if game is None:
        raise GameFileError(_too_few(path, number - 1, number))
    return _checked(game, path, number)


def all_games(path: Path) -> Iterator[chess.pgn.Game]:
    """Yield all games of a PGN file, each as `read_game` returns it.

    Raises GameFileError if there is none, or where a game is wrong.
    """
    try:
        with _open(path) as stream:
            number = 0
            while (game := chess.pgn.read_game(stream, Visitor=_FogGameBuilder)) is not None:
                number += 1
                yield _checked(game, path, number)
    except (OSError, EOFError) as error:
        raise _unreadable(path, error) from None
    if not number:
        raise GameFileError(_too_few(path, 0, 1))


def first_board(game: chess.pgn.Game) -> FogOfWarBoard:
    """Return the board that a game of this variant starts from."""
    board = game.board()
    assert isinstance(board, FogOfWarBoard), "`read_game` refuses other variants"
    return board


def stalemate_rule(game: chess.pgn.Game) -> str:
    """Return what a side without a move gets in a game, one of `obscuro.fog.stalemate.STALEMATES`.

    A file tells it only by the result of a game that ended so.
    """
    board = game.end().board()
    drawn = board.is_stalemate() and game.headers["Result"] == "1/2-1/2"
    return DRAW if drawn else getattr(board, "stalemate", LOSS)


def _open(path: Path) -> TextIO:
    """Open a file for reading, through gzip if its name ends in `.gz`."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace")
    return path.open(encoding="utf-8-sig", errors="replace")


def _unreadable(path: Path, error: OSError | EOFError) -> GameFileError:
    """The error for a file that can't be read, or is cut off or no gzip although it is named so."""
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return GameFileError(f"can't read {path}: {reason}")


def _checked(game: chess.pgn.Game, path: Path, number: int) -> chess.pgn.Game:
    """Return a game that can be played again. Raises GameFileError."""
    fault = _fault(game)
    if fault is not None:
        raise GameFileError(f"game {number} of {path}: {fault}")
    return game


def _too_few(path: Path, games: int, number: int) -> str:
    if not games:
        return f"{path} holds no game in PGN"
    return f"{path} has {games} game{'s' * (games > 1)}, and no game {number}"


def _fault(game: chess.pgn.Game) -> str | None:
    """Say what is wrong with a game, in one line; None if it can be shown."""
    try:
        board = game.board()
    except ValueError as error:  # no such variant, or no position
        return " ".join(str(error).split())
    if not isinstance(board, FogOfWarBoard):
        return f"its variant is {game.headers['Variant']!r}, not {VARIANT!r}"
    if not board.is_valid() or board.has_chess960_castling_rights():
        return f"nobody can play Fog of War chess from the position {board.fen()!r}"
    nodes = list(game.mainline())
    if game.errors:
        where = f" after {len(nodes)} plies" if nodes else ""
        return " ".join(f"{game.errors[0]}{where}".split())
    for ply, node in enumerate(nodes, 1):
        if not node.move:
            return f"ply {ply} is a null move, which the rules do not know"
    return None
