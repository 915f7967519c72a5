"""The worst moments of small games."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.viewer.make_document import make_document
from obscuro.viewer.worst_moments import Moment, men_lost, worst_move
from tests.viewer.recorded import SHORT_GAME, game_of


@pytest.mark.parametrize(
    ("moves", "found"),
    [
        ("1. e4 f6 2. Qh5 a6 3. Qxe8 1-0", [Moment(4, "3. Qxe8# captured Black's king, unseen")]),
        # White's pawn on d5 does not see the queen, but a pawn is too little.
        ("1. e4 d5 2. exd5 Qxd5 *", []),
        # The rook is worth more than the knight that fell first.
        (
            "1. b3 Nc6 2. Bb2 Nd4 3. Bxd4 g6 4. Bxh8 *",
            [Moment(6, "4. Bxh8 captured Black's rook, unseen")],
        ),
        # The rook sees the bishop that takes it.
        (
            "1. b3 Nc6 2. Bb2 Nd4 3. Bxd4 a6 4. Bxg7 a5 5. Bxh8 *",
            [Moment(4, "3. Bxd4 captured Black's knight, unseen")],
        ),
        ("1. e4 *", []),
    ],
)
def test_men_lost(moves: str, found: list[Moment], tmp_path: Path) -> None:
    assert men_lost(game_of(moves, tmp_path)) == found


def test_the_move_that_lost_most(tmp_path: Path) -> None:
    document = make_document(game_of(SHORT_GAME, tmp_path), 100)
    losses = [
        (round(100 * (move["loss"]["before"] - move["loss"]["after"])), ply)
        for ply, move in enumerate(document["moves"])
        if move["loss"] is not None
    ]
    points, ply = max(losses)
    worst = worst_move(document)
    assert worst is not None and worst.ply == ply
    assert worst.text.endswith(f"{document['moves'][ply]['san']} lost {points} points of 100")
    for move in document["moves"]:
        move["loss"] = None
    assert worst_move(document) is None
