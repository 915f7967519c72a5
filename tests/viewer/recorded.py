"""A short game with all that a comment or an analysis can tell; reads games from texts."""

from __future__ import annotations

from pathlib import Path

import chess.pgn

from obscuro.viewer.document import GameDocument, ShownAdvice, ShownLoss, ShownMove
from obscuro.viewer.game_file import read_game

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


ADVICE: ShownAdvice = {
    "by": "<b>Analyst</b>",
    "uci": "g7g6",
    "san": "g6",
    "pawns": 0.4,
    "policy": [
        {"uci": "g7g6", "san": "g6", "share": 0.8},
        {"uci": "e7e6", "san": "e6", "share": 0.2},
    ],
    "belief": 321,
    "belief_exact": True,
    "coverage": {"belief": True, "infoset": True, "expanded": True, "weight": 0.02},
    "seconds": 1.0,
    "nodes": 4321,
    "depth": 5.0,
    "comparison": {
        "played": 0.07,
        "played_nodes": 0,
        "better": 0.45,
        "better_nodes": 900,
        "uci": "g7g6",
        "san": "g6",
        "because": [
            {
                "placement": "rnbqkbnr/ppppp1pp/5p2/7Q/4P3/8/PPPP1PPP/RNB1KBNR",
                "fen": "rnbqkbnr/ppppp1pp/5p2/7Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq -",
                "true": True,
                "share": 0.02,
                "played": 0.0,
                "better": 0.44,
            },
            {
                "placement": "rnbqkbnr/ppppp1pp/5p2/8/4P1Q1/8/PPPP1PPP/RNB1KBNR",
                "fen": "rnbqkbnr/ppppp1pp/5p2/8/4P1Q1/8/PPPP1PPP/RNB1KBNR b KQkq -",
                "true": False,
                "share": 0.03,
                "played": 0.3,
                "better": 0.5,
            },
        ],
    },
    "why": {
        "lost": 0.5,
        "unknowable": 0.12,
        "unthought": 0.08,
        "chosen": 0.3,
        "uci": "g7g6",
        "san": "g6",
        "held": [True, False],
        "text": ["On the board a6 lost 50 of 100 points; <i>g6</i> kept them."],
    },
}
"""What an analysis may say of the second move of Black in SHORT_GAME."""


def analysed(document: GameDocument) -> GameDocument:
    """Return the document of SHORT_GAME with an analysis that knows one move."""
    moves = document["moves"]
    loss = ShownLoss(before=0.45, after=0.07, analysed=True)
    told: ShownMove = {**moves[3], "advice": ADVICE, "loss": loss}
    return {
        **document,
        "analysis": {"by": ADVICE["by"], "limit": "1 s a move"},
        "moves": [*moves[:3], told, *moves[4:]],
    }
