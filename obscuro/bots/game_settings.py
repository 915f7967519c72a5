"""How the bridge behaves in a game."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GameSettings:
    """How to behave in a game. Scores are the engine's, in centipawns for our side.

    draw_score: accept a draw if the last score is at most this and draw_plies have been made; None:
    never. resign_score: resign after resign_moves scores of at most this; None: never. movetime:
    milliseconds for each move if no clock runs. abort_seconds: how long to wait for the other
    side's first move. greeting, farewell: said to people in the chat; "": nothing is said.
    """

    draw_score: int | None = -100
    draw_plies: int = 40
    resign_score: int | None = None
    resign_moves: int = 3
    movetime: int = 10_000
    abort_seconds: float = 120.0
    greeting: str = ""
    farewell: str = ""
