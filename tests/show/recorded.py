"""A short game with all that a comment can tell, and how to read games from texts."""

from __future__ import annotations

from pathlib import Path

import chess.pgn

from obscuro.show.game_file import read_game

# Black's second move overlooks the queen: it expected 0.50 and lost the game.
SHORT_GAME = """\
[Event "A test"]
[Date "2026.11.22"]
[White "A & <b>B</b>"]
[Black "C \\" D"]
[Result "1-0"]
[Variant "Fog of War"]
[Termination "king captured"]

1. e4 { [%eval 0.30] [%clk 0:00:59.5] [%emt 0:00:00.5] [%belief 1 exact]
[%coverage belief=1 infoset=1 expanded=1 weight=1] [%nodes 100] [%depth 4]
[%policy e2e4:0.75 d2d4:0.2 g1f3:0.05] }
1... f6 { [%eval 0.10] [%emt 0:00:00.25] [%belief 20 exact]
[%coverage belief=1 infoset=1 expanded=0 weight=0.01] [%policy f7f6:0.6 e7e5:0.4] }
2. Qh5 { [%eval 1.5] [%emt 0:00:00.5] [%policy d1h5:1] Into the fog }
2... a6 { [%eval 0.00] [%emt 0:00:00.125] [%coverage belief=1 infoset=0]
[%policy a7a6:0.5 g7g6:0.5] }
3. Qxe8 { [%eval 29.71] [%emt 0:00:00] } 1-0
"""


def game_of(text: str, folder: Path, number: int = 1) -> chess.pgn.Game:
    """Read a game from a text by way of a file."""
    path = folder / "games.pgn"
    path.write_text(text, encoding="utf-8")
    return read_game(path, number)
