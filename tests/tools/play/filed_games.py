"""Games as a file holds them, without a file."""

from __future__ import annotations

import chess

from obscuro.client.move_report import Report
from obscuro.rules.board import FogOfWarBoard
from tools.play.recorded_games import FiledGame


def filed(
    moves: tuple[str, ...],
    winner: chess.Color | None,
    beliefs: tuple[int | None, ...] = (),
    time: str = "",
) -> FiledGame:
    """A game from the start that the rules ended, whatever its moves are; beliefs: of all plies."""
    return FiledGame(
        1,
        {chess.WHITE: "obscuro A", chess.BLACK: "obscuro B"},
        FogOfWarBoard(),
        tuple(map(chess.Move.from_uci, moves)),
        winner,
        True,
        (None,) * len(moves),
        tuple(Report(belief=size) for size in beliefs) or (None,) * len(moves),
        time,
    )
