"""Draws boards as text for terminals. A drawing can also be read without its colours."""

from __future__ import annotations

import chess
from rich.console import Console
from rich.style import Style
from rich.text import Text

from obscuro.rules.board import FogOfWarBoard

EVERYTHING = chess.BB_ALL

_LIGHT = Style(color="black", bgcolor="#d7d7af")
_DARK = Style(color="black", bgcolor="#afaf87")
_MOVED = Style(color="black", bgcolor="#d7af5f", bold=True)
_FOG = Style(color="#585858", bgcolor="#303030")
_BORDER = Style(dim=True)


class Symbols:
    """The characters of a drawing: chess symbols, or letters if the output has no Unicode."""

    def __init__(self, unicode: bool) -> None:
        self.unicode = unicode
        self.empty = "·" if unicode else "."
        self.fog = "░" if unicode else "?"
        self.bar = "█" if unicode else "#"

    @classmethod
    def of(cls, console: Console) -> Symbols:
        """Choose what this console can show."""
        try:
            "░·█♚".encode(console.encoding)
        except (UnicodeEncodeError, LookupError):
            return cls(unicode=False)
        return cls(unicode=True)

    def piece(self, piece: chess.Piece) -> str:
        """Return one character for a piece. White's are outlined, or capitals."""
        return piece.unicode_symbol() if self.unicode else piece.symbol()


def draw_board(
    board: chess.BaseBoard,
    symbols: Symbols,
    *,
    seen: chess.Bitboard = EVERYTHING,
    perspective: chess.Color = chess.WHITE,
    highlight: chess.Bitboard = 0,
    width: int = 2,
) -> Text:
    """Draw a board: eight ranks, and a last line with the files' letters and no line break.

    seen: the squares without fog. perspective: the side at the bottom. highlight: the squares to
    mark, such as those of the last move. width: characters of a square, 2 or 3.
    """
    ranks = range(7, -1, -1) if perspective == chess.WHITE else range(8)
    files = range(8) if perspective == chess.WHITE else range(7, -1, -1)
    text = Text(no_wrap=True)
    for rank in ranks:
        text.append(f"{rank + 1} ", _BORDER)
        for file in files:
            square = chess.square(file, rank)
            mask = chess.BB_SQUARES[square]
            light = bool(chess.BB_LIGHT_SQUARES & mask)
            if not seen & mask:
                text.append(symbols.fog * width, _FOG)
                continue
            piece = board.piece_at(square)
            content = symbols.piece(piece) if piece is not None else symbols.empty
            style = _MOVED if highlight & mask else _LIGHT if light else _DARK
            text.append(content.center(width) if width > 2 else content.ljust(width), style)
        text.append("\n")
    names = (chess.FILE_NAMES[file] for file in files)
    letters = "".join(name.center(width) if width > 2 else name.ljust(width) for name in names)
    text.append("  " + letters, _BORDER)
    return text


def draw_fogged(
    board: FogOfWarBoard,
    color: chess.Color,
    symbols: Symbols,
    *,
    highlight: chess.Bitboard = 0,
    width: int = 2,
) -> Text:
    """Draw what one side sees, with that side at the bottom."""
    seen = board.vision_mask(color)
    return draw_board(
        board.fogged(color),
        symbols,
        seen=seen,
        perspective=color,
        highlight=highlight & seen,
        width=width,
    )


def move_mask(move: chess.Move) -> chess.Bitboard:
    """Return the two squares of a move."""
    return chess.BB_SQUARES[move.from_square] | chess.BB_SQUARES[move.to_square]
