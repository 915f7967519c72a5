"""What is noted of each move of a game on a server, for the record of the game."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from obscuro.bots.events import GameFull, GameState
from obscuro.client.move_report import Report


@dataclass(slots=True)
class PlyNotes:
    """What is noted of one move. clock: the mover's milliseconds after it; None: unknown."""

    move: str
    seconds: float = 0.0
    report: Report | None = None
    clock: int | None = None


class GameLog:
    """Notes of the moves by ply; ply 0 is White's first move, or of who moves first."""

    def __init__(self) -> None:
        self.white = "?"
        self.black = "?"
        self.time_control = "?"
        self.began = datetime.datetime.now(datetime.UTC)
        self._notes: dict[int, PlyNotes] = {}

    def begin(self, full: GameFull) -> None:
        """Take note of who plays, and with which time, if no move was made yet."""
        self.white = full.white_name or min(full.white, default="?")
        self.black = full.black_name or min(full.black, default="?")
        state = full.state
        if not state.moves and state.wtime is not None:
            self.time_control = f"{state.wtime // 1000}+{state.winc // 1000}"

    def chose(self, ply: int, move: str, seconds: float, report: Report | None) -> None:
        """Take note of what our engine said of its move."""
        self._notes[ply] = PlyNotes(move, seconds, report)

    def state(self, state: GameState, white_moved: bool) -> None:
        """Take note of the clocks. white_moved: whether White made the last move."""
        if state.moves:
            ply, move = len(state.moves) - 1, state.moves[-1]
            clock = state.wtime if white_moved else state.btime
            self.of(ply, move).clock = clock

    def of(self, ply: int, move: str) -> PlyNotes:
        """Return the notes of a move; those of a move that was taken back are dropped."""
        notes = self._notes.get(ply)
        if notes is None or notes.move != move:
            notes = self._notes[ply] = PlyNotes(move)
        return notes
