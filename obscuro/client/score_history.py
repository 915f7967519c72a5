"""Whether a side accepts a draw or resigns, by its engine's scores."""

from __future__ import annotations


class ScoreHistory:
    """The engine's scores in one game, in centipawns for its side, and what follows from them.

    draw_score: accept a draw if the last score is at most this and draw_plies have been made; None:
    never. resign_score: resign after resign_moves scores of at most this; None: never.
    """

    def __init__(
        self,
        draw_score: int | None = -100,
        draw_plies: int = 40,
        resign_score: int | None = None,
        resign_moves: int = 3,
    ) -> None:
        self._draw_score = draw_score
        self._draw_plies = draw_plies
        self._resign_score = resign_score
        self._resign_moves = resign_moves
        self._scores: list[int] = []

    def add(self, score: int | None) -> None:
        """Take the engine's next score; None: it gave none."""
        if score is not None:
            self._scores.append(score)

    def clear(self) -> None:
        """Forget the scores, since moves were taken back."""
        self._scores.clear()

    def accepts_draw(self, plies: int) -> bool:
        """Return whether to accept a draw when *plies* have been made."""
        limit = self._draw_score
        return (
            limit is not None
            and plies >= self._draw_plies
            and bool(self._scores)
            and self._scores[-1] <= limit
        )

    def resigns(self) -> bool:
        """Return whether to resign."""
        last = self._scores[-self._resign_moves :]
        limit = self._resign_score
        return limit is not None and len(last) == self._resign_moves and max(last) <= limit
