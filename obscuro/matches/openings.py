"""Openings: starting positions of games that both sides know.

A file of openings has one opening a line. `#` begins a comment. The forms are:

    ruy lopez: e2e4 e7e5 g1f3 b8c6 f1b5        a name and moves, in UCI or in standard notation
    1. d4 d5 2. c4                             moves alone
    r1bqkbnr/pppppppp/2n5/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 2 2      a FEN
    4k3/8/8/8/8/8/4P3/4K3 w - - id "pawn ending";                      or an EPD
    rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w EAea - 0 1     castling rights by files: Chess960

The game begins at the position after the moves. The moves themselves are no part of it, so they do
not count for a threefold repetition, and each side knows the whole position.
"""

from __future__ import annotations

import random
import re
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import chess

from obscuro.rules.board import BOARDS, FogOfWarBoard
from obscuro.rules.stalemate import LOSS
from obscuro.rules.starts import STARTS, board_of, fen_of, names_files

DEFAULT, NONE, CHESS960, DRAFT = "default", "none", "chess960", "draft"
"""The words of `--openings` for the book of the package, the plain start, all of Chess960, and starts
of Chess960 that differ from side to side, of which each side knows its own half."""
_MOVE_NUMBER = re.compile(r"\d+\.+")
_BOOK = "openings.txt"


class OpeningsError(ValueError):
    """A file of openings can't be used. The text is one line for the user."""


class Opening(NamedTuple):
    """A line from a position. The game begins where the line ends.

    moves: in UCI notation. hidden: whether neither side knows how the other one begins.
    """

    name: str
    fen: str
    moves: tuple[str, ...]
    hidden: bool = False

    def start(self, stalemate: str = LOSS) -> FogOfWarBoard:
        """Return the board on which the game begins, without moves on its stack.

        stalemate: what a side without a move gets, of `obscuro.rules.stalemate.STALEMATES`.
        """
        board = board_of(self.fen)
        for move in self.moves:
            board.push_uci(move)
        start = board_of(fen_of(board), BOARDS[stalemate])
        start.hidden_start = self.hidden
        return start


PLAIN = Opening("plain start", FogOfWarBoard.starting_fen, ())


def openings_named(text: str) -> list[Opening]:
    """Return the openings that `--openings` asks for: one of its words, or a file.

    Raises OpeningsError.
    """
    if text == NONE:
        return [PLAIN]
    if text == CHESS960:
        return chess960_openings()
    if text == DRAFT:
        return draft_openings()
    return default_openings() if text == DEFAULT else read_openings(Path(text))


def chess960_openings() -> list[Opening]:
    """Return the 960 starts of Chess960, named by their numbers."""
    boards = map(FogOfWarBoard.from_chess960_pos, range(STARTS))
    return [
        Opening(f"{CHESS960} {number}", fen_of(board), ()) for number, board in enumerate(boards)
    ]


def draft_openings() -> list[Opening]:
    """Return 960 openings for drafts: each start of Chess960 for White, with any one for Black.

    Black's are drawn independently, always the same. The players know nothing of the list.
    """
    chance = random.Random(STARTS)
    openings = []
    for white in range(STARTS):
        black = chance.randrange(STARTS)
        board = FogOfWarBoard.from_chess960_pos(white)
        theirs = chess.Board.from_chess960_pos(black).board_fen().partition("/")[0]
        ours = board.board_fen().partition("/")[2]
        board.set_board_fen(f"{theirs}/{ours}")
        board.set_castling_fen("KQkq")
        openings.append(Opening(f"{DRAFT} {white}-{black}", fen_of(board), (), hidden=True))
    return openings


def default_openings() -> list[Opening]:
    """Return the book that comes with the package."""
    book = resources.files("obscuro.matches").joinpath(_BOOK)
    return parse_openings(book.read_text(encoding="utf-8"), _BOOK)


def read_openings(path: Path) -> list[Opening]:
    """Read a file of openings. Raises OpeningsError if there is none, or one can't be played."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise OpeningsError(f"can't read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise OpeningsError(f"{path} is not a text file of openings") from None
    return parse_openings(text, str(path))


def parse_openings(text: str, source: str) -> list[Opening]:
    """Read the lines of a file. source: its name, for errors. Raises OpeningsError."""
    openings: list[Opening] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        try:
            openings.append(_opening(line))
        except ValueError as error:
            raise OpeningsError(f"{source}, line {number}: {error}") from None
    if not openings:
        raise OpeningsError(f"{source} has no openings")
    return openings


def _opening(line: str) -> Opening:
    """Read one opening. Raises ValueError."""
    if _is_position(line):
        return _position(line, None)
    name, colon, rest = line.partition(":")
    if not colon:
        name, rest = "", line
    name = name.strip()
    if _is_position(rest):
        return _position(rest.strip(), name)
    board = FogOfWarBoard()
    for word in _MOVE_NUMBER.sub(" ", rest).split():
        board.push(_move(board, word))
    _check_start(board)
    moves = tuple(move.uci() for move in board.move_stack)
    return Opening(name or " ".join(moves), board.starting_fen, moves)


def _is_position(text: str) -> bool:
    return "".join(text.split(maxsplit=1)[:1]).count("/") == 7


def _position(text: str, name: str | None) -> Opening:
    """Read a FEN or an EPD. Raises ValueError."""
    words = text.split()
    if len(words) == 6 and words[4].isdigit() and words[5].isdigit():
        board, operations = board_of(text), {}
    else:
        board = FogOfWarBoard(chess960=names_files(text))
        operations = board.set_epd(text)
    _check_start(board)
    return Opening(name or str(operations.get("id") or text), fen_of(board), ())


def _move(board: FogOfWarBoard, word: str) -> chess.Move:
    for parse in (board.parse_uci, board.parse_san):
        try:
            move = parse(word)
        except ValueError:
            continue
        if move:
            return move
    raise ValueError(f"{word!r} is not a legal move after {len(board.move_stack)} plies")


def _check_start(board: FogOfWarBoard) -> None:
    if not board.is_valid():
        raise ValueError(f"{board.fen()} is not a position of Fog of War chess")
    if board.is_game_over():
        raise ValueError("the game is over at the end of the line")
