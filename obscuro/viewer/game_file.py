"""Read games of a file or a text: the one reader of all commands, tools and pages.

It reads PGN as many programs write it, JSON and JSON lines (`game_text`, `move_text`), packed by gzip
or not, and a match's journal. A game that is none of Fog of War chess, or that can't be played again,
is refused with its number, the ply and the reason, in one line. The other games open.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, cast

import chess
import chess.pgn

from obscuro.matches.journal import JournalError, read_journal
from obscuro.matches.pgn import HIDDEN_START, to_pgn
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.stalemate import DRAW, LOSS
from obscuro.rules.starts import fen_of, hidden_fen, possible_starts
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import start_board
from obscuro.viewer.game_text import VARIANT, RawGame, raw_games
from obscuro.viewer.move_text import RESULTS, MoveTextError, names_a_square, read_moves

MOST_MOVE_NUMBER = 9_999
"""No game begins at a later move."""
PLAIN_CHESS = frozenset({"", "?", "-", "chess", "standard", "normal", "from position"})
"""Names of a header `Variant` that tell nothing: writers that do not know our game use them."""
_SERVER_VARIANTS = ("FFA", "Teams", "Solo")
_OURS = re.compile(r"fog\W*of\W*war|dark\W*chess", re.IGNORECASE)
_SERVER_START = "2PC"
"""What `StartFen4` calls the usual start of two players."""
_SEATS = {"Red": "White", "Yellow": "Black", "RedElo": "WhiteElo", "YellowElo": "BlackElo"}
"""What a server with four seats calls the two of a game for two."""
_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OLD_BYTES = "obscuro.old-bytes"


def _as_latin(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are no UTF-8 as old programs of the West wrote them."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return wrong.decode("cp1252", errors="replace"), error.end


codecs.register_error(_OLD_BYTES, _as_latin)


class GameFileError(ValueError):
    """A file does not hold the game that was asked for. The message is one line for the user."""


class GameFault(NamedTuple):
    """Why a game of a file can't be read. number: from 1. ply: from 1; None: it is not about one."""

    number: int
    ply: int | None
    why: str

    def text(self, path: Path | None = None) -> str:
        """Return the line for the user: `game 3 of games.pgn, ply 12: 'Ke3' can't be played here`."""
        where = f"game {self.number}" + ("" if path is None else f" of {path}")
        return f"{where}{'' if self.ply is None else f', ply {self.ply}'}: {self.why}"


def read_game(path: Path, number: int = 1) -> chess.pgn.Game:
    """Return a game of a file; its boards are `FogOfWarBoard`s.

    number: counts from 1. The games before it are not read. Side lines are left out. Raises
    GameFileError if there is no such game, or if its variant, its position or a move is wrong.
    """
    found = 0
    with _stored_games(path) as games:
        for found, raw in enumerate(games, 1):
            if found == number:
                game = _read(raw, found)
                if isinstance(game, GameFault):
                    raise GameFileError(game.text(path))
                return game
    raise GameFileError(_too_few(path, found, number))


def all_games(
    path: Path, on_fault: Callable[[GameFault], None] | None = None
) -> Iterator[chess.pgn.Game]:
    """Yield all games of a file, each as `read_game` returns it. One is held at a time.

    on_fault: receives what is wrong with a game, in its place among the others; they go on. Raises
    GameFileError if there is no game in the file and, without `on_fault`, where a game is wrong.
    """
    number = 0
    with _stored_games(path) as games:
        for number, raw in enumerate(games, 1):
            game = _read(raw, number)
            if not isinstance(game, GameFault):
                yield game
            elif on_fault is None:
                raise GameFileError(game.text(path))
            else:
                on_fault(game)
    if not number:
        raise GameFileError(_too_few(path, 0, 1))


def first_board(game: chess.pgn.Game) -> FogOfWarBoard:
    """Return the board that a game of this variant starts from."""
    board = game.board()
    assert isinstance(board, FogOfWarBoard), "`read_game` refuses other variants"
    if game.headers.get(HIDDEN_START) == "yes":
        draft = FogOfWarBoard(board.fen(), chess960=True)
        draft.hidden_start = _is_draft(draft)
        return draft if draft.hidden_start else board
    return board


def _is_draft(start: FogOfWarBoard) -> bool:
    """Tell whether each side must think a start possible of which it knows its own half."""
    try:
        return all(
            fen_of(start) in possible_starts(hidden_fen(start, side), side) for side in chess.COLORS
        )
    except ValueError:
        return False


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
    characters of a line. unpacked: bytes of a text that was packed by gzip.
    """

    games: int = 50
    plies: int = 600
    visits: int = 20_000
    line: int = 100_000
    unpacked: int = 1 << 23


class GamesOfText(NamedTuple):
    """The games of a text that can be shown, and what is wrong with others, a line each."""

    games: list[chess.pgn.Game]
    faults: list[str]


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
    """Return the games of a text in any form of a file, which may be a stranger's.

    Raises GameFileError if there is none that can be shown.
    """
    if max(map(len, text.splitlines()), default=0) > limits.line:
        raise GameFileError(f"a line has more than {limits.line:,} characters")
    found = GamesOfText([], [])
    stream, visited = io.StringIO(text.lstrip("\ufeff"), newline=None), iter(range(limits.visits))
    for number, raw in enumerate(raw_games(stream), 1):
        if number > limits.games:
            break
        try:
            game = _read(raw, number, lambda: next(visited))
        except StopIteration:
            found.faults.append(f"game {number}: too long; it and all after it are left")
            break
        if not isinstance(game, GameFault):
            plies = sum(1 for _ in game.mainline())
            if plies <= limits.plies:
                found.games.append(game)
                continue
            why = f"it has {plies:,} plies, and the most is {limits.plies:,}"
            game = GameFault(number, None, why)
        found.faults.append(game.text())
    if not found.games:
        raise GameFileError(found.faults[0] if found.faults else "the text holds no game")
    return found


def games_of_bytes(data: bytes, limits: TextLimits = TEXT_LIMITS) -> GamesOfText:
    """Return the games of a file's bytes, as `games_of_text` does."""
    try:
        stream = _decoded(io.BytesIO(data))
        text = stream.read(limits.unpacked + 1)
    except (OSError, EOFError, zlib.error, UnicodeError) as error:
        raise GameFileError(f"the file can't be read: {_reason(error)}") from None
    if len(text) > limits.unpacked:
        raise GameFileError(f"the file has more than {limits.unpacked:,} characters when unpacked")
    return games_of_text(text, limits)


# -- inside -------------------------------------------------------------------------------------


@contextmanager
def _stored_games(path: Path) -> Iterator[Iterator[RawGame | chess.pgn.Game]]:
    """Open a file of games. Raises GameFileError, also for what goes wrong inside the block."""
    try:
        with path.open("rb") as file:
            stream = _decoded(file)
            first = stream.readline()
            if first.startswith('{"kind":"event"'):
                yield (to_pgn(game) for _, game in sorted(read_journal(path).games.items()))
            else:
                yield raw_games(_with_first(first, stream))
    except (OSError, EOFError, zlib.error, UnicodeError) as error:
        raise GameFileError(f"can't read {path}: {_reason(error)}") from None
    except JournalError as error:
        raise GameFileError(str(error)) from None


def _with_first(first: str, stream: TextIO) -> Iterator[str]:
    yield first
    yield from stream


def _decoded(file: BinaryIO) -> TextIO:
    """Return the text of a file, which may be packed by gzip, whatever its name.

    It is UTF-8, or UTF-16 with a mark; bytes that are no UTF-8 are taken for Latin-1 of Windows.
    """
    if file.read(2) == _GZIP:
        file.seek(0)
        file = cast("BinaryIO", io.BufferedReader(gzip.GzipFile(fileobj=file)))
        mark = cast("io.BufferedReader", file).peek(2)[:2]
    else:
        file.seek(0)
        mark = file.read(2)
        file.seek(0)
    if mark in _UTF_16:
        return io.TextIOWrapper(file, encoding="utf-16", errors="replace")
    return io.TextIOWrapper(file, encoding="utf-8-sig", errors=_OLD_BYTES)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split())


def _read(
    raw: RawGame | chess.pgn.Game, number: int, visit: Callable[[], object] = lambda: None
) -> chess.pgn.Game | GameFault:
    """Return a game as it was played, or why it can't be. visit: see `read_moves`."""
    if isinstance(raw, chess.pgn.Game):
        return raw
    if raw.fault is not None:
        return GameFault(number, raw.ply, raw.fault)
    game = chess.pgn.Game()
    for name, value in raw.headers:
        game.headers[_SEATS.get(name, name)] = value
    fault = _wrong_headers(game.headers)
    if fault is None:
        try:
            board = game.board()
        except ValueError as error:  # no such variant, or no position
            fault = " ".join(str(error).split())
        else:
            if not isinstance(board, FogOfWarBoard):
                fault = f"its variant is {game.headers['Variant']!r}, not {VARIANT!r}"
            elif not _is_possible(board):
                shown = board.fen()[:100]
                fault = f"Fog of War chess can't be played from the position {shown!r}"
    if fault is not None:
        return GameFault(number, None, fault)
    try:
        read_moves(game, raw.moves, cast("FogOfWarBoard", board), visit)
    except MoveTextError as error:
        if raw.headers or names_a_square(raw.moves):
            return GameFault(number, error.ply, str(error))
    if not raw.headers and game.is_end():
        return GameFault(number, None, "it has neither headers nor moves")
    return game


def _wrong_headers(headers: chess.pgn.Headers) -> str | None:
    """Bring the headers into our form; say what is wrong with them, or None."""
    result = "".join(headers["Result"].split())
    headers["Result"] = RESULTS.get(result, "*")
    rules = " ".join(headers.get(name, "") for name in ("RuleVariants", "SubVariant", "Rules"))
    variant = headers.get("Variant", "").strip()
    named = f"{variant} {rules}" if variant in _SERVER_VARIANTS else variant
    if variant.lower() in PLAIN_CHESS or _OURS.search(named):
        headers["Variant"] = VARIANT
    start = headers.get("StartFen4", _SERVER_START).strip()
    if start not in (_SERVER_START, "") and "FEN" not in headers:
        return f"its header StartFen4 is {start[:40]!r}; only {_SERVER_START!r} is read"
    return None


def _too_few(path: Path, games: int, number: int) -> str:
    if not games:
        return f"{path} holds no game"
    return f"{path} has {games} game{'s' * (games > 1)}, and no game {number}"


def _is_possible(board: FogOfWarBoard) -> bool:
    """Tell whether a game can begin like this."""
    if not board.is_valid():
        return False
    if board.fullmove_number > MOST_MOVE_NUMBER:
        return False
    try:
        start_board(fen_of(board))
    except ProtocolError:
        return False
    return True
