"""Which moves lost most.

An analysis tells it: a search values the move beside a better one. Without one it is the mover's
own expectation before the move, beside that at its next turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import chess

from obscuro.evaluation.scale import TAU
from obscuro.viewer.document import ShownAdvice

LEAST_LOSS = 0.1
"""A move that loses less of a game's point is not marked."""

MOST_MARKS = 5
"""So many moves of each side are marked at most."""


class Loss(NamedTuple):
    """What a move lost, in points of the game: a win is 1, a draw ½."""

    move: int  # index in the game, from 0
    before: float  # the score that the mover expected when it chose the move
    after: float  # the score that it expected when it was to move again, or the game's result
    analysed: bool = False  # both are an analysis's: with a better move, and with this one

    @property
    def size(self) -> float:
        """Return how much the move lost; below 0 if things went better than expected."""
        return self.before - self.after


def expected_score(pawns: float) -> float:
    """Return the score, in [0, 1], that a side expects with an evaluation in pawns in its view.

    The engine's value tanh(pawns / τ) is the mean result in [-1, 1]; this is the same in points.
    """
    return (1.0 + math.tanh(pawns / TAU)) / 2.0


def losses(
    pawns: Sequence[float | None], movers: Sequence[chess.Color], result: float | None
) -> list[Loss]:
    """Return what each move lost, where both evaluations are known.

    pawns: each move's evaluation by its mover, in White's view. movers: who made each move. result:
    White's points if the rules ended the game; None if they did not, and then a side's last move is
    not judged.

    A loss is not all the move's own: the answer to it and what the mover then saw are in it too.
    """
    found = []
    for move, (value, mover) in enumerate(zip(pawns, movers, strict=True)):
        if value is None:
            continue
        before = _for(mover, expected_score(value))
        following = pawns[move + 2] if move + 2 < len(pawns) else None
        if following is not None:
            found.append(Loss(move, before, _for(mover, expected_score(following))))
        elif move + 2 >= len(pawns) and result is not None:
            found.append(Loss(move, before, _for(mover, result)))
    return found


def analysed_losses(found: Sequence[Loss], advice: Mapping[int, ShownAdvice | None]) -> list[Loss]:
    """Replace losses by those that an analysis tells, where it has looked at the move.

    found: what the players' own evaluations tell. advice: by move. A move that its mover had to
    make, or that the engine prefers to all others, lost nothing.
    """
    judged = {move: each for move, each in advice.items() if each is not None}
    losses = [loss for loss in found if loss.move not in judged]
    for move, each in judged.items():
        compared = each["comparison"]
        if compared is not None and compared["better"] > compared["played"]:
            losses.append(Loss(move, compared["better"], compared["played"], analysed=True))
    return losses


def _for(mover: chess.Color, score: float) -> float:
    """Turn White's score into the mover's."""
    return score if mover == chess.WHITE else 1.0 - score


def worst(found: Sequence[Loss], movers: Sequence[chess.Color]) -> list[Loss]:
    """Return the losses to mark: the largest of each side, in the order of play."""
    marked: list[Loss] = []
    for color in chess.COLORS:
        own = [loss for loss in found if movers[loss.move] == color and loss.size >= LEAST_LOSS]
        marked += sorted(own, key=lambda loss: -loss.size)[:MOST_MARKS]
    return sorted(marked, key=lambda loss: loss.move)
