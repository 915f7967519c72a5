"""What a game is made of: players, turns, and the record that remains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import chess

from obscuro.arena.move_report import Report
from obscuro.arena.time_control import UNTIMED, Allowance, TimeControl
from obscuro.fog.board import FogOfWarBoard


class Forfeit(Exception):  # noqa: N818 - it is the name of the thing
    """A player loses the game without the other's doing; the text says why: `died`, `resigned`."""


class BeliefError(AssertionError):
    """The true position is not among those that an engine holds possible: a bug, never luck."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of a player.

    uci: the move as the player said it. seconds: that it took, on the referee's clock. report: what
    an engine said about it. belief_checks: how often the true position was looked for in the
    engine's belief since its last turn, and found.
    """

    uci: str
    seconds: float = 0.0
    report: Report | None = None
    belief_checks: int = 0


class Contestant(Protocol):
    """One who plays games for a referee. All calls come from one thread at a time.

    The board is the referee's and shows everything: it must not be changed, and a player is honest
    by looking only at what its side sees.
    """

    @property
    def name(self) -> str:
        """The name for tables and PGN headers."""

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Get ready to play *color* from this position. Raises EngineError if that can't be.

        seed: of this game, for players that have no chance of their own.
        """

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Choose a move within the time allowed. Raises Forfeit where there will be none."""

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Hear that a move has been made, by either side, and that the game goes on."""

    def close(self) -> None:
        """Release everything, processes above all. May be called again."""


@dataclass(frozen=True, slots=True)
class PlayedPly:
    """One move that was made, and who made it."""

    color: chess.Color
    turn: Turn
    san: str


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game.

    winner: None for a draw. ending: how it ended, in words: `king captured`. regular: False where
    not the rules ended it but a player's failure, a resignation or the limit of moves.
    """

    white: str
    black: str
    board: FogOfWarBoard  # at the end, with all moves on its stack
    winner: chess.Color | None
    ending: str
    regular: bool = True
    plies: list[PlayedPly] = field(default_factory=list)
    control: TimeControl = UNTIMED

    @property
    def result(self) -> str:
        """The result as in PGN."""
        if self.winner is None:
            return "1/2-1/2"
        return "1-0" if self.winner == chess.WHITE else "0-1"

    def score(self, color: chess.Color) -> float:
        """The points of *color*: 1, ½ or 0."""
        return 0.5 if self.winner is None else float(self.winner == color)

    def turns(self, color: chess.Color) -> list[Turn]:
        """The turns of one side."""
        return [ply.turn for ply in self.plies if ply.color == color]
