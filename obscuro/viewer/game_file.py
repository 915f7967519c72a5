"""Read games of a PGN file, maybe compressed, and refuse what is no game of Fog of War chess."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

import chess
import chess.pgn

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.stalemate import DRAW, LOSS
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import start_board

VARIANT = "Fog of War"
MOST_MOVE_NUMBER = 9_999
"""No game begins at a later move."""
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


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
        # The result ends the moves of the game as text; another word there would be read as a move.
        if self.game.headers["Result"] not in RESULTS:
            self.game.headers["Result"] = "*"

    def end_variation(self) -> None:
        # Texts may close what was not opened, and python-chess closes what was skipped.
        if len(self.variation_stack) > 1:
            super().end_variation()

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)

    def result(self) -> chess.pgn.Game:
        if not self.headers and self.game.is_end() and not self.game.errors:
            self.game.errors.append(ValueError("it has neither headers nor moves"))
        return self.game


def read_game(path: Path, number: int = 1) -> chess.pgn.Game:
    """Return a game of a PGN file; its boards are `FogOfWarBoard`s.

    number: counts from 1. Side lines are left in the game, and not read. Raises
    GameFileError if there is no such game, or if its variant, its position or a move is wrong.
    """
    try:
        with _open(path) as stream:
            for skipped in range(number - 1):
                if not chess.pgn.skip_game(stream):
                    raise GameFileError(_too_few(path, skipped, number))
            game = _next_game(stream, path, number)
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
            while (game := _next_game(stream, path, number + 1)) is not None:
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
    """Return what a side without a move gets in a game, one of `obscuro.rules.stalemate.STALEMATES`.

    A file tells it only by the result of a game that ended so.
    """
    board = game.end().board()
    drawn = board.is_stalemate() and game.headers["Result"] == "1/2-1/2"
    return DRAW if drawn else getattr(board, "stalemate", LOSS)


class TextLimits(NamedTuple):
    """How much of a stranger's text is read.

    games: others are left out. plies: of one game. visits: moves and comments of all games. line:
    characters of a line; python-chess copies the rest of a line after each comment.
    """

    games: int = 50
    plies: int = 600
    visits: int = 20_000
    line: int = 100_000


class GamesOfText(NamedTuple):
    """The games of a text that can be shown, and what is wrong with others, a line each."""

    games: list[chess.pgn.Game]
    faults: list[str]


class _BoundedBuilder(_FogGameBuilder):
    """Builds a game without its side lines, and gives up a text that has too much in it."""

    def __init__(self, visited: Iterator[int]) -> None:
        super().__init__()
        self._visited = visited

    def begin_variation(self) -> chess.pgn.SkipType:  # type: ignore[override] # may skip
        return chess.pgn.SKIP

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        next(self._visited)
        super().visit_move(board, move)

    def visit_comment(self, comment: str) -> None:
        next(self._visited)
        super().visit_comment(comment)


TEXT_LIMITS = TextLimits()
KEPT_LIMITS = TextLimits(line=1 << 23)
"""For a text of `kept_text`, in which a long line is one comment."""
_KEPT_COLUMNS = 100


def kept_text(game: chess.pgn.Game) -> str:
    """Return a game of `games_of_text` as a text that can be read again under `KEPT_LIMITS`.

    Raises GameFileError if it can't.
    """
    text = game.accept(chess.pgn.StringExporter(columns=_KEPT_COLUMNS))
    again = games_of_text(text, KEPT_LIMITS).games
    moves = [list(each.mainline_moves()) for each in (game, *again)]
    if len(again) != 1 or moves[0] != moves[1]:
        raise GameFileError("the game changes when it is written and read again")
    return text


def games_of_text(text: str, limits: TextLimits = TEXT_LIMITS) -> GamesOfText:
    """Return the games of a PGN text, which may be a stranger's.

    Raises GameFileError if there is none that can be shown.
    """
    if max(map(len, text.splitlines()), default=0) > limits.line:
        raise GameFileError(f"a line has more than {limits.line:,} characters")
    found = GamesOfText([], [])
    stream, visited = io.StringIO(text.lstrip("\ufeff")), iter(range(limits.visits))
    for number in range(1, limits.games + 1):
        try:
            game = chess.pgn.read_game(stream, Visitor=lambda: _BoundedBuilder(visited))
        except (StopIteration, ValueError):
            found.faults.append(f"game {number}: too long, or no PGN; it and all after it are left")
            break
        if game is None:
            break
        fault = _fault(game) or _too_long(game, limits.plies)
        if fault is None:
            found.games.append(game)
        else:
            found.faults.append(f"game {number}: {fault}")
    if not found.games:
        raise GameFileError(found.faults[0] if found.faults else "the text holds no game in PGN")
    return found


def _too_long(game: chess.pgn.Game, most: int) -> str | None:
    plies = sum(1 for _ in game.mainline())
    return f"it has {plies:,} plies, and the most is {most:,}" if plies > most else None


def _open(path: Path) -> TextIO:
    """Open a file for reading, through gzip if its name ends in `.gz`."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace")
    return path.open(encoding="utf-8-sig", errors="replace")


def _next_game(stream: TextIO, path: Path, number: int) -> chess.pgn.Game | None:
    """Read the next game of a file; None at its end. Raises GameFileError.

    python-chess keeps errors in moves and headers. It raises ValueError for a number that Python
    does not read, such as an annotation `$` with more than 4,300 digits.
    """
    try:
        return chess.pgn.read_game(stream, Visitor=_FogGameBuilder)
    except ValueError:
        raise GameFileError(f"game {number} of {path}: it is no PGN") from None


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


def _is_possible(board: FogOfWarBoard) -> bool:
    """Tell whether a game can begin like this."""
    if not board.is_valid() or board.has_chess960_castling_rights():
        return False
    if board.fullmove_number > MOST_MOVE_NUMBER:
        return False
    try:
        start_board(board.fen())
    except ProtocolError:
        return False
    return True


def _fault(game: chess.pgn.Game) -> str | None:
    """Say what is wrong with a game, in one line; None if it can be shown."""
    try:
        board = game.board()
    except ValueError as error:  # no such variant, or no position
        return " ".join(str(error).split())
    if not isinstance(board, FogOfWarBoard):
        return f"its variant is {game.headers['Variant']!r}, not {VARIANT!r}"
    if not _is_possible(board):
        return f"Fog of War chess can't be played from the position {board.fen()[:100]!r}"
    nodes = list(game.mainline())
    if game.errors:
        where = f" after {len(nodes)} plies" if nodes else ""
        return " ".join(f"{game.errors[0]}{where}".split())
    for ply, node in enumerate(nodes, 1):
        if not node.move:
            return f"ply {ply} is a null move, which the rules do not know"
    return None
