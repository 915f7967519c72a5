"""An analyst for tests: quick, and in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable

import chess.pgn

from obscuro.viewer.analysis import AnalysisError
from obscuro.viewer.document import ShownAdvice, ShownAnalysis
from tests.hanging import HANG_SECONDS
from tests.viewer.recorded import ADVICE


class QuickAnalyst:
    """Gives the same advice everywhere. hold: it waits with each answer until `go_on` is set."""

    def __init__(self, hold: bool = False, fails: bool = False) -> None:
        self.asked: list[int] = []
        self.closed = 0
        self.go_on = threading.Event()
        self._fails = fails
        if not hold:
            self.go_on.set()

    @property
    def description(self) -> ShownAnalysis:
        return ShownAnalysis(by="Quick", limit="1 s a move")

    def advise(self, game: chess.pgn.Game, ply: int) -> ShownAdvice:
        self._think()
        plies = sum(1 for _ in game.mainline())
        if ply > plies:
            raise AnalysisError(f"the game has {plies} plies, and no ply {ply}")
        self.asked.append(ply)
        return ADVICE

    def analyse(
        self,
        game: chess.pgn.Game,
        on_ply: Callable[[int, ShownAdvice | None], None],
        cancel: threading.Event,
    ) -> list[ShownAdvice | None]:
        self._think()
        plies = sum(1 for _ in game.mainline())
        for ply in range(plies):
            on_ply(ply, ADVICE)
        return [ADVICE] * plies

    def close(self) -> None:
        self.closed += 1
        self.go_on.set()

    def _think(self) -> None:
        assert self.go_on.wait(HANG_SECONDS)
        if self._fails:
            raise AnalysisError("can't start the engine")
