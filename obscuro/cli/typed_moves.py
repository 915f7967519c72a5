"""Reads moves as people type them. No error message reveals anything that the fog hides."""

from __future__ import annotations

import re
from collections.abc import Iterator

import chess

from obscuro.rules.board import FogOfWarBoard

_UCI = re.compile(r"([a-h][1-8])-?([a-h][1-8])=?([nbrq]?)", re.IGNORECASE)
_CASTLING = re.compile(r"[0o]-?[0o](-?[0o])?", re.IGNORECASE)
_SAN = re.compile(r"[nbrqk]?[a-h]?[1-8]?x?[a-h][1-8](=?[nbrq])?", re.IGNORECASE)


def read_move(board: FogOfWarBoard, text: str) -> chess.Move:
    """Read a move of the side to move: `e2e4`, `e4`, `Nf3`, `nf3`, `exd5`, `e8=Q`, `O-O`.

    Raises ValueError with one line for the user if the text is not a possible move.
    """
    text = text.strip().rstrip("+#!?")
    ambiguous = False
    for reading in _readings(text):
        try:
            if _UCI.fullmatch(reading):
                return board.parse_uci(reading)
            return board.parse_san(reading)
        except chess.AmbiguousMoveError:
            ambiguous = True
        except ValueError:
            continue
    if ambiguous:
        raise ValueError(f"{text} is ambiguous: more than one of your pieces can go there")
    if any(_is_promotion(board, text + piece) for piece in ("q", "=Q")):
        raise ValueError(f"say what the pawn becomes: {text}q or {text}n, for example")
    if next(_readings(text), None) is None:
        raise ValueError(f"{text[:20]!r} is not a move; try e2e4 or Nf3, or help")
    raise ValueError(f"{text} is not possible")


def _readings(text: str) -> Iterator[str]:
    """Yield the moves that the text may mean, as UCI or SAN, the likeliest first."""
    if match := _UCI.fullmatch(text):
        yield "".join(match.groups()).lower()
    elif match := _CASTLING.fullmatch(text):
        yield "O-O-O" if match[1] else "O-O"
    elif _SAN.fullmatch(text):
        yield text
        # `b` is a pawn's file and `B` is a bishop, so this letter keeps its case.
        first, rest = text[0], text[1:].lower()
        yield (first.upper() if first in "nrqkNBRQK" else first.lower()) + rest


def _is_promotion(board: FogOfWarBoard, text: str) -> bool:
    for reading in _readings(text):
        try:
            move = board.parse_uci(reading) if _UCI.fullmatch(reading) else board.parse_san(reading)
        except ValueError:
            continue
        if move.promotion:
            return True
    return False
