"""Read the moves of a game as people and programs write them, into python-chess's form of a game.

Moves are SAN in its many dialects, the long form with both squares, or UCI. Signs of check and mate
mean nothing here: there is no check, and a `#` may stand at a king's capture or not. What is neither
a move nor a known mark is never passed over silently: the text after it could be another game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import chess
import chess.pgn

from obscuro.rules.board import FogOfWarBoard

RESULTS = {
    "1-0": "1-0",
    "0-1": "0-1",
    "1/2-1/2": "1/2-1/2",
    "*": "*",
    "1:0": "1-0",
    "0:1": "0-1",
    "1/2": "1/2-1/2",
    "1/2:1/2": "1/2-1/2",
    "½-½": "1/2-1/2",
    "½": "1/2-1/2",
    "0.5-0.5": "1/2-1/2",
    "1-0F": "1-0",
    "0-1F": "0-1",
}
"""What stands at the end of the moves, or in the header `Result`, and what it means."""
GIVEN_UP = frozenset({"r", "resign", "resigns", "resigned", "t", "timeout"})
"""The side to move resigned, or its time ran out."""
_ENDED = frozenset({"", "s", "stalemate", "d", "draw", "#", "+#", "mate"})
_MOST_NAG = 255
_LONGEST_WORD = 40
"""No move has more letters; a longer word is not looked at."""
_SHIFT = 3
"""How far the squares of an 8 x 8 board lie from those of a 14 x 14 one, in files and ranks."""

_TOKEN = re.compile(r"\{([^}]*)\}?|;([^\n]*)|([()])|\$(\d*)|([^\s{}();$]+)")
_PROMOTION_IN_BRACKETS = re.compile(r"([a-h][18])\(([QRBN])\)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.…]+|(?=$|[^\d:/½F-]))")
_GLYPHS = re.compile(r"[!?]+$")
_NAGS = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6}
_SIGNS = re.compile(r"(?:e\.?p\.?|mate|dbl?\.?ch\.?|dis\.?ch\.?|ch\.?|[+#†‡=]+)$", re.IGNORECASE)
_SYMBOLS = re.compile(r"[^\w#*]+")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_LETTERS = str.maketrans(
    {
        **dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP", strict=True)),
        **dict.fromkeys("×:", "x"),
        **dict.fromkeys(map(chr, _DASHES), "-"),
        "/": "=",
    }
)
_CASTLING = re.compile(r"([O0o])-?\1(-?\1)?")
_SHORT = re.compile(r"([KQRBNPkqrnp])?([a-h])?([1-8])?[-x]?([a-h][1-8])(?:=?([QRBNKqrbnk]))?")
_LONG = re.compile(
    r"([KQRBNPkqrnp])?([a-n])(1[0-4]|[1-9])[-x]?[KQRBNP]?([a-n])(1[0-4]|[1-9])"
    r"(?:=?([QRBNKqrbnk]))?"
)
_NULL = frozenset({"--", "Z0", "0000", "@@@@", "null", "pass"})


class MoveTextError(ValueError):
    """A text of moves can't be read. ply: where, from 1."""

    def __init__(self, ply: int, why: str) -> None:
        super().__init__(why)
        self.ply = ply


class _Word(NamedTuple):
    """A word among the moves, and the signs after it."""

    text: str
    nag: int | None


def read_moves(
    game: chess.pgn.Game,
    text: str,
    board: FogOfWarBoard,
    visit: Callable[[], object] = lambda: None,
) -> None:
    """Add the moves, comments and signs of a text to a game, and its result if it has none.

    Side lines are passed over. board: the position that the game begins with; it is changed. visit:
    called for each move and each comment; what it raises goes to the caller. Raises MoveTextError at
    what is no move, or no legal one; the game then has the moves before it.
    """
    node: chess.pgn.GameNode = game
    reader = _MoveReader(board)
    depth, result = 0, "*"
    doubt: MoveTextError | None = None
    for comment, bracket, nag, word in _tokens(text):
        if bracket:
            depth = max(0, depth + (1 if bracket == "(" else -1))
        elif depth:
            continue
        elif comment is not None:
            visit()
            node.comment = f"{node.comment} {comment}".strip()
        elif nag is not None:
            if 0 < nag <= _MOST_NAG:
                node.nags.add(nag)
        elif word is not None:
            if word.text in RESULTS:
                result = RESULTS[word.text]
            elif word.text.lower() in GIVEN_UP:
                result = "0-1" if board.turn == chess.WHITE else "1-0"
            elif word.text.lower() not in _ENDED:
                try:
                    move = reader.read(word.text)
                except MoveTextError as error:
                    # A remark behind the last move is harmless; before a move it is a doubt.
                    if names_a_square(word.text):
                        raise doubt or error from None
                    doubt = doubt or error
                    continue
                if doubt is not None:
                    raise doubt
                visit()
                node = node.add_variation(move)
                board.push(move)
            if word.nag is not None:
                node.nags.add(word.nag)
    if depth:
        raise MoveTextError(reader.ply, "a side line is not closed")
    if doubt is not None and node is game:
        raise doubt
    if game.headers["Result"] == "*":
        game.headers["Result"] = result if result != "*" else _result_by_rule(board)


def _result_by_rule(board: FogOfWarBoard) -> str:
    """Return the result of a captured king; `*` if both stand."""
    if not board.is_variant_end():
        return "*"
    return "1-0" if board.kings & board.occupied_co[chess.WHITE] else "0-1"


def _tokens(text: str) -> Iterator[tuple[str | None, str | None, int | None, _Word | None]]:
    """Yield comments, brackets, numbers of signs, and words; one of the four each time."""
    text = _PROMOTION_IN_BRACKETS.sub(r"\1=\2", text)
    for brace, line, bracket, nag, word in _TOKEN.findall(text):
        if word:
            found = _word(word)
            if found is not None:
                yield None, None, None, found
        elif bracket:
            yield None, bracket, None, None
        elif nag:
            yield None, None, int(nag) if len(nag) <= 3 else 0, None
        else:
            comment = " ".join((brace or line).split())
            yield comment, None, None, None


def _word(word: str) -> _Word | None:
    """Take number and signs off a word; None if nothing is left."""
    if len(word) > _LONGEST_WORD:
        return _Word(word, None)
    if (plain := word.translate(_DASHES)) in RESULTS:
        return _Word(plain, None)
    if word[0].isdigit() and not _CASTLING.match(word):
        number = _NUMBER.match(word)
        word = word if number is None else word[number.end() :]
    word = word.lstrip(".…")
    if not word:
        return None
    glyphs = _GLYPHS.search(word)
    if glyphs is not None:
        return _Word(word[: glyphs.start()], _NAGS.get(glyphs[0]))
    if _SYMBOLS.fullmatch(word) and word not in _NULL:
        return None  # `+-`, `=` and other signs of who is better
    return _Word(word, None)


def names_a_square(word: str) -> bool:
    """Tell whether a word names a square or castles, so that it can be no remark."""
    return bool(re.search(r"[a-n]\d", word) or _CASTLING.match(word)) or word in _NULL


class _MoveReader:
    """Finds the moves that words stand for on a board, which the caller pushes them on."""

    def __init__(self, board: FogOfWarBoard) -> None:
        self._board = board
        self._start = len(board.move_stack)
        self._shift: int | None = None  # until the first move with both squares tells it

    @property
    def ply(self) -> int:
        """The number of the next ply, from 1."""
        return len(self._board.move_stack) - self._start + 1

    def read(self, word: str) -> chess.Move:
        """Return the legal move of a word. Raises MoveTextError."""
        if len(word) > _LONGEST_WORD:
            raise self._error(f"{_shown(word)} is no move")
        if word in _NULL:
            raise self._error(f"{word!r} is a null move, which the rules do not know")
        if self._board.is_variant_end():
            raise self._error(f"{_shown(word)} comes after the capture of a king")
        text = word.translate(_LETTERS)
        while signs := _SIGNS.search(text):
            text = text[: signs.start()]
        found: list[chess.Move] | None
        if castling := _CASTLING.fullmatch(text):
            found = self._castling(long=castling[2] is not None)
        else:
            found = self._long(text) if len(text) > 3 else None
            if found is None and (short := _SHORT.fullmatch(text)):
                found = self._short(*short.groups())
        if found is None:
            raise self._error(f"{_shown(word)} is no move")
        if len(found) > 1:
            found = self._orthodox(found)
        if len(found) == 1:
            return found[0]
        if found:
            names = " or ".join(move.uci() for move in found)
            raise self._error(f"{_shown(word)} may be {names}")
        raise self._error(f"{_shown(word)} can't be played here")

    def _error(self, why: str) -> MoveTextError:
        return MoveTextError(self.ply, why)

    def _castling(self, *, long: bool) -> list[chess.Move]:
        board = self._board
        king = board.king(board.turn)
        if king is None:
            return []
        return [
            move
            for move in board.generate_castling_moves(chess.BB_SQUARES[king])
            if (move.to_square < move.from_square) == long
        ]

    def _long(self, text: str) -> list[chess.Move] | None:
        """Return the moves of a word with both squares; None if it is no such word."""
        match = _LONG.fullmatch(text)
        if match is None:
            return None
        piece, *names, promotion = match.groups()
        files, ranks = names[::2], [int(rank) for rank in names[1::2]]
        numbers = ["abcdefghijklmn".index(file) for file in files] + [rank - 1 for rank in ranks]
        if self._shift is None:
            self._shift = self._found_shift(numbers)
        numbers = [number - self._shift for number in numbers]
        if not all(0 <= number < 8 for number in numbers):
            return []
        start, end = chess.square(numbers[0], numbers[2]), chess.square(numbers[1], numbers[3])
        kind = self._board.piece_type_at(start)
        named = None if piece is None else chess.PIECE_SYMBOLS.index(piece.lower())
        if named is not None and named != kind:
            return []
        if kind == chess.KING and self._board.color_at(end) == self._board.turn:
            return self._castling(long=end < start)  # the king takes its rook
        return self._moves(chess.BB_SQUARES[start], end, promotion)

    def _found_shift(self, numbers: list[int]) -> int:
        """Return how far a writer's squares lie from ours. A board in a larger one tells it soon:
        no side has a piece where its first move would begin on ours."""
        if any(number >= 8 for number in numbers):
            return _SHIFT
        start = chess.square(numbers[0], numbers[2])
        own = self._board.occupied_co[self._board.turn]
        shifted = [number - _SHIFT for number in (numbers[0], numbers[2])]
        if own & chess.BB_SQUARES[start] or min(shifted) < 0:
            return 0
        return _SHIFT if own & chess.BB_SQUARES[chess.square(*shifted)] else 0

    def _short(
        self, piece: str | None, file: str | None, rank: str | None, to: str, promotion: str | None
    ) -> list[chess.Move]:
        board, end = self._board, chess.parse_square(to)
        kind = chess.PAWN if piece is None else chess.PIECE_SYMBOLS.index(piece.lower())
        mask = board.pieces_mask(kind, board.turn)
        if file is not None:
            mask &= chess.BB_FILES[chess.FILE_NAMES.index(file)]
        elif kind == chess.PAWN:
            mask &= chess.BB_FILES[chess.square_file(end)]
        if rank is not None:
            mask &= chess.BB_RANKS[int(rank) - 1]
        return self._moves(mask, end, promotion)

    def _moves(
        self, mask: chess.Bitboard, end: chess.Square, promotion: str | None
    ) -> list[chess.Move]:
        """Return the legal moves from a mask to a square. A pawn that names no piece gets a queen."""
        found = list(self._board.generate_legal_moves(mask, chess.BB_SQUARES[end]))
        if not found and mask & self._board.kings:  # castling goes to the rook in python-chess
            castling = self._board.generate_castling_moves(mask)
            found = [move for move in castling if move.to_square == end]
        if promotion is None and not any(move.promotion for move in found):
            return found
        wanted = chess.QUEEN if promotion is None else "pnbrqk".index(promotion.lower()) + 1
        return [move for move in found if move.promotion == wanted]

    def _orthodox(self, moves: list[chess.Move]) -> list[chess.Move]:
        """Return those of several moves that are legal in chess; all if none is.

        Writers that know the rules of chess alone do not name a square where other pieces are pinned.
        """
        board = chess.Board(self._board.fen())
        return [move for move in moves if board.is_legal(move)] or moves


def _shown(word: str) -> str:
    """Return a word of a stranger's file for a message."""
    return repr(word[:20] + "…" if len(word) > 20 else word)
