"""Boards as text."""

import io

import chess
from rich.console import Console

from obscuro.cli.drawing import Symbols, draw_board, draw_fogged, move_mask
from obscuro.rules.board import FogOfWarBoard

UNICODE = Symbols(unicode=True)
LETTERS = Symbols(unicode=False)


def test_the_fog_hides_what_is_not_seen() -> None:
    lines = draw_fogged(FogOfWarBoard(), chess.WHITE, UNICODE).plain.splitlines()
    assert lines == [
        "8 ░░░░░░░░░░░░░░░░",
        "7 ░░░░░░░░░░░░░░░░",
        "6 ░░░░░░░░░░░░░░░░",
        "5 ░░░░░░░░░░░░░░░░",
        "4 · · · · · · · · ",
        "3 · · · · · · · · ",
        "2 ♙ ♙ ♙ ♙ ♙ ♙ ♙ ♙ ",
        "1 ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖ ",
        "  a b c d e f g h ",
    ]


def test_black_sits_below_its_own_board() -> None:
    lines = draw_fogged(FogOfWarBoard(), chess.BLACK, LETTERS, width=3).plain.splitlines()
    assert lines[0] == "1 " + "?" * 24
    assert lines[7] == "8  r  n  b  k  q  b  n  r "
    assert lines[8] == "   h  g  f  e  d  c  b  a "


def test_without_fog_all_is_shown() -> None:
    lines = draw_board(FogOfWarBoard(), LETTERS).plain.splitlines()
    assert lines[0] == "8 r n b q k b n r "
    assert lines[4] == "4 . . . . . . . . "


def test_nothing_is_marked_in_the_fog() -> None:
    board = FogOfWarBoard()
    board.push_san("e4")
    board.push_san("e5")
    board.push_san("a4")
    board.push_san("d5")
    plain = draw_fogged(board, chess.WHITE, UNICODE)
    # The pawn has gone from d7, unseen, to d5, seen.
    marked = draw_fogged(board, chess.WHITE, UNICODE, highlight=move_mask(board.peek()))
    assert plain.plain == marked.plain
    assert len({str(span.style) for span in marked.spans}) > len(
        {str(span.style) for span in plain.spans}
    )
    changed = [
        (a.start, str(b.style))
        for a, b in zip(plain.spans, marked.spans, strict=True)
        if a.style != b.style
    ]
    assert len(changed) == 1


def test_letters_where_the_output_has_no_unicode() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert not Symbols.of(Console(file=ascii_only)).unicode
    utf8 = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert Symbols.of(Console(file=utf8)).unicode
