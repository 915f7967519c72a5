"""Whether our side takes a draw or resigns, by the engine's scores."""

from __future__ import annotations

from obscuro.bots.game_settings import GameSettings


class Temper:
    """The scores of a game, and what follows from them."""

    def __init__(self, settings: GameSettings) -> None:
        self._settings = settings
        self._scores: list[int] = []

    def saw(self, score: int | None) -> None:
        """Take note of the engine's score, in centipawns for our side; None: it said none."""
        if score is not None:
            self._scores.append(score)

    def forget(self) -> None:
        """Forget the scores, since moves were taken back."""
        self._scores.clear()

    def takes_draw(self, plies: int) -> bool:
        """Return whether to accept a draw after so many plies."""
        limit = self._settings.draw_score
        enough = plies >= self._settings.draw_plies
        return limit is not None and enough and bool(self._scores) and self._scores[-1] <= limit

    def resigns(self) -> bool:
        """Return whether to resign."""
        limit, most = self._settings.resign_score, self._settings.resign_moves
        last = self._scores[-most:]
        return limit is not None and len(last) == most and max(last) <= limit
